//===- Weights.cpp - the data of weights, by their recipes ------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Recipes are made here a second time, whole tensors at once, so that the
// streaming of the weights file has something to be compared with.
//
//===----------------------------------------------------------------------===//

#include "EvaluatorImpl.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace attn;
using namespace attn::reference;

static llvm::Expected<Tensor> lookup(WeightOp weight, FlatSymbolRefAttr name,
                                     const EvaluatorOptions &options) {
  auto part = SymbolTable::lookupNearestSymbolFrom<WeightOp>(weight, name);
  if (!part)
    return makeError(weight, "expected the name of an attn.weight, got @" +
                                 name.getValue());
  return evaluateWeight(part, options);
}

/// Whole blocks of the sizes from the axis on, part by part.
static llvm::Expected<Tensor> concatenate(WeightOp weight, ConcatAttr concat,
                                          const EvaluatorOptions &options) {
  auto type = cast<RankedTensorType>(weight.getType());
  SmallVector<Tensor> parts;
  for (FlatSymbolRefAttr name : concat.getWeights()) {
    llvm::Expected<Tensor> part = lookup(weight, name, options);
    if (!part)
      return part.takeError();
    parts.push_back(std::move(*part));
  }
  Tensor result =
      Tensor::zeros(Tensor::kindOf(type.getElementType()), type.getShape());
  int64_t blocks = 1;
  for (int64_t dim = 0; dim < concat.getAxis(); ++dim)
    blocks *= type.getDimSize(dim);
  int64_t next = 0;
  for (int64_t block = 0; block < blocks; ++block)
    for (const Tensor &part : parts) {
      int64_t size = part.numElements() / blocks;
      for (int64_t index = 0; index < size; ++index)
        result.set(next++, part.get(block * size + index));
    }
  return result;
}

llvm::Expected<Tensor>
reference::evaluateWeight(WeightOp weight, const EvaluatorOptions &options) {
  Attribute recipe = weight.getRecipe();
  if (auto value = dyn_cast<ValueAttr>(recipe)) {
    llvm::Expected<Tensor> tensor = tensorOf(value.getElements());
    if (!tensor)
      return makeError(weight, llvm::toString(tensor.takeError()));
    return tensor;
  }
  if (auto concat = dyn_cast<ConcatAttr>(recipe))
    return concatenate(weight, concat, options);
  if (auto pack = dyn_cast<PackAttr>(recipe)) {
    llvm::Expected<Tensor> part = lookup(weight, pack.getWeight(), options);
    if (!part)
      return part.takeError();
    return packWeight(*part, pack.getPanel());
  }
  if (!options.readSource)
    return makeError(weight, "expected a way to read files (because the weight "
                             "comes from one), got none");
  llvm::Expected<Tensor> tensor = options.readSource(weight);
  auto type = cast<RankedTensorType>(weight.getType());
  if (tensor && ArrayRef<int64_t>(tensor->shape) != type.getShape())
    return makeError(weight, "expected data of the weight's shape");
  return tensor;
}
