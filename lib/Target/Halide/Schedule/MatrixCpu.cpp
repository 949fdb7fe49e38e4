//===- MatrixCpu.cpp - schedule of attention with a matrix unit -----------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Queries lie in vector lanes, as in FlashCpu.cpp; products are calls of the
// run-time (Algorithm/FlashMatrix.cpp), which fill whole tiles on the stack:
//
//   values   once a kernel, heads in parallel, 32 keys at a time
//   query    once a query tile
//   scores, packed, product   once a key tile
//
// What rules and masks make of scores is a pass over the tile; without any the
// maximum and the weights read the products. The update of X adds the product
// to the accumulator, and sums that stand behind the weights to the sum.
//
//===----------------------------------------------------------------------===//
#include "FlashParts.h"

#include "attn/Analysis/ScheduleModel.h"
#include "attn/Analysis/TargetInfo.h"

using namespace mlir;
using namespace attn;
using Halide::Func;
using Halide::MemoryType;
using Halide::Var;

namespace {
struct MatrixCpuSchedule : QueryLaneParts {
  using QueryLaneParts::QueryLaneParts;

  LogicalResult check();
  void scheduleQuery();
  void scheduleScores(FlashStage &stage);
  void scheduleWeights(FlashStage &stage);
  void scheduleMix(FlashStage &stage);

private:
  /// Rows of a tile and steps of a sum: what one product takes.
  static constexpr int side = static_cast<int>(matrixSide);

  /// A function that the run-time fills.
  void place(Func func, const Halide::LoopLevel &level) {
    func.compute_at(level).store_in(MemoryType::Stack).bound(a.q, 0, rows);
  }
};
} // namespace

LogicalResult MatrixCpuSchedule::check() {
  if (!target.hasMatrixUnit())
    return kernel.emitOpError("expected a target with a matrix unit for "
                              "#attn.matrix_schedule, got ")
           << target.name << ": choose #attn.flash_schedule";
  bool ok = succeeded(checkFactors());
  ok &= succeeded(checkMultiple(rows, side, "the rows of the query tile",
                                "the side of a product ="));
  ok &= succeeded(checkMultiple(a.headSize, side, "the channels of a head",
                                "the depth of a product ="));
  for (FlashStage &stage : a.stages)
    ok &= succeeded(checkMultiple(stage.keys, side, "the rows of the key tile",
                                  "the side of a product ="));
  if (a.headSize > matrixChannels) {
    kernel.emitOpError("expected at most ")
        << matrixChannels
        << " channels of a head for #attn.matrix_schedule, got " << a.headSize;
    ok = false;
  }
  if (!ok)
    return failure();
  return checkScratch();
}

void MatrixCpuSchedule::scheduleQuery() {
  place(a.query, Halide::LoopLevel(a.result, tileLoop));
  a.query.bound(a.d, 0, static_cast<int>(a.headSize) / 2);

  MatrixValues &copy = a.transposed;
  copy.func.compute_root()
      .store_in(MemoryType::Heap)
      .bound(copy.key, 0, a.valueKeys)
      .bound(copy.channel, 0,
             static_cast<int>(llvm::alignTo(a.valueSize, side)));
  Halide::Stage update = copy.func.update();
  std::vector<Halide::VarOrRVar> order{copy.block};
  for (auto [var, size] : llvm::zip(copy.outer, copy.outerSizes)) {
    copy.func.bound(var, 0, size);
    order.emplace_back(var);
  }
  update.reorder(order);
  for (const Var &var : copy.outer)
    update.parallel(var);
}

void MatrixCpuSchedule::scheduleScores(FlashStage &stage) {
  Halide::LoopLevel tile(a.state, stage.tile);
  place(stage.scores, tile);
  stage.scores.bound(a.kk, 0, static_cast<int>(stage.keys));
  if (stage.visible.name() == stage.scores.name())
    return;
  place(stage.visible, tile);
  stage.visible.bound(a.kk, 0, static_cast<int>(stage.keys))
      .reorder(a.q, a.kk)
      .vectorize(a.q, lanes)
      .unroll(a.q);
}

void MatrixCpuSchedule::scheduleWeights(FlashStage &stage) {
  Halide::LoopLevel tile(a.state, stage.tile);
  stage.tileMax.compute_at(tile).store_in(MemoryType::Register);
  vectorizeRows(stage.tileMax);
  stage.tileMax.update()
      .reorder(a.q, stage.maxGroup)
      .vectorize(a.q, lanes)
      .unroll(a.q);
  // Read by the run-time, so not in a register.
  place(stage.exponent, tile);
  stage.exponent.vectorize(a.q, lanes).unroll(a.q);
  stage.offset.compute_at(tile).store_in(MemoryType::Stack);
  vectorizeRows(stage.offset);
  place(stage.packed, tile);
  stage.packed.bound(a.kk, 0, static_cast<int>(stage.keys) / 2 + 1);
}

void MatrixCpuSchedule::scheduleMix(FlashStage &stage) {
  place(stage.product, Halide::LoopLevel(a.state, stage.tile));
  stage.product.bound(a.d, 0,
                      static_cast<int>(llvm::alignTo(a.valueSize, side)));
  scheduleSlowMix(stage);
}

LogicalResult attn::scheduleMatrixCpu(FlashAlgorithm &algorithm,
                                      FlashFactors factors,
                                      const TargetInfo &target,
                                      KernelOp kernel) {
  return scheduleBy(MatrixCpuSchedule(algorithm, factors, target, kernel));
}
