//===- FlashParts.cpp - what schedules of attention share -----------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "FlashParts.h"

#include "attn/Analysis/ScheduleModel.h"
#include "attn/Analysis/TargetInfo.h"

#include <numeric>

using namespace mlir;
using namespace attn;
using Halide::Func;
using Halide::MemoryType;
using Halide::Partition;
using Halide::TailStrategy;
using Halide::Var;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

LogicalResult FlashParts::checkMultiple(int64_t value, int64_t factor,
                                        StringRef what, StringRef of) {
  if (factor > 0 && value % factor == 0)
    return success();
  return kernel.emitOpError("expected ")
         << what << " to be a multiple of " << of << " " << factor << ", got "
         << value;
}

LogicalResult FlashParts::checkFactors() {
  if (!llvm::isPowerOf2_64(lanes) || lanes < 2)
    return kernel.emitOpError("expected a vector of a power of two of lanes, "
                              "at least 2, got ")
           << lanes;
  bool ok = true;
  if (columns < 4) {
    kernel.emitOpError(
        "expected value_unroll of at least 4 (because a block of "
        "the state holds two factors, maximum and sum), got ")
        << columns;
    ok = false;
  }
  for (FlashStage &stage : a.stages) {
    ok &= succeeded(checkMultiple(stage.keys, keyUnroll,
                                  "the rows of the key tile", "key_unroll ="));
    ok &= succeeded(checkMultiple(stage.keys, a.keyGroup,
                                  "the rows of the key tile", "the group ="));
    if (!ok)
      break;
  }
  return success(ok);
}

LogicalResult FlashParts::checkScratch() {
  AttentionTiles tiles{rows, 0, keyUnroll, columns, isDecode, isMatrix};
  bool isNarrow = false;
  for (FlashStage &stage : a.stages) {
    tiles.keys = std::max(tiles.keys, stage.keys);
    isNarrow |= stage.wideKeys.defined() || stage.wideValues.defined();
  }
  int64_t bytes =
      attentionScratchBytes(tiles, a.headSize, a.valueSize, isNarrow);
  int64_t limit = std::max<int64_t>(64 * 1024, target.l2Bytes / 2);
  if (bytes <= limit)
    return success();
  return kernel.emitOpError("expected at most ")
         << limit << " bytes of scratch a query tile (because it lives on a "
         << "thread's stack and in its second-level cache), got " << bytes
         << " from " << rows << " queries, " << tiles.keys
         << " keys, D = " << a.headSize << " and " << a.valueSize
         << " value channels: choose smaller tiles";
}

int FlashParts::lanesOf(int64_t size) const {
  return static_cast<int>(
      std::min<int64_t>(lanes, llvm::bit_floor<uint64_t>(size)));
}

//===----------------------------------------------------------------------===//
// Query tiles
//===----------------------------------------------------------------------===//

void FlashParts::fuseCounters(Func func, const std::vector<Var> &vars,
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

void FlashParts::scheduleResult() {
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
}

//===----------------------------------------------------------------------===//
// Key tiles
//===----------------------------------------------------------------------===//

void FlashParts::boundEach(llvm::ArrayRef<Func> parts) {
  for (Func part : parts) {
    part.bound_extent(a.t, 1);
    for (const Var &counter : a.counters)
      part.bound_extent(counter, 1);
  }
}

void FlashParts::boundCounters(FlashStage &stage) {
  std::vector<Func> parts = {stage.visible, stage.scores,  stage.tileMax,
                             stage.offset,  stage.weights, stage.tileSum,
                             stage.mix};
  parts.insert(parts.end(), stage.expSteps.begin(), stage.expSteps.end());
  parts.insert(parts.end(), stage.halfScores.begin(), stage.halfScores.end());
  if (stage.hasFiniteTest()) {
    parts.push_back(stage.laneMax);
    parts.push_back(stage.finite);
    parts.push_back(stage.slowMix);
  }
  for (const Func &part : {stage.wideKeys, stage.wideValues, stage.laneScores,
                           stage.restScores, stage.laneMaximum, stage.laneSum,
                           stage.exponent, stage.packed, stage.product})
    if (part.defined())
      parts.push_back(part);
  for (const TileTest &test : stage.tests) {
    parts.push_back(test.lanes);
    parts.push_back(test.any);
  }
  boundEach(parts);
}

void QueryLaneParts::vectorizeRows(Func func) {
  func.bound(a.q, 0, rows).vectorize(a.q, lanes).unroll(a.q);
}

void QueryLaneParts::scheduleState() {
  a.state.compute_at(a.result, tileLoop)
      .store_in(MemoryType::Stack)
      .bound(a.di, 0, columns)
      .bound(a.dg, 0, static_cast<int>(a.blocks()) + 1);
  vectorizeRows(a.state);
  vectorizeRows(a.inverse);
  for (FlashStage &stage : a.stages) {
    Halide::Stage update = a.state.update(stage.update);
    update.reorder(a.q, stage.column, stage.block, stage.tile);
    vectorizeRowsOf(update);
    update.unroll(stage.column).partition(stage.tile, Partition::Never);
  }
}

void QueryLaneParts::placeMix(Func mix) {
  mix.store_in(MemoryType::Register)
      .bound(a.di, 0, columns)
      .bound_storage(a.dg, 1)
      .reorder(a.q, a.di, a.dg)
      .unroll(a.di);
  vectorizeRows(mix);
  vectorizeRowsOf(mix.update());
}

void QueryLaneParts::scheduleSlowMix(FlashStage &stage) {
  if (!stage.hasFiniteTest())
    return;
  stage.slowMix.compute_at(a.state, stage.block);
  placeMix(stage.slowMix);
  stage.slowMix.update()
      .reorder(a.q, a.di, stage.slowMixKey, a.dg)
      .unroll(a.di);
}

void FlashParts::scheduleTests(FlashStage &stage) {
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

void FlashParts::scheduleFinite(FlashStage &stage) {
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
