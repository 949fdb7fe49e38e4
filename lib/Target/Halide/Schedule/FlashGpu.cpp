//===- FlashGpu.cpp - schedule of tiled attention for devices -------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A block of x by y threads computes a query tile. Threads below each other
// share its queries, threads beside each other the keys of a row of scores and
// the channels of a row of values:
//
//   queries  scaled, in shared memory, once
//   state    registers of a thread: its rows, with the numbers of each and
//            every x-th channel
//   keys, values of a tile in shared memory, once for all queries
//   scores   register tile of rows / y by keys / x, over d
//   maximum  registers of a thread: each finds that of its rows
//   weights  in shared memory: all threads of a row of channels read them
//   mix      register tile of rows / y by channels / x, over the tile's keys;
//            a channel of ones gives the sum
//
// Rows in shared memory that threads read side by side have an odd number of
// elements, so that they start in different banks.
//
//===----------------------------------------------------------------------===//
#include "FlashParts.h"
#include "GpuBlocks.h"

#include "attn/Analysis/TargetInfo.h"

using namespace mlir;
using namespace attn;
using Halide::Func;
using Halide::LoopLevel;
using Halide::MemoryType;
using Halide::Partition;
using Halide::TailStrategy;
using Halide::Var;
using Halide::VarOrRVar;

namespace {
struct FlashGpuSchedule : FlashParts {
  FlashGpuSchedule(FlashAlgorithm &a, FlashFactors factors,
                   const TargetInfo &target, KernelOp kernel)
      : FlashParts(a, factors, target, kernel), x(factors.lanes), y(factors.y),
        rowsEach(rows / y) {}

  LogicalResult check();
  void scheduleResult();
  void scheduleQuery();
  void scheduleState();
  void boundCounters(FlashStage &stage);
  void scheduleTests(FlashStage &stage);
  void scheduleScores(FlashStage &stage);
  void scheduleWeights(FlashStage &stage);
  void scheduleMix(FlashStage &stage);

private:
  void placeBlocks(Func func, const std::vector<Var> &vars);
  /// Threads over a row of `columns` and several rows of shared memory.
  void stageRows(Func func, const Var &columns, const Var &rows, int size);
  /// Threads over the pairs of a tile, a register tile each.
  void sharePairs(Func func, const FlashStage &stage);

  int x, y, rowsEach;
  Var threadX{"tx"}, threadY{"ty"};
};
} // namespace

/// Elements of a row with its padding.
static int odd(int64_t size) { return static_cast<int>(size | 1); }

LogicalResult FlashGpuSchedule::check() {
  if (failed(checkMultiple(a.rows, y, "the rows of the query tile", "y =")))
    return failure();
  for (FlashStage &stage : a.stages)
    if (failed(checkMultiple(stage.keys, stage.keyThreads,
                             "the rows of the key tile", "x =")))
      return failure();
  return success();
}

void FlashGpuSchedule::placeBlocks(Func func, const std::vector<Var> &vars) {
  Var block("io"), inner("ii"), each("qi");
  func.split(a.row, block, inner, rows, TailStrategy::GuardWithIf)
      .split(inner, threadY, each, rowsEach);
  std::vector<VarOrRVar> order;
  bool hasChannels =
      llvm::any_of(vars, [&](const Var &var) { return var.same_as(a.d); });
  if (hasChannels) {
    Var group("dgo");
    func.bound(a.d, 0, static_cast<int>(a.valueSize))
        .split(a.d, group, threadX, x, TailStrategy::GuardWithIf)
        .unroll(group);
    order.push_back(group);
  } else {
    // One thread of those that have the same rows.
    Var rest("qr");
    func.split(each, rest, threadX, 1);
    each = rest;
  }
  func.unroll(each);
  order.push_back(each);
  order.push_back(threadX);
  order.push_back(threadY);
  std::vector<Var> blocks = {block};
  for (const Var &var : llvm::reverse(vars))
    if (!var.same_as(a.d) && !var.same_as(a.row))
      blocks.push_back(var);
  // Of four dimensions, with the chunks of keys, batch entries are the one that
  // has no place among the blocks: there is a launch for each.
  if (blocks.size() > 3)
    std::swap(blocks[2], blocks[3]);
  tileLoop = placeOnBlocks(func, order, blocks);
  func.gpu_threads(threadX, threadY);
}

void FlashGpuSchedule::scheduleResult() {
  placeBlocks(a.result, a.resultVars);
  if (a.lse.defined()) {
    placeBlocks(a.lse, a.lseVars);
    a.lse.compute_with(a.result, tileLoop);
  }
  for (Func func : {a.state, a.query})
    for (const Var &counter : a.counters)
      func.bound_extent(counter, 1);
}

void FlashGpuSchedule::stageRows(Func func, const Var &columns, const Var &rows,
                                 int size) {
  Var group("sg"), step("ss");
  func.store_in(MemoryType::GPUShared)
      .bound(columns, 0, size)
      .align_storage(columns, odd(size))
      .split(columns, group, threadX, x, TailStrategy::GuardWithIf)
      .split(rows, step, threadY, y, TailStrategy::GuardWithIf)
      .reorder(group, step, threadX, threadY)
      // Parts of a loop would have other lengths in each thread.
      .partition(group, Partition::Never)
      .partition(step, Partition::Never)
      .gpu_threads(threadX, threadY);
}

void FlashGpuSchedule::scheduleQuery() {
  a.query.compute_at(a.result, tileLoop).bound(a.qg, 0, rows).bound(a.qv, 0, 1);
  stageRows(a.query, a.d, a.qg, static_cast<int>(a.headSize));
}

