//===- LoopKernels.cpp - kernels as part of the host function ---*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A kernel with a loops schedule has no code of its own: convert-attn-to-loops
// makes a function of it, whose body takes the place of each call. From there
// on it is bufferized, planned and lowered as what else the host function
// computes, and its scratch lies in the workspace.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "attn/Conversion/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

/// Copies the body of a function of one block to each of its calls.
static void inlineCalls(func::FuncOp caller) {
  SmallVector<func::CallOp> calls;
  caller.walk([&](func::CallOp call) { calls.push_back(call); });
  for (func::CallOp call : calls) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    if (!callee || callee.isExternal())
      continue;
    OpBuilder builder(call);
    Block &body = callee.front();
    IRMapping mapping;
    mapping.map(body.getArguments(), call.getOperands());
    for (Operation &op : body.without_terminator())
      builder.clone(op, mapping);
    for (auto [result, value] : llvm::zip_equal(
             call.getResults(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookup(value));
    call.erase();
  }
}

LogicalResult attn::inlineLoopKernels(Driver &driver) {
  driver.hasLoops =
      llvm::any_of(driver.module->getOps<KernelOp>(),
                   [](KernelOp kernel) { return kernel.isLoopKernel(); });
  if (!driver.hasLoops)
    return success();
  PassManager lower(driver.module->getContext());
  lower.addPass(createConvertAttnToLoopsPass());
  if (failed(lower.run(*driver.module)))
    return failure();
  inlineCalls(driver.function);
  for (auto function :
       llvm::make_early_inc_range(driver.module->getOps<func::FuncOp>()))
    if (function != driver.function)
      function.erase();
  // Sizes inside kernels become those of the host: the memory plan knows
  // nothing of data.
  PassManager sizes(driver.module->getContext());
  sizes.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  sizes.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  sizes.addNestedPass<func::FuncOp>(createCSEPass());
  return sizes.run(*driver.module);
}
