//===- Fold.cpp - element-wise operators on known elements ----------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Integers wrap around at the width of their type; floats are computed in f64
// and rounded to their type, which is the same as computing them in it for the
// operations here. Sizes can be added, subtracted, multiplied and divided, and
// are 0 or more.
//
//===----------------------------------------------------------------------===//

#include "ElementOps.h"

#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace attn::onnx {

/// A number as the type holds it.
static int64_t wrap(ElementType type, uint64_t value) {
  unsigned width = type == ElementType::Bool ? 1 : elementTypeBits(type);
  if (width >= 64)
    return static_cast<int64_t>(value);
  if (isUnsigned(type))
    return static_cast<int64_t>(value &
                                llvm::maskTrailingOnes<uint64_t>(width));
  return llvm::SignExtend64(value, width);
}

static std::optional<Scalar> foldFloats(ElementOp op, ElementType type,
                                        ArrayRef<Scalar> in) {
  double a = in[0].number, b = in.size() > 1 ? in[1].number : 0;
  auto number = [&](double value) {
    return Scalar::ofFloat(roundTo(type, value));
  };
  auto truth = [](bool value) { return Scalar::ofInteger(value); };
  switch (op) {
  case ElementOp::Abs:
    return number(std::fabs(a));
  case ElementOp::Add:
    return number(a + b);
  case ElementOp::Ceil:
    return number(std::ceil(a));
  case ElementOp::Div:
    return number(a / b);
  case ElementOp::Equal:
    return truth(a == b);
  case ElementOp::Floor:
    return number(std::floor(a));
  case ElementOp::Greater:
    return truth(a > b);
  case ElementOp::GreaterOrEqual:
    return truth(a >= b);
  case ElementOp::IsNaN:
    return truth(std::isnan(a));
  case ElementOp::Less:
    return truth(a < b);
  case ElementOp::LessOrEqual:
    return truth(a <= b);
  case ElementOp::Max:
    return number(std::isnan(a) || a > b ? a : b);
  case ElementOp::Min:
    return number(std::isnan(a) || a < b ? a : b);
  case ElementOp::Mul:
    return number(a * b);
  case ElementOp::Neg:
    return number(-a);
  case ElementOp::Reciprocal:
    return number(1 / a);
  case ElementOp::Relu:
    return number(std::isnan(a) || a > 0 ? a : 0);
  case ElementOp::Round:
    return number(std::nearbyint(a));
  case ElementOp::Sqrt:
    return number(std::sqrt(a));
  case ElementOp::Sub:
    return number(a - b);
  default: // Nothing that shapes are computed with.
    return std::nullopt;
  }
}

static std::optional<Scalar> foldIntegers(ElementOp op, ElementType type,
                                          ArrayRef<Scalar> in) {
  int64_t a = in[0].integer, b = in.size() > 1 ? in[1].integer : 0;
  auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  bool isLess = isUnsigned(type) ? x < y : a < b;
  auto integer = [&](uint64_t value) {
    return Scalar::ofInteger(wrap(type, value));
  };
  auto truth = [](bool value) { return Scalar::ofInteger(value); };
  switch (op) {
  case ElementOp::Abs:
    return integer(!isUnsigned(type) && a < 0 ? -x : x);
  case ElementOp::Add:
    return integer(x + y);
  case ElementOp::And:
    return integer(x & y);
  case ElementOp::Div:
    if (y == 0)
      return integer(0);
    if (isUnsigned(type))
      return integer(x / y);
    return integer(b == -1 ? -x : static_cast<uint64_t>(a / b));
  case ElementOp::Equal:
    return truth(a == b);
  case ElementOp::Greater:
    return truth(!isLess && a != b);
  case ElementOp::GreaterOrEqual:
    return truth(!isLess);
  case ElementOp::Less:
    return truth(isLess);
  case ElementOp::LessOrEqual:
    return truth(isLess || a == b);
  case ElementOp::Max:
    return integer(isLess ? y : x);
  case ElementOp::Min:
    return integer(isLess ? x : y);
  case ElementOp::Mul:
    return integer(x * y);
  case ElementOp::Neg:
    return integer(-x);
  case ElementOp::Not:
    return integer(x ^ 1);
  case ElementOp::Or:
    return integer(x | y);
  case ElementOp::Relu:
    return integer(a < 0 ? 0 : x);
  case ElementOp::Sign:
    return integer(a == 0 ? 0 : isUnsigned(type) || a > 0 ? 1 : -1);
  case ElementOp::Sub:
    return integer(x - y);
  case ElementOp::Xor:
    return integer(x ^ y);
  default:
    return std::nullopt;
  }
}