void FlashGpuSchedule::scheduleState() {
  int numbers = static_cast<int>(a.blocks() + a.firstBlock());
  Var each("qi");
  a.state.compute_at(a.result, tileLoop)
      .store_in(MemoryType::Register)
      .bound(a.q, 0, rows)
      .bound(a.di, 0, x)
      .bound(a.dg, 0, numbers)
      .split(a.q, threadY, each, rowsEach)
      .reorder(a.dg, each, a.di, threadY)
      .unroll(a.dg)
      .unroll(each)
      .gpu_threads(a.di, threadY);
  for (FlashStage &stage : a.stages) {
    std::string suffix = std::to_string(stage.update);
    Halide::Stage update = a.state.update(stage.update);
    update.split(a.q, threadY, each, rowsEach)
        .rename(a.di, Var("tx" + suffix))
        .reorder(stage.column, stage.block, each, Var("tx" + suffix), threadY,
                 stage.tile)
        .unroll(stage.column)
        .unroll(stage.block)
        .unroll(each)
        .gpu_threads(Var("tx" + suffix), threadY)
        .partition(stage.tile, Partition::Never);
  }
}

void FlashGpuSchedule::boundCounters(FlashStage &stage) {
  std::vector<Func> parts = {stage.visible, stage.scores,   stage.tileMax,
                             stage.weights, stage.wideKeys, stage.wideValues,
                             stage.mix};
  for (const TileTest &test : stage.tests) {
    parts.push_back(test.lanes);
    parts.push_back(test.any);
  }
  boundEach(parts);
}

void FlashGpuSchedule::scheduleTests(FlashStage &stage) {
  LoopLevel tile(a.state, stage.tile);
  for (TileTest &test : stage.tests) {
    int size = static_cast<int>(test.numLanes);
    Var group("lg");
    auto share = [&](Halide::Stage part) {
      part.split(a.lane, group, threadX, std::min(size, x),
                 TailStrategy::GuardWithIf)
          .gpu_threads(threadX);
    };
    test.lanes.compute_at(tile)
        .store_in(MemoryType::GPUShared)
        .bound(a.lane, 0, size);
    share(test.lanes);
    share(test.lanes.update());
    test.any.compute_at(tile).store_in(MemoryType::GPUShared);
  }
}

void FlashGpuSchedule::sharePairs(Func func, const FlashStage &stage) {
  int keys = static_cast<int>(stage.keys);
  Var key("ki"), each("qi");
  std::vector<Var> storage = {a.kk, a.q, a.t};
  storage.insert(storage.end(), a.counters.begin(), a.counters.end());
  func.compute_at(a.state, stage.tile)
      .store_in(MemoryType::GPUShared)
      .bound(a.q, 0, rows)
      .bound(a.kk, 0, keys)
      .reorder_storage(storage)
      .align_storage(a.kk, odd(keys))
      .split(a.q, threadY, each, rowsEach)
      .split(a.kk, threadX, key, keys / stage.keyThreads)
      .reorder(key, each, threadX, threadY)
      .unroll(key)
      .unroll(each)
      .gpu_threads(threadX, threadY);
}

void FlashGpuSchedule::scheduleScores(FlashStage &stage) {
  int keys = static_cast<int>(stage.keys);
  stage.wideKeys.compute_at(a.state, stage.tile).bound(a.kk, 0, keys);
  stageRows(stage.wideKeys, a.d, a.kk, static_cast<int>(a.headSize));
  sharePairs(stage.visible, stage);
  stage.scores.compute_at(stage.visible, threadX)
      .store_in(MemoryType::Register)
      .bound_extent(a.kk, keys / stage.keyThreads)
      .bound_extent(a.q, rowsEach)
      .unroll(a.kk)
      .unroll(a.q);
  stage.scores.update()
      .reorder(a.kk, a.q, stage.depth)
      .unroll(a.kk)
      .unroll(a.q);
  if (a.headSize % 4 == 0)
    stage.scores.update().unroll(stage.depth, 4);
}

void FlashGpuSchedule::scheduleWeights(FlashStage &stage) {
  Var each("qi");
  stage.tileMax.compute_at(a.state, stage.tile)
      .store_in(MemoryType::Register)
      .bound(a.q, 0, rows)
      .bound(a.di, 0, x)
      .split(a.q, threadY, each, rowsEach)
      .reorder(each, a.di, threadY)
      .unroll(each)
      .gpu_threads(a.di, threadY);
  stage.tileMax.update()
      .split(a.q, threadY, each, rowsEach)
      .reorder(each, stage.maxGroup, a.di, threadY)
      .unroll(each)
      .gpu_threads(a.di, threadY);
  sharePairs(stage.weights, stage);
}

void FlashGpuSchedule::scheduleMix(FlashStage &stage) {
  int keys = static_cast<int>(stage.keys);
  stage.wideValues.compute_at(a.state, stage.tile).bound(a.kk, 0, keys);
  stageRows(stage.wideValues, a.d, a.kk, static_cast<int>(a.valueSize));
  stage.mix.compute_at(a.state, Var("tx" + std::to_string(stage.update)))
      .store_in(MemoryType::Register)
      .bound_extent(a.q, rowsEach)
      .bound_extent(a.di, 1)
      .bound(a.dg, 0, static_cast<int>(a.blocks()) + 1)
      .unroll(a.q)
      .unroll(a.dg);
  stage.mix.update().reorder(a.dg, a.q, stage.mixKey).unroll(a.dg).unroll(a.q);
}

LogicalResult attn::scheduleFlashGpu(FlashAlgorithm &algorithm,
                                     FlashFactors factors,
                                     const TargetInfo &target,
                                     KernelOp kernel) {
  return scheduleBy(FlashGpuSchedule(algorithm, factors, target, kernel));
}
