//===- OutputsInPlace.cpp - results in the caller's memory ------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "MemoryPlan.h"
#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attn;

/// The allocation behind a chain of reshapes; the chain ends at it.
static memref::AllocOp getAllocation(Value value,
                                     SmallVectorImpl<Operation *> &chain) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<memref::ExpandShapeOp, memref::CollapseShapeOp>(op))
      break;
    chain.push_back(op);
    value = op->getOperand(0);
  }
  return value.getDefiningOp<memref::AllocOp>();
}

/// An output seen as the allocation that is copied to it through `chain`; null
/// where that is not possible.
static Value invertReshapes(OpBuilder &builder, Value output,
                            ArrayRef<Operation *> chain,
                            memref::AllocOp alloc) {
  for (Operation *op : chain) {
    auto type = cast<MemRefType>(op->getOperand(0).getType());
    if (auto expand = dyn_cast<memref::ExpandShapeOp>(op)) {
      output =
          memref::CollapseShapeOp::create(builder, op->getLoc(), type, output,
                                          expand.getReassociationIndices());
      continue;
    }
    // Only the allocation knows the sizes that were joined.
    if (op->getOperand(0) != alloc.getResult())
      return {};
    output = memref::ExpandShapeOp::create(
        builder, op->getLoc(), type, output,
        cast<memref::CollapseShapeOp>(op).getReassociationIndices(),
        getMixedValues(type.getShape(), alloc.getDynamicSizes(), builder));
  }
  return output;
}

void attn::writeOutputsInPlace(func::FuncOp function) {
  OpBuilder builder(function.getContext());
  Block &body = function.front();
  for (auto copy : llvm::make_early_inc_range(body.getOps<memref::CopyOp>())) {
    auto output = dyn_cast<BlockArgument>(copy.getTarget());
    SmallVector<Operation *> chain;
    memref::AllocOp alloc = getAllocation(copy.getSource(), chain);
    if (!output || !alloc || alloc->getBlock() != &body)
      continue;
    // An output with strides only where all users take them.
    if (!cast<MemRefType>(output.getType()).getLayout().isIdentity() &&
        (!chain.empty() ||
         !llvm::all_of(alloc->getUsers(),
                       llvm::IsaPred<CallOp, memref::CopyOp, memref::DimOp>)))
      continue;
    builder.setInsertionPoint(alloc);
    Value buffer = invertReshapes(builder, output, chain, alloc);
    if (!buffer)
      continue;
    copy.erase();
    alloc.getResult().replaceAllUsesWith(buffer);
    alloc.erase();
  }
}
