//===- Tensor.cpp - values of the reference evaluator -----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "attn/Reference/Tensor.h"

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <cassert>
#include <cstring>

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Shape and elements
//===----------------------------------------------------------------------===//

static int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

Tensor Tensor::zeros(Kind kind, ArrayRef<int64_t> shape) {
  Tensor result;
  result.kind = kind;
  result.shape.assign(shape.begin(), shape.end());
  if (kind == Kind::F64)
    result.numbers.resize(product(shape));
  else
    result.integers.resize(product(shape));
  return result;
}

Tensor Tensor::scalar(Kind kind, Scalar value) {
  Tensor result = zeros(kind, {});
  result.set(0, value);
  return result;
}

Tensor::Kind Tensor::kindOf(Type elementType) {
  if (isa<FloatType>(elementType))
    return Kind::F64;
  return elementType.isInteger(1) ? Kind::Bool : Kind::I64;
}

int64_t Tensor::numElements() const { return product(shape); }

int64_t Tensor::numRows() const {
  return product(ArrayRef<int64_t>(shape).drop_back());
}

int64_t Tensor::offset(ArrayRef<int64_t> indices) const {
  assert(contains(indices) && "index out of range");
  int64_t result = 0;
  for (auto [index, size] : llvm::zip(indices, shape))
    result = result * size + index;
  return result;
}

bool Tensor::contains(ArrayRef<int64_t> indices) const {
  if (indices.size() != shape.size())
    return false;
  for (auto [index, size] : llvm::zip(indices, shape))
    if (index < 0 || index >= size)
      return false;
  return true;
}

Scalar Tensor::get(int64_t offset) const {
  if (kind == Kind::F64)
    return {numbers[offset], 0};
  return {0.0, integers[offset]};
}

void Tensor::set(int64_t offset, Scalar value) {
  if (kind == Kind::F64)
    numbers[offset] = value.number;
  else
    integers[offset] = value.integer;
}

bool attn::nextIndices(MutableArrayRef<int64_t> indices,
                       ArrayRef<int64_t> shape) {
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (++indices[dim] < shape[dim])
      return true;
    indices[dim] = 0;
  }
  return false;
}

bool attn::hasElements(ArrayRef<int64_t> shape) {
  return !llvm::is_contained(shape, 0);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

static double toDouble(APFloat value) {
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

llvm::Expected<Tensor> attn::tensorOf(ElementsAttr elements) {
  ShapedType type = elements.getShapedType();
  Tensor result =
      Tensor::zeros(Tensor::kindOf(type.getElementType()), type.getShape());
  if (result.kind == Tensor::Kind::F64) {
    auto values = elements.tryGetValues<APFloat>();
    if (values) {
      for (auto [index, value] : llvm::enumerate(*values))
        result.numbers[index] = toDouble(value);
      return result;
    }
  } else {
    auto values = elements.tryGetValues<APInt>();
    if (values) {
      for (auto [index, value] : llvm::enumerate(*values))
        result.integers[index] = result.kind == Tensor::Kind::Bool
                                     ? value.getZExtValue()
                                     : value.getSExtValue();
      return result;
    }
  }
  return llvm::createStringError("expected a constant whose elements can be "
                                 "read, got a resource or an opaque one");
}

/// Converts elements one by one; `T` is how they are stored.
template <typename T, typename Out>
static void convert(ArrayRef<char> data, std::vector<Out> &out) {
  for (size_t index = 0; index < out.size(); ++index) {
    T value;
    std::memcpy(&value, data.data() + index * sizeof(T), sizeof(T));
    out[index] = static_cast<Out>(value);
  }
}

static void convertHalf(ArrayRef<char> data,
                        const llvm::fltSemantics &semantics,
                        std::vector<double> &out) {
  for (size_t index = 0; index < out.size(); ++index) {
    uint16_t bits;
    std::memcpy(&bits, data.data() + index * 2, 2);
    out[index] = toDouble(APFloat(semantics, APInt(16, bits)));
  }
}

llvm::Expected<Tensor> attn::tensorOf(RankedTensorType type,
                                      ArrayRef<char> data) {
  Type element = type.getElementType();
  Tensor result = Tensor::zeros(Tensor::kindOf(element), type.getShape());
  // i1 takes a byte.
  uint64_t bytes = element.isIntOrFloat()
                       ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)
                       : 0;
  if (data.size() != bytes * result.numElements())
    return llvm::createStringError(
        "expected " + llvm::Twine(bytes * result.numElements()) +
        " bytes of data, got " + llvm::Twine(data.size()));
  if (element.isF64())
    convert<double>(data, result.numbers);
  else if (element.isF32())
    convert<float>(data, result.numbers);
  else if (auto half = dyn_cast<FloatType>(element); half && bytes == 2)
    convertHalf(data, half.getFloatSemantics(), result.numbers);
  else if (element.isInteger(1))
    convert<uint8_t>(data, result.integers);
  else if (element.isInteger(8))
    convert<int8_t>(data, result.integers);
  else if (element.isInteger(16))
    convert<int16_t>(data, result.integers);
  else if (element.isInteger(32))
    convert<int32_t>(data, result.integers);
  else if (element.isInteger(64))
    convert<int64_t>(data, result.integers);
  else
    return llvm::createStringError(
        "expected elements of f16, bf16, f32, f64 or an integer type");
  return result;
}

Tensor attn::tensorOf(const NpyArray &array) {
  ArrayRef<char> data(reinterpret_cast<const char *>(array.data.data()),
                      array.data.size());
  auto make = [&](Tensor::Kind kind) {
    return Tensor::zeros(kind, array.shape);
  };
  Tensor result;
  switch (array.type) {
  case NpyType::F32:
    convert<float>(data, (result = make(Tensor::Kind::F64)).numbers);
    break;
  case NpyType::F64:
    convert<double>(data, (result = make(Tensor::Kind::F64)).numbers);
    break;
  case NpyType::F16:
    convertHalf(data, llvm::APFloat::IEEEhalf(),
                (result = make(Tensor::Kind::F64)).numbers);
    break;
  case NpyType::BF16:
    convertHalf(data, llvm::APFloat::BFloat(),
                (result = make(Tensor::Kind::F64)).numbers);
    break;
  case NpyType::I32:
    convert<int32_t>(data, (result = make(Tensor::Kind::I64)).integers);
    break;
  case NpyType::I64:
    convert<int64_t>(data, (result = make(Tensor::Kind::I64)).integers);
    break;
  case NpyType::Bool:
    convert<uint8_t>(data, (result = make(Tensor::Kind::Bool)).integers);
    break;
  case NpyType::U8:
    convert<uint8_t>(data, (result = make(Tensor::Kind::I64)).integers);
    break;
  }
  return result;
}

NpyArray attn::arrayOf(StringRef name, const Tensor &tensor) {
  NpyArray result;
  result.name = name.str();
  result.shape.assign(tensor.shape.begin(), tensor.shape.end());
  if (tensor.kind == Tensor::Kind::Bool) {
    result.type = NpyType::Bool;
    result.data.assign(tensor.integers.begin(), tensor.integers.end());
    return result;
  }
  bool isFloat = tensor.kind == Tensor::Kind::F64;
  result.type = isFloat ? NpyType::F64 : NpyType::I64;
  const void *data = isFloat ? static_cast<const void *>(tensor.numbers.data())
                             : tensor.integers.data();
  result.data.resize(tensor.numElements() * 8);
  std::memcpy(result.data.data(), data, result.data.size());
  return result;
}
