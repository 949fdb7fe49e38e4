//===- BroadcastDims.cpp - how sizes of masks and biases meet --*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "BroadcastDims.h"
#include "DimClasses.h"

using namespace mlir;
using namespace attn;

FailureOr<BroadcastDims> BroadcastDims::compute(func::FuncOp func) {
  DimClasses classes;
  for (BlockArgument argument : func.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto dims = func.getArgAttrOfType<ArrayAttr>(index, "attn.dims");
    if (!dims || !isa<RankedTensorType>(argument.getType()))
      continue;
    for (auto [dim, name] : llvm::enumerate(dims.getAsRange<StringAttr>()))
      if (!name.empty() &&
          failed(classes.name(argument, dim, name.getValue(),
                              "argument " + Twine(index), func)))
        return failure();
  }
  if (failed(classes.unify(func)))
    return failure();
  BroadcastDims result;
  auto add = [&](OpOperand &operand, Value scores) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      return;
    int64_t skipped = 4 - type.getRank();
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (classes.areEqual(operand.get(), dim, scores, dim + skipped))
        result.exact.insert({{operand.getOwner(), operand.getOperandNumber()},
                             static_cast<unsigned>(dim)});
  };
  func.walk([&](Operation *op) {
    if (auto bias = dyn_cast<BiasOp>(op))
      add(bias.getBiasMutable(), bias.getScores());
    if (auto mask = dyn_cast<MaskOp>(op))
      for (auto [input, operand] :
           llvm::zip(getMaskInputs(mask.getRule()), mask.getInputsMutable()))
        if (isa<DenseMaskAttr>(input.rule))
          add(operand, mask.getScores());
  });
  return result;
}
