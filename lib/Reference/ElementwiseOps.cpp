//===- ElementwiseOps.cpp - arith and math on tensors -----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The function of one element, for every element; and constants.
//
//===----------------------------------------------------------------------===//

#include "EvaluatorImpl.h"

using namespace mlir;
using namespace attn;
using namespace attn::reference;

static llvm::Expected<Tensor> evaluateConstant(arith::ConstantOp op) {
  Tensor::Kind kind = Tensor::kindOf(getElementTypeOrSelf(op.getType()));
  if (auto elements = dyn_cast<ElementsAttr>(op.getValue())) {
    llvm::Expected<Tensor> tensor = tensorOf(elements);
    if (!tensor)
      return makeError(op, llvm::toString(tensor.takeError()));
    return tensor;
  }
  if (auto number = dyn_cast<FloatAttr>(op.getValue()))
    return Tensor::scalar(kind, {number.getValueAsDouble(), 0});
  const APInt &bits = cast<IntegerAttr>(op.getValue()).getValue();
  return Tensor::scalar(kind, {0.0, kind == Tensor::Kind::Bool
                                        ? int64_t(bits.getZExtValue())
                                        : bits.getSExtValue()});
}

/// A scalar operand (the condition of a select) goes with every element.
static llvm::Expected<Tensor> evaluateElements(Operation *op,
                                               const ScalarFunction &function,
                                               Operands operands) {
  const Tensor *shaped = operands.front().get();
  for (const TensorRef &operand : operands)
    if (operand->rank() != 0)
      shaped = operand.get();
  for (const TensorRef &operand : operands)
    if (operand->rank() != 0 && operand->shape != shaped->shape)
      return makeError(op, "expected operands of equal sizes");
  Tensor result = Tensor::zeros(
      Tensor::kindOf(getElementTypeOrSelf(op->getResult(0).getType())),
      shaped->shape);
  SmallVector<Scalar, 4> elements(operands.size());
  for (int64_t index = 0; index < result.numElements(); ++index) {
    for (auto [element, operand] : llvm::zip(elements, operands))
      element = operand->get(operand->rank() == 0 ? 0 : index);
    result.set(index, function(elements));
  }
  return result;
}

FamilyResult reference::evaluateElementwiseOp(Operation *op,
                                              Operands operands) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  ScalarFunction function =
      constant || op->getNumResults() != 1 || operands.empty()
          ? nullptr
          : getScalarFunction(op);
  if (!constant && !function)
    return std::nullopt;
  return oneResult(constant ? evaluateConstant(constant)
                            : evaluateElements(op, function, operands));
}
