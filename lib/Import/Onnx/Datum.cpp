//===- Datum.cpp - a value of a graph during import -----------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Datum.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace mlir;

namespace attn::onnx {

//===----------------------------------------------------------------------===//
// Sizes and scalars
//===----------------------------------------------------------------------===//

std::optional<int64_t> numberOf(Size size) {
  if (auto attribute = dyn_cast<mlir::Attribute>(size))
    return cast<IntegerAttr>(attribute).getInt();
  return std::nullopt;
}

bool isEqual(Size a, Size b) {
  std::optional<int64_t> x = numberOf(a), y = numberOf(b);
  return x || y ? x == y : cast<mlir::Value>(a) == cast<mlir::Value>(b);
}

Scalar Scalar::ofSize(Size size) {
  if (std::optional<int64_t> number = numberOf(size))
    return ofInteger(*number);
  return {Kind::Size, 0, 0, cast<mlir::Value>(size)};
}

bool Datum::isStatic() const {
  return llvm::all_of(sizes, [](Size size) { return bool(numberOf(size)); });
}

llvm::SmallVector<int64_t, 4> Datum::shape() const {
  llvm::SmallVector<int64_t, 4> numbers;
  for (Size size : sizes)
    numbers.push_back(numberOf(size).value_or(-1));
  return numbers;
}

std::optional<int64_t> Datum::numElements() const {
  int64_t count = 1;
  for (Size size : sizes) {
    std::optional<int64_t> number = numberOf(size);
    if (!number || __builtin_mul_overflow(count, *number, &count))
      return std::nullopt;
  }
  return count;
}

std::optional<Scalar> Datum::splat() const {
  if (!known || known->empty())
    return std::nullopt;
  const Scalar &first = known->front();
  for (const Scalar &scalar : *known)
    // Bits, so that NaN is equal to itself and 0 not to -0.
    if (scalar.isSize() || scalar.kind != first.kind ||
        scalar.integer != first.integer ||
        memcmp(&scalar.number, &first.number, sizeof(double)) != 0)
      return std::nullopt;
  return first;
}

std::string describe(const Datum &datum) {
  if (datum.isList)
    return "a list of " + std::to_string(datum.parts.size());
  std::string text = elementTypeName(datum.element) + " (";
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(datum.sizes, stream, [&](Size size) {
    if (std::optional<int64_t> number = numberOf(size))
      stream << *number;
    else
      stream << '?';
  });
  stream << ')';
  return text;
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

bool isFloat(ElementType type) {
  return type == ElementType::Float || type == ElementType::Double ||
         isHalf(type);
}

bool isHalf(ElementType type) {
  return type == ElementType::Float16 || type == ElementType::BFloat16;
}

bool isUnsigned(ElementType type) {
  return type == ElementType::UInt8 || type == ElementType::UInt16 ||
         type == ElementType::UInt32 || type == ElementType::UInt64 ||
         type == ElementType::Bool;
}

bool isInteger(ElementType type) {
  return isUnsigned(type) || type == ElementType::Int8 ||
         type == ElementType::Int16 || type == ElementType::Int32 ||
         type == ElementType::Int64;
}

mlir::Type mlirType(ElementType type, MLIRContext *context) {
  Builder builder(context);
  switch (type) {
  case ElementType::Float:
    return builder.getF32Type();
  case ElementType::Double:
    return builder.getF64Type();
  case ElementType::Float16:
    return builder.getF16Type();
  case ElementType::BFloat16:
    return builder.getBF16Type();
  case ElementType::Float8E4M3FN:
    return Float8E4M3FNType::get(context);
  case ElementType::Float8E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case ElementType::Float8E5M2:
    return Float8E5M2Type::get(context);
  case ElementType::Float8E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  case ElementType::Float4E2M1:
    return Float4E2M1FNType::get(context);
  case ElementType::Bool:
    return builder.getI1Type();
  case ElementType::Int8:
  case ElementType::UInt8:
  case ElementType::Int16:
  case ElementType::UInt16:
  case ElementType::Int32:
  case ElementType::UInt32:
  case ElementType::Int64:
  case ElementType::UInt64:
    return builder.getIntegerType(elementTypeBits(type));
  default:
    return {};
  }
}

llvm::APFloat toAPFloat(FloatType type, double number) {
  llvm::APFloat value(number);
  bool losesInfo;
  value.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value;
}

double roundTo(ElementType type, double number) {
  if (type == ElementType::Double)
    return number;
  const llvm::fltSemantics &semantics =
      type == ElementType::Float16    ? llvm::APFloat::IEEEhalf()
      : type == ElementType::BFloat16 ? llvm::APFloat::BFloat()
                                      : llvm::APFloat::IEEEsingle();
  llvm::APFloat value(number);
  bool losesInfo;
  value.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

/// Element `i` as bits.
static uint64_t bitsAt(const Tensor &tensor, uint64_t i) {
  unsigned bytes = elementTypeBits(tensor.type) / 8;
  uint64_t bits = 0;
  memcpy(&bits, tensor.data.data() + i * bytes, bytes);
  return bits;
}

static double floatOf(ElementType type, uint64_t bits) {
  const llvm::fltSemantics &semantics =
      type == ElementType::Float      ? llvm::APFloat::IEEEsingle()
      : type == ElementType::Float16  ? llvm::APFloat::IEEEhalf()
      : type == ElementType::BFloat16 ? llvm::APFloat::BFloat()
                                      : llvm::APFloat::IEEEdouble();
  llvm::APFloat value(semantics, llvm::APInt(elementTypeBits(type), bits));
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

std::shared_ptr<const Scalars> readScalars(const Tensor &tensor) {
  bool isFloating = isFloat(tensor.type);
  if ((!isFloating && !isInteger(tensor.type)) ||
      tensor.numElements() > maxKnown)
    return nullptr;
  auto scalars = std::make_shared<Scalars>();
  unsigned width = elementTypeBits(tensor.type);
  for (uint64_t i = 0; i < tensor.numElements(); ++i) {
    uint64_t bits = bitsAt(tensor, i);
    if (isFloating)
      scalars->push_back(Scalar::ofFloat(floatOf(tensor.type, bits)));
    else if (tensor.type == ElementType::Bool)
      scalars->push_back(Scalar::ofInteger(bits != 0));
    else if (isUnsigned(tensor.type))
      scalars->push_back(Scalar::ofInteger(static_cast<int64_t>(bits)));
    else
      scalars->push_back(Scalar::ofInteger(llvm::SignExtend64(bits, width)));
  }
  return scalars;
}

} // namespace attn::onnx
