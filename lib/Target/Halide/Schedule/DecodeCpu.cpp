//===- DecodeCpu.cpp - schedule of attention with few queries -------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// With a few queries (decoding, speculation; the heads of a group are queries
// too) attention reads keys and values once and does little with each: it is as
// fast as memory if nothing else takes longer. Keys and values are read as
// vectors of channels, each once for all queries of the tile:
//
//   scores   register tile of key_unroll keys x rows; a vector of partial sums
//            for each, along d, added up in the end
//   weights  vectors of keys, in order: the scores of a query lie side by side
//   mix      register tile of rows x value_unroll channels over the tile's
//            keys; a weight is broadcast
//
// Scores, weights and X have the query as an outer dimension of storage.
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

/// Vectors of a key that are multiplied in one step of the loop over channels,
/// and keys that the mix takes in one step: enough to amortise the counter.
static constexpr int scoreUnroll = 4, mixUnroll = 4;

namespace {
struct DecodeCpuSchedule : FlashParts {
  DecodeCpuSchedule(FlashAlgorithm &a, FlashFactors factors,
                    const TargetInfo &target, KernelOp kernel)
      : FlashParts(a, factors, target, kernel), valueLanes(lanes) {
    while (columns % valueLanes != 0)
      valueLanes /= 2;
  }

  LogicalResult check();
  void scheduleQuery();
  void scheduleState();
  void scheduleScores(FlashStage &stage);
  void scheduleWeights(FlashStage &stage);
  void scheduleMix(FlashStage &stage);

private:
  /// All rows, one after the other in the code.
  void unrollRows(Func func) { func.bound(a.q, 0, rows).unroll(a.q); }
  /// Puts `inner` in front of the query, in storage.
  void storeQueriesOutside(Func func, const Var &inner) {
    std::vector<Var> order = {inner, a.q};
    for (const Var &var : func.args())
      if (!var.same_as(inner) && !var.same_as(a.q))
        order.push_back(var);
    func.reorder_storage(order);
  }
  void scheduleReduction(Func result, Func parts, const RVar &lane,
                         const RVar &group, const Halide::LoopLevel &tile);

  int valueLanes; ///< Lanes of a vector of channels.
};
} // namespace

LogicalResult DecodeCpuSchedule::check() {
  if (failed(checkFactors()))
    return failure();
  if (a.valueSize % columns != 0)
    return checkMultiple(a.valueSize, columns, "the number of value channels",
                         "value_unroll =");
  return checkScratch();
}

void DecodeCpuSchedule::scheduleQuery() {
  a.query.compute_at(a.result, tileLoop)
      .store_in(MemoryType::Stack)
      .bound(a.qg, 0, rows)
      .bound(a.qv, 0, 1)
      .bound(a.d, 0, static_cast<int>(a.headSize))
      .vectorize(a.d, lanesOf(a.headSize), TailStrategy::ShiftInwards);
}

void DecodeCpuSchedule::scheduleState() {
  a.inverse.bound(a.q, 0, rows);
  a.state.compute_at(a.result, tileLoop)
      .store_in(MemoryType::Stack)
      .bound(a.q, 0, rows)
      .bound(a.di, 0, columns)
      .bound(a.dg, 0, static_cast<int>(a.blocks()) + 1)
      .reorder(a.di, a.q, a.dg)
      .vectorize(a.di, valueLanes)
      .unroll(a.di);
  storeQueriesOutside(a.state, a.di);
  for (FlashStage &stage : a.stages) {
    // A vector of columns reads the numbers of its query before it is stored,
    // and no other one writes them: there is no race, which Halide cannot see.
    RVar outer("columnOuter"), inner("columnInner");
    a.state.update(stage.update)
        .allow_race_conditions()
        .split(stage.column, outer, inner, valueLanes)
        .reorder(inner, outer, a.q, stage.block, stage.tile)
        .vectorize(inner)
        .unroll(outer)
        .unroll(a.q)
        .partition(stage.tile, Partition::Never);
  }
}

