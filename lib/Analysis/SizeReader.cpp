//===- SizeReader.cpp - sizes of values as formulas of dims ----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Sizes are sums and products of dims nearly everywhere. Another operation on
// indices folds itself where its operands are constants.
//
//===----------------------------------------------------------------------===//

#include "SizeReader.h"

#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

static Size limited(SizePolynomial size) {
  return size.getNumTerms() <= 64 && size.getDegree() <= 32
             ? Size(std::move(size))
             : std::nullopt;
}

Size attn::add(const Size &a, const Size &b) {
  return a && b ? limited(*a + *b) : std::nullopt;
}

Size attn::multiply(const Size &a, const Size &b) {
  return a && b ? limited(*a * *b) : std::nullopt;
}

Size attn::product(ArrayRef<SizePolynomial> sizes) {
  Size result = SizePolynomial(1);
  for (const SizePolynomial &size : sizes)
    result = multiply(result, size);
  return result;
}

static Size constant(int64_t value) {
  return SizePolynomial(static_cast<double>(value));
}

void SizeReader::visit(Operation &op) {
  for (OpResult result : op.getResults()) {
    if (isa<RankedTensorType>(result.getType()))
      setShape(result, readShape(result));
    else if (result.getType().isIndex() && op.getNumResults() == 1)
      setIndex(result, readIndex(op));
  }
}

/// A dim, or its value where the range has only one.
SizePolynomial attn::sizeOfDim(Operation *from, StringAttr name) {
  auto dim = SymbolTable::lookupNearestSymbolFrom<DimOp>(from, name);
  if (dim && dim.getMin() == dim.getMax())
    return static_cast<double>(dim.getMin());
  return SizePolynomial::dim(name.getValue());
}

/// The value of an operation all of whose operands are constants.
Size SizeReader::fold(Operation &op) const {
  SmallVector<Attribute> operands;
  for (Value operand : op.getOperands()) {
    Size size = index(operand);
    std::optional<double> value = size ? size->constant() : std::nullopt;
    // Further away, doubles are not all integers.
    if (!value || std::abs(*value) > 0x1p53)
      return std::nullopt;
    operands.push_back(IntegerAttr::get(IndexType::get(op.getContext()),
                                        static_cast<int64_t>(*value)));
  }
  SmallVector<OpFoldResult> results;
  if (failed(op.fold(operands, results)) || results.size() != 1)
    return std::nullopt;
  auto integer =
      dyn_cast_or_null<IntegerAttr>(dyn_cast<Attribute>(results.front()));
  return integer ? constant(integer.getInt()) : std::nullopt;
}

Size SizeReader::readIndex(Operation &op) const {
  APInt value;
  if (matchPattern(&op, m_ConstantInt(&value)))
    return constant(value.getSExtValue());
  return llvm::TypeSwitch<Operation *, Size>(&op)
      .Case([&](DimSizeOp size) {
        return sizeOfDim(&op, size.getDimAttr().getAttr());
      })
      .Case([&](tensor::DimOp size) -> Size {
        std::optional<int64_t> position = size.getConstantIndex();
        Shape source = shape(size.getSource());
        if (!position || !source || *position < 0 ||
            *position >= static_cast<int64_t>(source->size()))
          return std::nullopt;
        return (*source)[*position];
      })
      .Case([&](arith::AddIOp sum) {
        return add(index(sum.getLhs()), index(sum.getRhs()));
      })
      .Case([&](arith::MulIOp product) {
        return multiply(index(product.getLhs()), index(product.getRhs()));
      })
      .Default([&](Operation *) { return fold(op); });
}

Shape SizeReader::sizes(ArrayRef<OpFoldResult> values) const {
  SmallVector<SizePolynomial> result;
  for (OpFoldResult value : values) {
    auto attribute = dyn_cast<Attribute>(value);
    Size size = attribute ? constant(cast<IntegerAttr>(attribute).getInt())
                          : index(cast<Value>(value));
    if (!size)
      return std::nullopt;
    result.push_back(*size);
  }
  return result;
}

Shape SizeReader::shape(Value tensor) const {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (type && type.hasStaticShape())
    return llvm::map_to_vector(type.getShape(), [](int64_t size) {
      return SizePolynomial(static_cast<double>(size));
    });
  return shapes.lookup(tensor);
}

