//===- LinalgBuilder.cpp - structured operations in a few words *- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "LinalgBuilder.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value ScalarBuilder::number(Type type, double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(type, value));
}

Value ScalarBuilder::minusInfinity(Type type) {
  return number(type, -std::numeric_limits<double>::infinity());
}

Value ScalarBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value ScalarBuilder::loop(unsigned number) {
  return linalg::IndexOp::create(builder, loc, number);
}

Value ScalarBuilder::add(Value a, Value b) {
  if (a.getType().isIndex())
    return builder.createOrFold<arith::AddIOp>(loc, a, b);
  return arith::AddFOp::create(builder, loc, a, b);
}

Value ScalarBuilder::subtract(Value a, Value b) {
  if (a.getType().isIndex())
    return builder.createOrFold<arith::SubIOp>(loc, a, b);
  return arith::SubFOp::create(builder, loc, a, b);
}

Value ScalarBuilder::multiply(Value a, Value b) {
  return arith::MulFOp::create(builder, loc, a, b);
}

Value ScalarBuilder::divide(Value a, Value b) {
  return arith::DivFOp::create(builder, loc, a, b);
}

Value ScalarBuilder::maximum(Value a, Value b) {
  return arith::MaximumFOp::create(builder, loc, a, b);
}

Value ScalarBuilder::minimum(Value a, Value b) {
  return builder.createOrFold<arith::MinSIOp>(loc, a, b);
}

Value ScalarBuilder::compare(arith::CmpFPredicate predicate, Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, predicate, a, b);
}

Value ScalarBuilder::isLess(Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
}

Value ScalarBuilder::both(Value a, Value b) {
  return arith::AndIOp::create(builder, loc, a, b);
}

Value ScalarBuilder::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}

Value ScalarBuilder::convert(Value value, Type type) {
  if (value.getType() == type)
    return value;
  unsigned from = value.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  // f16 and bf16 are of one width: the way leads through f32.
  if (from == to)
    return convert(convert(value, builder.getF32Type()), type);
  if (from < to)
    return arith::ExtFOp::create(builder, loc, type, value);
  return arith::TruncFOp::create(builder, loc, type, value);
}

Value ScalarBuilder::inlineFormula(Region &region, ValueRange leading,
                                   ValueRange captures) {
  Block &block = region.front();
  IRMapping mapping;
  mapping.map(block.getArguments().take_front(leading.size()), leading);
  mapping.map(block.getArguments().drop_front(leading.size()), captures);
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  return mapping.lookup(block.getTerminator()->getOperand(0));
}

//===----------------------------------------------------------------------===//
// Structured operations
//===----------------------------------------------------------------------===//

Value LinalgBuilder::empty(ArrayRef<OpFoldResult> sizes, Type element) {
  return tensor::EmptyOp::create(builder, loc, sizes, element);
}

Value LinalgBuilder::fill(ArrayRef<OpFoldResult> sizes, Value value) {
  return linalg::FillOp::create(builder, loc, value,
                                empty(sizes, value.getType()))
      .getResult(0);
}

SmallVector<OpFoldResult> LinalgBuilder::sizesOf(Value tensor) {
  return tensor::getMixedSizes(builder, loc, tensor);
}

Value LinalgBuilder::generic(unsigned numLoops, ArrayRef<LoopOperand> inputs,
                             const LoopOperand &output, Body body) {
  MLIRContext *context = builder.getContext();
  SmallVector<Value> tensors;
  SmallVector<AffineMap> maps;
  for (const LoopOperand &input : inputs) {
    tensors.push_back(input.tensor);
    maps.push_back(
        AffineMap::getMultiDimMapWithTargets(numLoops, input.loops, context));
  }
  maps.push_back(
      AffineMap::getMultiDimMapWithTargets(numLoops, output.loops, context));
  SmallVector<utils::IteratorType> iterators(numLoops,
                                             utils::IteratorType::reduction);
  for (unsigned loop : output.loops)
    iterators[loop] = utils::IteratorType::parallel;
  return linalg::GenericOp::create(
             builder, loc, output.tensor.getType(), tensors, output.tensor,
             maps, iterators,
             [&](OpBuilder &inner, Location at, ValueRange elements) {
               ScalarBuilder scalars{inner, at};
               linalg::YieldOp::create(inner, at, body(scalars, elements));
             })
      .getResult(0);
}

Value LinalgBuilder::map(ArrayRef<Value> inputs, ArrayRef<OpFoldResult> sizes,
                         Type element, Body body) {
  auto lastLoops = [&](int64_t rank) {
    return llvm::to_vector(
        llvm::seq<unsigned>(sizes.size() - rank, sizes.size()));
  };
  SmallVector<LoopOperand> operands;
  for (Value input : inputs)
    operands.push_back(
        {input, lastLoops(cast<RankedTensorType>(input.getType()).getRank())});
  return generic(sizes.size(), operands,
                 {empty(sizes, element), lastLoops(sizes.size())}, body);
}
