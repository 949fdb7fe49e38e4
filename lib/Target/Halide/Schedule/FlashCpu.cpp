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
#include "../Algorithm/FlashAlgorithm.h"

#include "attn/Analysis/TargetInfo.h"

#include <numeric>

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
struct FlashCpuSchedule {
  FlashAlgorithm &a;
  FlashScheduleAttr factors;
  const TargetInfo &target;
  KernelOp kernel;
  int lanes, rows, columns, keyUnroll;
  Var tileLoop; ///< The innermost loop outside a query tile.

  LogicalResult check();
  /// Splits the rows into query tiles and makes one parallel loop f of the
  /// tiles and all counters: tiles of one head run one after the other, so that
  /// its keys and values stay in the cache. `order` holds the loops inside a
  /// row.
  void fuseCounters(Func func, const std::vector<Var> &vars,
                    std::vector<Var> order);
  void scheduleResult();
  void scheduleQuery();
  void scheduleState();
  /// Each part of a key tile is for one tile of one row of counters. Halide
  /// does not see that where a loop's bounds come from a tensor.
  void boundCounters(FlashStage &stage);
  void scheduleTests(FlashStage &stage);
  void scheduleScores(FlashStage &stage);
  void scheduleWeights(FlashStage &stage);
  void scheduleMix(FlashStage &stage);
  void scheduleFinite(FlashStage &stage);

private:
  /// Vectors over the queries of a tile. The bound is what makes them whole.
  void vectorizeRows(Func func) {
    func.bound(a.q, 0, rows).vectorize(a.q, lanes).unroll(a.q);
  }
  /// Steps of a reduction that are unrolled: a divisor of 4.
  int reductionUnroll(int scalars) const {
    int steps = reductionBody / (rows / lanes * scalars);
    return std::clamp<int>(llvm::bit_floor<uint64_t>(steps), 1, 4);
  }
  template <typename Stage> void vectorizeRowsOf(Stage stage) {
    stage.vectorize(a.q, lanes).unroll(a.q);
  }
  /// The largest power of two of lanes that a row of `size` elements fills.
  int lanesOf(int64_t size) const {
    return std::min<int64_t>(lanes, llvm::bit_floor<uint64_t>(size));
  }
};
} // namespace

/// What the bounds below promise to Halide. With no_asserts a false promise is
/// an assumption of the code, not an error.
LogicalResult FlashCpuSchedule::check() {
  auto multiple = [&](int64_t value, int64_t factor, StringRef what,
                      StringRef of) -> LogicalResult {
    if (factor > 0 && value % factor == 0)
      return success();
    return kernel.emitOpError("expected ")
           << what << " to be a multiple of " << of << " " << factor << ", got "
           << value;
  };
  bool ok = true;
  if (!llvm::isPowerOf2_64(factors.getVector()) || factors.getVector() < 2)
    return kernel.emitOpError("expected a vector of a power of two of lanes, "
                              "at least 2, got ")
           << factors.getVector();
  ok &= succeeded(
      multiple(rows, lanes, "the rows of the query tile", "vector ="));
  if (columns < 4) {
    kernel.emitOpError(
        "expected value_unroll of at least 4 (because a block of "
        "the state holds two factors, maximum and sum), got ")
        << columns;
    ok = false;
  }
  for (FlashStage &stage : a.stages) {
    ok &= succeeded(multiple(stage.keys, keyUnroll, "the rows of the key tile",
                             "key_unroll ="));
    ok &= succeeded(multiple(stage.keys, keyGroup, "the rows of the key tile",
                             "the group ="));
    if (!ok)
      break;
  }
  if (!ok)
    return failure();

  // Everything of a query tile lives on the stack of a thread.
  int64_t keys = 0;
  bool isNarrow = false;
  for (FlashStage &stage : a.stages) {
    keys = std::max(keys, stage.keys);
    isNarrow |= stage.wideKeys.defined() || stage.wideValues.defined();
  }
  int64_t bytes =
      4 * rows * (a.headSize + 2 * keys + columns * (a.blocks() + 1));
  if (isNarrow)
    bytes += 4 * std::max(keyUnroll * a.headSize, keys * columns);
  int64_t limit = std::max<int64_t>(64 * 1024, target.l2Bytes / 2);
  if (bytes > limit)
    return kernel.emitOpError("expected at most ")
           << limit << " bytes of scratch a query tile (because it lives on a "
           << "thread's stack and in its second-level cache), got " << bytes
           << " from " << rows << " queries, " << keys
           << " keys, D = " << a.headSize << " and " << a.valueSize
           << " value channels: choose smaller tiles";
  return success();
}