Shape SizeReader::readShape(OpResult tensor) const {
  return llvm::TypeSwitch<Operation *, Shape>(tensor.getOwner())
      .Case([&](tensor::EmptyOp empty) { return sizes(empty.getMixedSizes()); })
      .Case([&](tensor::CastOp cast) { return shape(cast.getSource()); })
      .Case([&](tensor::ExpandShapeOp expand) {
        return sizes(expand.getMixedOutputShape());
      })
      .Case([&](tensor::CollapseShapeOp collapse) -> Shape {
        Shape source = shape(collapse.getSrc());
        SmallVector<SizePolynomial> result;
        for (const auto &group : collapse.getReassociationIndices()) {
          Size size = source ? product(ArrayRef(*source).slice(group.front(),
                                                               group.size()))
                             : std::nullopt;
          if (!size)
            return std::nullopt;
          result.push_back(*size);
        }
        return result;
      })
      .Case([&](tensor::ExtractSliceOp slice) -> Shape {
        Shape all = sizes(slice.getMixedSizes());
        if (!all)
          return std::nullopt;
        llvm::SmallBitVector dropped = slice.getDroppedDims();
        SmallVector<SizePolynomial> result;
        for (auto [i, size] : llvm::enumerate(*all))
          if (!dropped[i])
            result.push_back(size);
        return result;
      })
      .Case([&](EmbeddingOp embedding) -> Shape {
        Shape ids = shape(embedding.getIds());
        Shape table = shape(embedding.getTable());
        if (!ids || !table)
          return std::nullopt;
        ids->push_back(table->back());
        return ids;
      })
      .Case([&](PoolOp pool) -> Shape {
        // (batch, sequence, channels) to (batch, channels)
        Shape input = shape(pool.getInput());
        if (!input || input->size() != 3)
          return std::nullopt;
        input->erase(input->begin() + 1);
        return input;
      })
      .Case([&](FusedLinearOp linear) -> Shape {
        Shape input = shape(linear.getInput());
        if (!input)
          return std::nullopt;
        int64_t outputs = linear.getResult().getType().getDimSize(1);
        input->back() = static_cast<double>(outputs);
        return input;
      })
      // A result for each element, or each row, of the input.
      .Case<LayerNormOp, RmsNormOp, L2NormalizeOp, LearnedPositionsOp,
            SinusoidalOp, RotaryOp, SoftmaxOp>(
          [&](Operation *op) { return shape(op->getOperand(0)); })
      .Case([&](DestinationStyleOpInterface written) {
        return shape(
            written.getDpsInitOperand(tensor.getResultNumber())->get());
      })
      .Default([&](Operation *op) -> Shape {
        if (!op->hasTrait<OpTrait::Elementwise>())
          return std::nullopt;
        for (Value operand : op->getOperands())
          if (Shape known = shape(operand))
            return known;
        return std::nullopt;
      });
}

SizeReader SizeReader::ofEntry(func::FuncOp entry) {
  SizeReader reader;
  for (BlockArgument argument : entry.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    auto names =
        entry.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "attn.dims");
    SmallVector<SizePolynomial> sizes;
    for (auto [i, size] : llvm::enumerate(type.getShape())) {
      auto name = names ? cast<StringAttr>(names[i]) : StringAttr();
      if (!ShapedType::isDynamic(size))
        sizes.push_back(static_cast<double>(size));
      else if (name && !name.empty())
        sizes.push_back(sizeOfDim(entry, name));
    }
    if (static_cast<int64_t>(sizes.size()) == type.getRank())
      reader.setShape(argument, sizes);
  }
  return reader;
}

void attn::forEachCall(
    ModuleOp module,
    llvm::function_ref<void(CallOp call, const SizeReader &reader)> visit) {
  for (auto entry : module.getOps<func::FuncOp>()) {
    if (!entry.isPublic() || entry.isExternal())
      continue;
    SizeReader reader = SizeReader::ofEntry(entry);
    for (Operation &op : entry.front()) {
      reader.visit(op);
      if (auto call = dyn_cast<CallOp>(op))
        visit(call, reader);
    }
    return;
  }
}