/// Whether the size is a product of sizes of tensors.
static bool isNeverNegative(Size size) {
  Factors factors = factorsOf(size);
  return factors.number >= 0 &&
         llvm::all_of(factors.values, [](mlir::Value value) {
           return isa_and_present<DimSizeOp, tensor::DimOp>(
               value.getDefiningOp());
         });
}

/// Sizes are compared with numbers only where the outcome is sure.
static std::optional<Scalar> foldSizes(NodeImport &node, ElementOp op,
                                       ArrayRef<Scalar> in) {
  if (in.size() != 2 || in[0].kind == Scalar::Kind::Float ||
      in[1].kind == Scalar::Kind::Float)
    return std::nullopt;
  auto sizeAt = [&](unsigned i) -> Size {
    return in[i].isSize() ? Size(in[i].size) : sizeOf(node, in[i].integer);
  };
  bool isSame = in[0].isSize() && in[1].isSize() && in[0].size == in[1].size;
  bool isNegative = (!in[0].isSize() && in[0].integer < 0) ||
                    (!in[1].isSize() && in[1].integer < 0);
  switch (op) {
  case ElementOp::Add:
    return Scalar::ofSize(add(node, sizeAt(0), sizeAt(1)));
  case ElementOp::Sub:
    return Scalar::ofSize(subtract(node, sizeAt(0), sizeAt(1)));
  case ElementOp::Mul:
    return Scalar::ofSize(multiply(node, sizeAt(0), sizeAt(1)));
  case ElementOp::Div:
    if (isNegative)
      return std::nullopt;
    return Scalar::ofSize(divide(node, sizeAt(0), sizeAt(1)));
  case ElementOp::Equal:
    // Shapes are compared with -1, which says "infer" or "keep".
    if (isSame || (isNegative &&
                   (isNeverNegative(sizeAt(0)) || isNeverNegative(sizeAt(1)))))
      return Scalar::ofInteger(isSame);
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

std::optional<Scalar> foldElement(NodeImport &node, ElementOp op,
                                  ElementType type, ArrayRef<Scalar> elements) {
  if (op == ElementOp::Where) {
    if (elements[0].isSize())
      return std::nullopt;
    return elements[elements[0].integer ? 1 : 2];
  }
  for (const Scalar &element : elements)
    if (element.isSize())
      return foldSizes(node, op, elements);
  return isFloat(type) ? foldFloats(op, type, elements)
                       : foldIntegers(op, type, elements);
}

std::optional<Scalar> foldCast(ElementType from, ElementType to,
                               const Scalar &element) {
  if (element.isSize()) {
    // 64 bits hold any size, and 32 any that a tensor has.
    if (to == ElementType::Int64 || to == ElementType::Int32)
      return element;
    return std::nullopt;
  }
  if (element.kind == Scalar::Kind::Float) {
    double value = element.number;
    if (isFloat(to))
      return Scalar::ofFloat(roundTo(to, value));
    if (to == ElementType::Bool)
      return Scalar::ofInteger(value != 0);
    if (!isInteger(to) || !(std::fabs(value) < 0x1p53))
      return std::nullopt;
    auto integer = static_cast<int64_t>(value);
    if (wrap(to, static_cast<uint64_t>(integer)) != integer)
      return std::nullopt; // Left to the code that saturates.
    return Scalar::ofInteger(integer);
  }
  if (isFloat(to)) {
    // Beyond 2^53 a number would be rounded twice.
    if (element.integer > int64_t(1) << 53 ||
        element.integer < -(int64_t(1) << 53))
      return std::nullopt;
    double value =
        isUnsigned(from)
            ? static_cast<double>(static_cast<uint64_t>(element.integer))
            : static_cast<double>(element.integer);
    return Scalar::ofFloat(roundTo(to, value));
  }
  if (to == ElementType::Bool)
    return Scalar::ofInteger(element.integer != 0);
  if (!isInteger(to))
    return std::nullopt;
  return Scalar::ofInteger(wrap(to, static_cast<uint64_t>(element.integer)));
}

} // namespace attn::onnx