void FlashCpuSchedule::fuseCounters(Func func, const std::vector<Var> &vars,
                                    std::vector<Var> order) {
  Var outer("io"), inner("ii");
  func.split(a.row, outer, inner, rows, TailStrategy::GuardWithIf);
  order.push_back(inner);
  order.push_back(outer);
  size_t first = order.size();
  for (const Var &var : llvm::reverse(vars))
    if (!var.same_as(a.d) && !var.same_as(a.row))
      order.push_back(var);
  func.reorder(std::vector<Halide::VarOrRVar>(order.begin(), order.end()));
  func.partition(inner, Partition::Never);
  if (a.lse.defined()) {
    // Bounds of fused loops that two outputs share come out wrong (Halide 21).
    for (size_t i = first - 1; i < order.size(); ++i)
      func.parallel(order[i]).partition(order[i], Partition::Never);
    tileLoop = outer;
    return;
  }
  Var fused = outer;
  for (size_t i = first; i < order.size(); ++i) {
    Var next("f" + std::to_string(i - first));
    func.fuse(fused, order[i], next);
    fused = next;
  }
  func.parallel(fused).partition(fused, Partition::Never);
  tileLoop = fused;
}

void FlashCpuSchedule::scheduleResult() {
  Func result = a.result;
  int width = lanesOf(a.valueSize);
  result.bound(a.d, 0, static_cast<int>(a.valueSize));
  fuseCounters(result, a.resultVars, {a.d});
  // A row's last vector overlaps the one before where the size is no multiple.
  result.vectorize(a.d, width, TailStrategy::ShiftInwards).unroll(a.d);
  if (a.lse.defined()) {
    fuseCounters(a.lse, a.lseVars, {});
    a.lse.compute_with(result, tileLoop);
  }

  for (Func func : {a.state, a.inverse, a.query})
    for (const Var &counter : a.counters)
      func.bound_extent(counter, 1);
  a.inverse.compute_at(result, tileLoop);
  vectorizeRows(a.inverse);
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

void FlashCpuSchedule::scheduleState() {
  a.state.compute_at(a.result, tileLoop)
      .store_in(MemoryType::Stack)
      .bound(a.di, 0, columns)
      .bound(a.dg, 0, static_cast<int>(a.blocks()) + 1);
  vectorizeRows(a.state);
  for (FlashStage &stage : a.stages) {
    Halide::Stage update = a.state.update(stage.update);
    update.reorder(a.q, stage.column, stage.block, stage.tile);
    vectorizeRowsOf(update);
    update.unroll(stage.column).partition(stage.tile, Partition::Never);
  }
}

void FlashCpuSchedule::boundCounters(FlashStage &stage) {
  std::vector<Func> parts = {stage.visible, stage.scores,  stage.tileMax,
                             stage.offset,  stage.weights, stage.tileSum,
                             stage.mix};
  parts.insert(parts.end(), stage.expSteps.begin(), stage.expSteps.end());
  if (stage.hasFiniteTest()) {
    parts.push_back(stage.laneMax);
    parts.push_back(stage.finite);
    parts.push_back(stage.slowMix);
  }
  for (Func part : {stage.wideKeys, stage.wideValues})
    if (part.defined())
      parts.push_back(part);
  for (const TileTest &test : stage.tests) {
    parts.push_back(test.lanes);
    parts.push_back(test.any);
  }
  for (Func part : parts) {
    part.bound_extent(a.t, 1);
    for (const Var &counter : a.counters)
      part.bound_extent(counter, 1);
  }
}

void FlashCpuSchedule::scheduleTests(FlashStage &stage) {
  Halide::LoopLevel tile(a.state, stage.tile);
  for (TileTest &test : stage.tests) {
    int size = static_cast<int>(test.numLanes), width = lanesOf(size);
    test.lanes.compute_at(tile)
        .store_in(MemoryType::Register)
        .bound(a.lane, 0, size)
        .vectorize(a.lane, width)
        .unroll(a.lane);
    Halide::Stage update = test.lanes.update();
    if (test.hasSteps)
      update.reorder(a.lane, test.step);
    update.vectorize(a.lane, width).unroll(a.lane);
    test.any.compute_at(tile).store_in(MemoryType::Stack);
    test.any.update().atomic().vectorize(test.lane, width);
  }
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
      .split(a.kk, outer, inner, keyGroup, TailStrategy::RoundUp)
      .split(a.q, group, lane, lanes)
      .reorder(lane, inner, outer, group)
      .vectorize(lane)
      .unroll(inner);
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

void FlashCpuSchedule::scheduleFinite(FlashStage &stage) {
  Halide::LoopLevel tile(a.state, stage.tile);
  int width = lanesOf(a.valueSize);
  stage.laneMax.compute_at(tile)
      .store_in(MemoryType::Register)
      .bound(a.lane, 0, width)
      .vectorize(a.lane, width);
  int chunks = static_cast<int>(llvm::divideCeil(a.valueSize, width));
  stage.laneMax.update()
      .reorder(a.lane, stage.finiteChunk, stage.finiteKey)
      .vectorize(a.lane, width)
      .unroll(stage.finiteChunk, static_cast<int>(std::gcd(chunks, 8)));
  stage.finite.compute_at(tile);
}

void FlashCpuSchedule::scheduleMix(FlashStage &stage) {
  Halide::LoopLevel block(a.state, stage.block);
  auto place = [&](Func mix) {
    mix.compute_at(block)
        .store_in(MemoryType::Register)
        .bound(a.di, 0, columns)
        .bound_storage(a.dg, 1)
        .reorder(a.q, a.di, a.dg)
        .unroll(a.di);
    vectorizeRows(mix);
    vectorizeRowsOf(mix.update());
  };
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
  place(stage.mix);
  RVar outer("mixOuter"), inner("mixInner");
  stage.mix.update()
      .split(stage.mixKey, outer, inner, reductionUnroll(columns))
      .reorder(a.q, a.di, inner, outer, a.dg)
      .unroll(a.di)
      .unroll(inner);
  if (!stage.hasFiniteTest())
    return;
  place(stage.slowMix);
  stage.slowMix.update()
      .reorder(a.q, a.di, stage.slowMixKey, a.dg)
      .unroll(a.di);
}

LogicalResult attn::scheduleFlashCpu(FlashAlgorithm &algorithm,
                                     FlashScheduleAttr schedule,
                                     const TargetInfo &target,
                                     KernelOp kernel) {
  FlashCpuSchedule s{algorithm,
                     schedule,
                     target,
                     kernel,
                     static_cast<int>(schedule.getVector()),
                     static_cast<int>(algorithm.rows),
                     static_cast<int>(schedule.getValueUnroll()),
                     static_cast<int>(schedule.getKeyUnroll()),
                     Var()};
  if (failed(s.check()))
    return failure();
  s.scheduleResult();
  s.scheduleQuery();
  s.scheduleState();
  for (FlashStage &stage : algorithm.stages) {
    s.boundCounters(stage);
    s.scheduleTests(stage);
    s.scheduleScores(stage);
    s.scheduleWeights(stage);
    if (stage.hasFiniteTest())
      s.scheduleFinite(stage);
    s.scheduleMix(stage);
  }
  return success();
}
