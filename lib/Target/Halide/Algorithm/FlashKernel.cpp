//===- FlashKernel.cpp - an attention kernel through Halide
//----------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The three steps one after the other: read the loops, build the functions,
// schedule them.
//
//===----------------------------------------------------------------------===//
#include "FlashAlgorithm.h"

using namespace mlir;
using namespace attn;

FailureOr<HalideKernel> attn::emitFlash(KernelOp kernel,
                                        const TargetInfo &target) {
  auto schedule = dyn_cast_or_null<FlashScheduleAttr>(kernel.getScheduleAttr());
  if (!schedule)
    return kernel.emitOpError("expected #attn.flash_schedule as its schedule "
                              "(because it holds tiled attention loops)");
  FailureOr<FlashNest> nest = readFlashNest(kernel);
  if (failed(nest))
    return failure();
  ExprEmitter values;
  FailureOr<KernelArguments> arguments = bindKernelArguments(kernel, values);
  if (failed(arguments))
    return failure();
  FailureOr<FlashAlgorithm> algorithm =
      buildFlashAlgorithm(*nest, schedule, values);
  if (failed(algorithm) ||
      failed(scheduleFlashCpu(*algorithm, schedule, target, kernel)))
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
    describeOutput(func.output_buffer(),
                   cast<RankedTensorType>(yielded.getType()));
    outputs.push_back(func);
  }
  return HalideKernel{Halide::Pipeline(outputs), arguments->args,
                      /*stackOnly=*/true};
}
