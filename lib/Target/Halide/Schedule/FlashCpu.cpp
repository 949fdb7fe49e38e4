//===- FlashCpu.cpp - schedule of tiled attention for CPUs ----------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Queries lie in vector lanes. A query tile (one parallel task) keeps its
// scaled and transposed queries and X on the stack, walks over the key tiles,
// and for each builds the tile's scores, weights and products:
//
//   scores   register tile of rows x key_unroll, over d; K is read as scalars
//   that
//            are broadcast, each element once a query tile
//   weights  4 keys of one vector at a time, all steps of the exponential in
//            registers: 4 independent chains hide the latency of an FMA
//   mix      register tile of rows x value_unroll, over the tile's keys,
//   finished
//            inside the update of X without a trip through memory
//
// Where the factors come from: tile sizes are the !attn.tile types, the rest is
// #attn.flash_schedule. A register tile wants rows / vector * unroll
// accumulators, at least FMA ports x latency, and rows / vector + 1 more
// registers for operands.
//
// Loops are told not to be partitioned (Partition::Never) where the body is
// long: Halide would otherwise emit the whole key loop two or three times for
// each `likely` inside, which costs seconds of compile time and gains nothing.
//
//===----------------------------------------------------------------------===//
#include "FlashParts.h"

#include "attn/Analysis/TargetInfo.h"

using namespace mlir;
using namespace attn;
using Halide::Func;
using Halide::MemoryType;
using Halide::Partition;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;

/// Multiply-adds in the body of a reduction over d or over keys: enough to
/// amortise the loop counter. More measured nothing and costs compile time.
static constexpr int reductionBody = 48;

namespace {
struct FlashCpuSchedule : QueryLaneParts {
  using QueryLaneParts::QueryLaneParts;

  LogicalResult check();
  void scheduleQuery();
  void scheduleScores(FlashStage &stage);
  void scheduleWeights(FlashStage &stage);
  void scheduleMix(FlashStage &stage);

private:
  /// Steps of a reduction that are unrolled: a divisor of 4.
  int reductionUnroll(int scalars) const {
    int steps = reductionBody / (rows / lanes * scalars);
    return std::clamp<int>(llvm::bit_floor<uint64_t>(steps), 1, 4);
  }
};
} // namespace

LogicalResult FlashCpuSchedule::check() {
  bool ok = succeeded(checkFactors());
  ok &= succeeded(
      checkMultiple(rows, lanes, "the rows of the query tile", "vector ="));
  if (!ok)
    return failure();
  return checkScratch();
}

void FlashCpuSchedule::scheduleQuery() {
  // Vectors along d are loaded from the tensor's rows and stored a column each:
  // a transposition in registers.
  int width = lanesOf(a.headSize);
  a.query.compute_at(a.result, tileLoop)
      .store_in(MemoryType::Stack)
      .bound(a.qg, 0, rows / lanes)
      .bound(a.qv, 0, lanes)
      .bound(a.d, 0, static_cast<int>(a.headSize))
      .reorder(a.qv, a.d, a.qg)
      .unroll(a.qv)
      .vectorize(a.d, width, TailStrategy::ShiftInwards);
}

void FlashCpuSchedule::scheduleScores(FlashStage &stage) {
  Var outer("ko"), inner("ki");
  Halide::LoopLevel tile(a.state, stage.tile);
  stage.visible.compute_at(tile)
      .store_in(MemoryType::Stack)
      .bound_storage(a.kk, static_cast<int>(stage.keys))
      .split(a.kk, outer, inner, keyUnroll, TailStrategy::RoundUp)
      .reorder(a.q, inner, outer)
      .unroll(inner);
  vectorizeRows(stage.visible);
  stage.scores.compute_at(stage.visible, outer)
      .store_in(MemoryType::Register)
      .bound_extent(a.kk, keyUnroll)
      .unroll(a.kk);
  vectorizeRows(stage.scores);
  Halide::Stage update = stage.scores.update();
  update.reorder(a.q, a.kk, stage.depth).unroll(a.kk);
  vectorizeRowsOf(update);
  if (int steps = reductionUnroll(keyUnroll); a.headSize % steps == 0)
    update.unroll(stage.depth, steps);
  a.shortTiles.addTile(stage.scores, lanes, rows / lanes);
  if (!stage.wideKeys.defined())
    return;
  // The keys of one register tile: they stay in L1 while it is computed.
  stage.wideKeys.compute_at(stage.visible, outer)
      .store_in(MemoryType::Stack)
      .bound(a.d, 0, static_cast<int>(a.headSize))
      .bound_extent(a.kk, keyUnroll)
      .vectorize(a.d, lanesOf(a.headSize), TailStrategy::ShiftInwards);
}

void FlashCpuSchedule::scheduleWeights(FlashStage &stage) {
  Halide::LoopLevel tile(a.state, stage.tile);
  Var outer("ko"), inner("ki"), group("qo"), lane("qi");
  stage.tileMax.compute_at(tile).store_in(MemoryType::Register);
  vectorizeRows(stage.tileMax);
  stage.tileMax.update().reorder(a.q, stage.maxGroup);
  vectorizeRowsOf(stage.tileMax.update());
  stage.offset.compute_at(tile).store_in(MemoryType::Register);
  vectorizeRows(stage.offset);

  stage.weights.compute_at(tile)
      .store_in(MemoryType::Stack)
      .bound_storage(a.kk, static_cast<int>(stage.keys))
      .bound(a.q, 0, rows)
      .split(a.kk, outer, inner, a.keyGroup, TailStrategy::RoundUp)
      .split(a.q, group, lane, lanes)
      .reorder(lane, inner, outer, group)
      .vectorize(lane)
      .unroll(inner);
  a.shortTiles.addLoop(stage.weights, group);
  for (Func step : stage.expSteps)
    step.compute_at(stage.weights, outer)
        .store_in(MemoryType::Register)
        .vectorize(a.q)
        .unroll(a.kk);

  stage.tileSum.compute_at(tile).store_in(MemoryType::Register);
  vectorizeRows(stage.tileSum);
  stage.tileSum.update().reorder(a.q, stage.sumGroup);
  vectorizeRowsOf(stage.tileSum.update());
}

void FlashCpuSchedule::scheduleMix(FlashStage &stage) {
  Halide::LoopLevel block(a.state, stage.block);
  if (stage.wideValues.defined()) {
    stage.wideValues.compute_at(block)
        .store_in(MemoryType::Stack)
        .bound(a.di, 0, columns)
        .bound_storage(a.kk, static_cast<int>(stage.keys))
        .bound_storage(a.dg, 1);
    stage.wideValues.update()
        .reorder(a.di, stage.wideValueKey, a.dg)
        .vectorize(a.di, lanesOf(columns));
  }
  stage.mix.compute_at(block);
  placeMix(stage.mix);
  RVar outer("mixOuter"), inner("mixInner");
  stage.mix.update()
      .split(stage.mixKey, outer, inner, reductionUnroll(columns))
      .reorder(a.q, a.di, inner, outer, a.dg)
      .unroll(a.di)
      .unroll(inner);
  a.shortTiles.addTile(stage.mix, lanes, rows / lanes);
  scheduleSlowMix(stage);
}

LogicalResult attn::scheduleFlashCpu(FlashAlgorithm &algorithm,
                                     FlashFactors factors,
                                     const TargetInfo &target,
                                     KernelOp kernel) {
  return scheduleBy(FlashCpuSchedule(algorithm, factors, target, kernel));
}
