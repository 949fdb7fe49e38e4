//===- AttentionSizes.cpp - how long attention's sequences are -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "attn/Analysis/AttentionSizes.h"

#include "SizeReader.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace attn;

AttentionShape attn::getAttentionShape(AttentionOp op) {
  RankedTensorType query = op.getQuery().getType();
  int64_t queries = query.getDimSize(sequenceDim(op.getLayout()));
  bool isBrainProduct =
      llvm::all_of(ValueRange{op.getQuery(), op.getKey(), op.getValue()},
                   [](Value tensor) {
                     return getElementTypeOrSelf(tensor.getType()).isBF16();
                   }) &&
      op.getCombine().empty() && op.getValues().empty();
  return {query.getDimSize(3), op.getValue().getType().getDimSize(3),
          ShapedType::isDynamic(queries) ? -1 : queries, !op.getMask().empty(),
          isBrainProduct};
}

std::optional<MatrixBlocks> attn::getMatrixBlocks(FusedLinearOp op,
                                                  const TargetInfo &target) {
  RankedTensorType weight = op.getWeight().getType();
  // A weight of three dimensions is packed for vectors.
  if (weight.getRank() != 2 || !weight.getElementType().isBF16() ||
      !op.getInput().getType().getElementType().isBF16())
    return std::nullopt;
  return chooseMatrixBlocks(target, weight.getDimSize(1), weight.getDimSize(0));
}

/// What the types say, where no call says more.
static Shape staticShape(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  SmallVector<SizePolynomial> sizes;
  for (int64_t size : type.getShape())
    sizes.emplace_back(static_cast<double>(size));
  return sizes;
}

/// Sets the sizes of the attention in `kernel` for one call.
static void readCall(KernelOp kernel, CallOp call, const SizeReader &host,
                     AttentionUse &use) {
  SizeReader inside;
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    Value input = call ? call.getInputs()[argument.getArgNumber()] : Value();
    Shape shape = input ? host.shape(input) : Shape();
    inside.setShape(argument, shape ? shape : staticShape(argument));
    if (input)
      inside.setIndex(argument, host.index(input));
  }
  for (Operation &op : kernel.getBody().front()) {
    if (&op == use.op.getOperation())
      break;
    inside.visit(op);
  }
  auto sequence = [&](Value tensor) -> Size {
    Shape shape = inside.shape(tensor);
    int64_t dim = sequenceDim(use.op.getLayout());
    auto type = cast<RankedTensorType>(tensor.getType());
    if (shape)
      return (*shape)[dim];
    if (!type.isDynamicDim(dim))
      return SizePolynomial(static_cast<double>(type.getDimSize(dim)));
    return std::nullopt;
  };
  use.queries = sequence(use.op.getQuery());
  use.keys = sequence(use.op.getKey());
}

std::vector<AttentionUse> attn::findAttentions(ModuleOp module) {
  // Variants of a model do the same work.
  for (auto variant : module.getOps<ModuleOp>())
    return findAttentions(variant);
  std::vector<AttentionUse> uses;
  llvm::StringMap<size_t> numbers;
  for (auto kernel : module.getOps<KernelOp>())
    kernel.walk([&](AttentionOp op) {
      numbers.try_emplace(kernel.getSymName(), uses.size());
      uses.push_back({kernel, op, 0, {}, {}});
      readCall(kernel, CallOp(), SizeReader(), uses.back());
    });
  forEachCall(module, [&](CallOp call, const SizeReader &reader) {
    auto known = numbers.find(call.getCallee());
    if (known == numbers.end())
      return;
    AttentionUse &use = uses[known->second];
    if (use.calls++ == 0)
      readCall(use.kernel, call, reader, use);
  });
  return uses;
}