void DecodeCpuSchedule::scheduleScores(FlashStage &stage) {
  Var outer("ko"), inner("ki");
  Halide::LoopLevel tile(a.state, stage.tile);
  int keys = static_cast<int>(stage.keys);
  stage.visible.compute_at(tile)
      .store_in(MemoryType::Stack)
      .bound(a.q, 0, rows)
      .bound_storage(a.kk, keys)
      .split(a.kk, outer, inner, a.keyGroup, TailStrategy::RoundUp)
      .reorder(inner, a.q, outer)
      .vectorize(inner, lanes);
  storeQueriesOutside(stage.visible, a.kk);
  stage.scores.compute_at(tile)
      .store_in(MemoryType::Stack)
      .bound_storage(a.kk, keys)
      .split(a.kk, outer, inner, keyUnroll, TailStrategy::RoundUp)
      .reorder(inner, a.q, outer)
      .unroll(inner);
  unrollRows(stage.scores);
  storeQueriesOutside(stage.scores, a.kk);

  int width = stage.scoreLanes;
  int half = width;
  for (Func sum : stage.halfScores) {
    half /= 2;
    sum.compute_at(stage.scores, outer)
        .store_in(MemoryType::Register)
        .bound(a.lane, 0, half)
        .bound_extent(a.kk, keyUnroll)
        .vectorize(a.lane, std::min(lanes, half))
        .unroll(a.lane)
        .unroll(a.kk);
    unrollRows(sum);
    storeQueriesOutside(sum, a.lane);
  }
  if (stage.restScores.defined()) {
    stage.restScores.compute_at(stage.scores, outer)
        .store_in(MemoryType::Register)
        .bound_extent(a.kk, keyUnroll)
        .unroll(a.kk);
    unrollRows(stage.restScores);
    stage.restScores.update()
        .reorder(a.kk, a.q, *stage.scoreRest)
        .unroll(a.kk)
        .unroll(a.q);
  }
  stage.laneScores.compute_at(stage.scores, outer)
      .store_in(MemoryType::Register)
      .bound(a.lane, 0, width)
      .bound_extent(a.kk, keyUnroll)
      .vectorize(a.lane, std::min(lanes, width))
      .unroll(a.lane)
      .unroll(a.kk);
  unrollRows(stage.laneScores);
  storeQueriesOutside(stage.laneScores, a.lane);
  Halide::Stage update = stage.laneScores.update();
  update.reorder(a.lane, a.q, a.kk, stage.depth)
      .vectorize(a.lane, std::min(lanes, width))
      .unroll(a.lane)
      .unroll(a.kk)
      .unroll(a.q);
  if (a.headSize / width % scoreUnroll == 0)
    update.unroll(stage.depth, scoreUnroll);
}

/// A maximum or sum over keys: vectors of keys first, then their lanes.
void DecodeCpuSchedule::scheduleReduction(Func result, Func parts,
                                          const RVar &lane, const RVar &group,
                                          const Halide::LoopLevel &tile) {
  parts.compute_at(tile)
      .store_in(MemoryType::Register)
      .bound(a.lane, 0, lanes)
      .vectorize(a.lane);
  unrollRows(parts);
  storeQueriesOutside(parts, a.lane);
  parts.update().reorder(a.lane, a.q, group).vectorize(a.lane).unroll(a.q);
  result.compute_at(tile).store_in(MemoryType::Stack);
  unrollRows(result);
  result.update().atomic().reorder(lane, a.q).vectorize(lane).unroll(a.q);
}

void DecodeCpuSchedule::scheduleWeights(FlashStage &stage) {
  Halide::LoopLevel tile(a.state, stage.tile);
  scheduleReduction(stage.tileMax, stage.laneMaximum, stage.maxLane,
                    stage.maxGroup, tile);
  stage.offset.compute_at(tile).store_in(MemoryType::Stack).bound(a.q, 0, rows);

  Var outer("ko"), inner("ki"), rowGroup("qo"), row("qi");
  stage.weights.compute_at(tile)
      .store_in(MemoryType::Stack)
      .bound_storage(a.kk, static_cast<int>(stage.keys))
      .bound(a.q, 0, rows)
      .split(a.kk, outer, inner, a.keyGroup, TailStrategy::RoundUp)
      .split(a.q, rowGroup, row, chainRows(rows))
      .reorder(inner, row, outer, rowGroup)
      .vectorize(inner, lanes)
      .unroll(inner)
      .unroll(row);
  storeQueriesOutside(stage.weights, a.kk);
  for (Func step : stage.expSteps) {
    step.compute_at(stage.weights, outer)
        .store_in(MemoryType::Register)
        .vectorize(a.kk, lanes)
        .unroll(a.kk)
        .unroll(a.q);
    storeQueriesOutside(step, a.kk);
  }
  scheduleReduction(stage.tileSum, stage.laneSum, stage.sumLane, stage.sumGroup,
                    tile);
}

void DecodeCpuSchedule::scheduleMix(FlashStage &stage) {
  Halide::LoopLevel block(a.state, stage.block);
  auto place = [&](Func mix, const RVar &key, int steps) {
    mix.compute_at(block)
        .store_in(MemoryType::Register)
        .bound(a.di, 0, columns)
        .bound_storage(a.dg, 1)
        .reorder(a.di, a.q, a.dg)
        .vectorize(a.di, valueLanes)
        .unroll(a.di);
    unrollRows(mix);
    storeQueriesOutside(mix, a.di);
    RVar outer("keyOuter"), inner("keyInner");
    mix.update()
        .split(key, outer, inner, steps)
        .reorder(a.di, a.q, inner, outer, a.dg)
        .vectorize(a.di, valueLanes)
        .unroll(a.di)
        .unroll(a.q)
        .unroll(inner);
  };
  place(stage.mix, stage.mixKey, mixUnroll);
  if (stage.hasFiniteTest())
    place(stage.slowMix, stage.slowMixKey, 1);
}

LogicalResult attn::scheduleDecodeCpu(FlashAlgorithm &algorithm,
                                      FlashFactors factors,
                                      const TargetInfo &target,
                                      KernelOp kernel) {
  return scheduleBy(DecodeCpuSchedule(algorithm, factors, target, kernel));
}
