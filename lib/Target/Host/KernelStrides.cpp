//===- KernelStrides.cpp - which operands a kernel reads strided *- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The answer is read off the kernel's body, so that it stays right when a user
// edits the tiled text: an argument that anything but a tile load, a product's
// rows or a size query touches must be dense.
//
//===----------------------------------------------------------------------===//

#include "KernelStrides.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

bool attn::takesStrides(KernelOp kernel, unsigned argument) {
  if (kernel.getBody().empty())
    return false;
  auto isStrided = [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto load = dyn_cast<TileLoadOp>(user))
      return load.getTensor() == use.get();
    if (auto linear = dyn_cast<FusedLinearOp>(user))
      return use.getOperandNumber() == 0;
    return isa<tensor::DimOp>(user);
  };
  return llvm::all_of(kernel.getBody().getArgument(argument).getUses(),
                      isStrided);
}

bool attn::givesStrides(KernelOp kernel, unsigned number) {
  if (kernel.getBody().empty())
    return false;
  Value value = kernel.getBody().front().getTerminator()->getOperand(number);
  auto loop = value.getDefiningOp<scf::ForallOp>();
  if (!loop)
    return false;
  // The attention result; its log-sum-exp is a tensor of rank 3 without an
  // innermost dimension of head channels.
  return cast<RankedTensorType>(value.getType()).getRank() == 4;
}

static KernelOp getKernel(CallOp call) {
  return SymbolTable::lookupNearestSymbolFrom<KernelOp>(call,
                                                        call.getCalleeAttr());
}

static bool isStridedUse(OpOperand &use) {
  auto call = dyn_cast<CallOp>(use.getOwner());
  if (!call)
    return isa<tensor::DimOp, func::ReturnOp>(use.getOwner());
  KernelOp kernel = getKernel(call);
  return kernel && use.getOperandNumber() < call.getInputs().size() &&
         takesStrides(kernel, use.getOperandNumber());
}

bool attn::takesStrides(Value value) {
  return !value.use_empty() && llvm::all_of(value.getUses(), isStridedUse) &&
         llvm::any_of(value.getUsers(), llvm::IsaPred<CallOp>);
}

bool attn::givesStrides(Value value) {
  auto call = value.getDefiningOp<CallOp>();
  if (!call)
    return false;
  KernelOp kernel = getKernel(call);
  return kernel &&
         givesStrides(kernel, cast<OpResult>(value).getResultNumber()) &&
         llvm::all_of(value.getUses(), isStridedUse);
}
