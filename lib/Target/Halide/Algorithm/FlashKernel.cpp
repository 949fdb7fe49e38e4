//===- FlashKernel.cpp - an attention kernel through Halide ---------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The three steps one after the other: read the loops, build the functions,
// schedule them.
//
//===----------------------------------------------------------------------===//
#include "../GpuLaunch.h"
#include "../MatrixCalls.h"
#include "../ReadAhead.h"
#include "../ThreadPrivate.h"
#include "../TileGuards.h"
#include "../TrimLoops.h"
#include "FlashAlgorithm.h"

#include "attn/Analysis/TargetInfo.h"

using namespace mlir;
using namespace attn;

/// Tells Halide the sizes that the text gives to an output. Without, the loops
/// of two outputs could not be known to agree.
static LogicalResult describeSizes(Halide::OutputImageParam output,
                                   RankedTensorType type, Value init,
                                   ExprEmitter &values) {
  auto empty = init.getDefiningOp<tensor::EmptyOp>();
  if (!empty)
    return success();
  unsigned next = 0;
  for (int64_t dim = 0, rank = type.getRank(); dim < rank; ++dim) {
    if (!type.isDynamicDim(dim))
      continue;
    FailureOr<Halide::Expr> size = values.get(empty.getDynamicSizes()[next++]);
    if (failed(size))
      return failure();
    output.dim(rank - 1 - dim).set_extent(*size);
  }
  return success();
}

/// The type with unknown numbers of rows and heads. Where Halide knows that the
/// blocks of a launch are two, it concludes in a branch that none but the
/// second one takes that there the block is number 1, and with the promise that
/// a block computes one tile (`bound_extent`) that it is so everywhere.
static RankedTensorType forgetSizes(RankedTensorType type, bool hasChannels) {
  SmallVector<int64_t> shape(type.getRank(), ShapedType::kDynamic);
  if (hasChannels)
    shape.back() = type.getShape().back();
  return type.clone(shape);
}

FailureOr<HalideKernel> attn::emitFlash(KernelOp kernel,
                                        const TargetInfo &target) {
  std::optional<FlashFactors> factors =
      FlashFactors::of(kernel.getScheduleAttr());
  if (!factors)
    return kernel.emitOpError("expected #attn.flash_schedule, "
                              "#attn.decode_schedule or "
                              "#attn.matrix_schedule (because of what the "
                              "kernel computes), got no such schedule");
  if (factors->isGpu != target.isGpu())
    return kernel.emitOpError("expected ")
           << (target.isGpu() ? "#attn.gpu_attention_schedule"
                              : "a schedule of a CPU")
           << " (because of the target " << target.name << "), got "
           << kernel.getScheduleAttr();
  FailureOr<FlashNest> nest = readFlashNest(kernel);
  if (failed(nest))
    return failure();
  ExprEmitter values{HalfFloats(target)};
  FailureOr<KernelArguments> arguments = bindKernelArguments(kernel, values);
  if (failed(arguments))
    return failure();
  FailureOr<FlashAlgorithm> algorithm =
      buildFlashAlgorithm(*nest, *factors, values);
  if (failed(algorithm))
    return failure();
  auto schedule = factors->isGpu      ? scheduleFlashGpu
                  : factors->isDecode ? scheduleDecodeCpu
                  : factors->isMatrix ? scheduleMatrixCpu
                                      : scheduleFlashCpu;
  if (failed(schedule(*algorithm, *factors, target, kernel)))
    return failure();

  // Outputs in the order of the kernel's results.
  std::vector<Halide::Func> outputs;
  for (Value yielded :
       kernel.getBody().front().getTerminator()->getOperands()) {
    auto result = dyn_cast<OpResult>(yielded);
    if (!result || result.getOwner() != nest->forall)
      return kernel.emitOpError("expected to yield the results of the "
                                "scf.forall");
    Value shared = nest->forall.getRegionIterArgs()[result.getResultNumber()];
    bool isResult = nest->result.insert.getDest() == shared;
    Halide::Func func = isResult ? algorithm->result : algorithm->lse;
    auto type = cast<RankedTensorType>(yielded.getType());
    describeOutput(func.output_buffer(),
                   factors->isGpu ? forgetSizes(type, isResult) : type);
    if (failed(describeSizes(
            func.output_buffer(), type,
            nest->forall.getOutputs()[result.getResultNumber()], values)))
      return failure();
    outputs.push_back(func);
  }
  Halide::Pipeline pipeline(outputs);
  if (factors->isGpu)
    trimLoops(pipeline);
  algorithm->loads.attach(pipeline, target.hasWideOffsets());
  for (const FlashStage &stage : algorithm->stages)
    for (const TileTest &test : stage.tests)
      (factors->isGpu ? guardThreadsBy : guardBy)(test.any, pipeline);
  if (factors->isGpu) {
    int rows = static_cast<int>(algorithm->rows);
    PrivateLayout layout = {rows, factors->lanes, rows / factors->y};
    makeThreadPrivate(pipeline, algorithm->state, layout);
    requireOwnMemory(pipeline, algorithm->query);
    for (const FlashStage &stage : algorithm->stages)
      makeThreadPrivate(pipeline, stage.tileMax, layout);
  }
  attachReadAhead(pipeline);
  algorithm->shortTiles.attach(pipeline);
  HalideKernel result{pipeline, arguments->args, /*stackOnly=*/true};
  if (factors->isMatrix) {
    attachMatrixCalls(pipeline);
    result.copies = {algorithm->transposed.func.name()};
  }
  return result;
}
