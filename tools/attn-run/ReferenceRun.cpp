//===- ReferenceRun.cpp - what the outputs should be ----------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See ReferenceRun.h.
//
//===----------------------------------------------------------------------===//

#include "ReferenceRun.h"

#include "Progress.h"
#include "attn/Reference/Evaluator.h"
#include "attn/Target/Host/WeightResolver.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace attn::run {

Expected<std::vector<NpyArray>> runReference(Model &model,
                                             const Interface &interface,
                                             const Case &testCase,
                                             bool isPlain) {
  Progress progress("evaluating the reference");
  SmallVector<Tensor> inputs;
  for (const NpyArray &array : testCase.inputs)
    inputs.push_back(tensorOf(array));
  WeightResolver weights(model.module(), model.folder());
  EvaluatorOptions options;
  options.isPlain = isPlain;
  // The rest is for the system, the inputs and what a value is copied from.
  options.maxBytes = memoryOfMachine() / 2;
  options.readSource = [&](WeightOp weight) -> Expected<Tensor> {
    mlir::FailureOr<std::vector<char>> data = weights.materialize(weight);
    if (failed(data))
      return createStringError(inconvertibleErrorCode(),
                               "cannot read weight " + weight.getSymName());
    return tensorOf(cast<mlir::RankedTensorType>(weight.getType()), *data);
  };
  Expected<SmallVector<Tensor>> outputs =
      evaluate(model.module(), inputs, options);
  if (!outputs)
    return outputs.takeError();
  std::vector<NpyArray> arrays;
  for (auto [info, output] : zip(interface.outputs, *outputs))
    arrays.push_back(arrayOf(info.name, output));
  return arrays;
}

NpyArray convertTo(NpyType type, const NpyArray &array) {
  if (!isFloat(type) || array.type != NpyType::F64)
    return array;
  NpyArray result = array;
  result.type = type;
  result.data.resize(array.numElements() * npyTypeBytes(type));
  for (uint64_t i = 0; i < array.numElements(); ++i)
    setNpyElement(result, i, npyElement(array, i));
  return result;
}

} // namespace attn::run
