//===- Formula.cpp - scalar regions as programs -----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Formula.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace attn;
using namespace attn::reference;

llvm::Error reference::makeError(Operation *op, const llvm::Twine &message) {
  std::string where;
  llvm::raw_string_ostream(where) << op->getLoc();
  StringRef place = where;
  if (place.consume_front("loc("))
    place.consume_back(")");
  return llvm::createStringError(place + ": '" + op->getName().getStringRef() +
                                 "' " + message);
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

unsigned Formula::slotOf(Value value) {
  auto [entry, isNew] = slots.try_emplace(value, values.size());
  if (isNew)
    values.emplace_back();
  return entry->second;
}

void Formula::bind(Value value, TensorRef tensor) {
  if (isa<ShapedType>(value.getType()))
    tensors[value] = std::move(tensor);
  else
    values[slotOf(value)] = tensor->get(0);
}

/// The value of a scalar constant.
static std::optional<Scalar> getConstant(Operation &op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (!constant)
    return std::nullopt;
  if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
    return Scalar{number.getValueAsDouble(), 0};
  auto integer = dyn_cast<IntegerAttr>(constant.getValue());
  if (!integer)
    return std::nullopt;
  const APInt &bits = integer.getValue();
  return Scalar{0.0, bits.getBitWidth() == 1 ? int64_t(bits.getZExtValue())
                                             : bits.getSExtValue()};
}

llvm::Error Formula::add(Operation &op) {
  if (std::optional<Scalar> constant = getConstant(op)) {
    values[slotOf(op.getResult(0))] = *constant;
    return llvm::Error::success();
  }
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    auto tensor = tensors.find(dim.getSource());
    std::optional<int64_t> index = dim.getConstantIndex();
    if (tensor != tensors.end() && index && *index < tensor->second->rank()) {
      values[slotOf(dim)] = {0.0, tensor->second->size(*index)};
      return llvm::Error::success();
    }
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    llvm::Expected<Tensor> tensor =
        tensorOf(cast<ElementsAttr>(constant.getValue()));
    if (!tensor)
      return makeError(&op, llvm::toString(tensor.takeError()));
    tensors[constant] = std::make_shared<Tensor>(std::move(*tensor));
    return llvm::Error::success();
  }
  Step step{&op, {}, 0, nullptr, nullptr};
  ValueRange operands = op.getOperands();
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    // Only constants and what comes from outside are tensors inside a region.
    step.tensor = tensors.lookup(extract.getTensor());
    operands = extract.getIndices();
  } else if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    step.loop = index.getDim();
  } else {
    step.function = op.getNumResults() == 1 ? getScalarFunction(&op) : nullptr;
    if (!step.function)
      return makeError(&op, "is not evaluated inside a region: expected "
                            "element-wise arith, math or attn operations and "
                            "tensor.extract");
  }
  for (Value operand : operands)
    step.operands.push_back(slotOf(operand));
  step.result = slotOf(op.getResult(0));
  steps.push_back(std::move(step));
  return llvm::Error::success();
}

llvm::Expected<Formula> Formula::build(Region &region,
                                       ArrayRef<TensorRef> captures,
                                       ArrayRef<Value> outer,
                                       ArrayRef<TensorRef> outerTensors) {
  Formula formula;
  Block &block = region.front();
  for (BlockArgument argument : block.getArguments())
    formula.slotOf(argument);
  ArrayRef<BlockArgument> last =
      block.getArguments().take_back(captures.size());
  for (auto [argument, capture] : llvm::zip(last, captures))
    formula.bind(argument, capture);
  for (auto [value, tensor] : llvm::zip(outer, outerTensors))
    formula.bind(value, tensor);
  for (Operation &op : block.without_terminator())
    if (llvm::Error error = formula.add(op))
      return std::move(error);
  for (Value value : block.getTerminator()->getOperands())
    formula.yielded.push_back(formula.slotOf(value));
  formula.results.resize(formula.yielded.size());
  return std::move(formula);
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

Scalar Formula::extract(const Step &step, ArrayRef<Scalar> indices) {
  SmallVector<int64_t, 4> place;
  for (Scalar index : indices)
    place.push_back(index.integer);
  if (step.tensor->contains(place))
    return step.tensor->get(step.tensor->offset(place));
  if (problem.empty()) {
    llvm::raw_string_ostream text(problem);
    text << "expected indices inside a tensor of shape (";
    llvm::interleaveComma(step.tensor->shape, text);
    text << "), got (";
    llvm::interleaveComma(place, text);
    text << ")";
    problem = llvm::toString(makeError(step.op, problem));
  }
  return {};
}

ArrayRef<Scalar> Formula::runAll(ArrayRef<Scalar> leading) {
  // Arguments have the first slots, in order.
  std::copy(leading.begin(), leading.end(), values.begin());
  SmallVector<Scalar, 4> operands;
  for (const Step &step : steps) {
    operands.clear();
    for (unsigned operand : step.operands)
      operands.push_back(values[operand]);
    if (step.function)
      values[step.result] = step.function(operands);
    else if (step.tensor)
      values[step.result] = extract(step, operands);
    else
      values[step.result] = {0.0, position[step.loop]};
  }
  for (auto [result, slot] : llvm::zip(results, yielded))
    result = values[slot];
  return results;
}

llvm::Error Formula::takeError() {
  if (problem.empty())
    return llvm::Error::success();
  return llvm::createStringError(problem);
}
