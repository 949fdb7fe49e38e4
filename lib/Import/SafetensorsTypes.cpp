//===- SafetensorsTypes.cpp - element types and their conversion ----------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Data of a file are not aligned, so elements are read byte-wise.
//
//===----------------------------------------------------------------------===//

#include "attn/Import/Safetensors.h"

#include "attn/Support/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace llvm;

namespace attn {

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

namespace {
struct TypeInfo {
  SafetensorsType type;
  StringLiteral name;
  unsigned bytes;
};
} // namespace

static constexpr TypeInfo types[] = {
    {SafetensorsType::Bool, "BOOL", 1},
    {SafetensorsType::U8, "U8", 1},
    {SafetensorsType::I8, "I8", 1},
    {SafetensorsType::F8E5M2, "F8_E5M2", 1},
    {SafetensorsType::F8E4M3, "F8_E4M3", 1},
    {SafetensorsType::I16, "I16", 2},
    {SafetensorsType::U16, "U16", 2},
    {SafetensorsType::F16, "F16", 2},
    {SafetensorsType::BF16, "BF16", 2},
    {SafetensorsType::I32, "I32", 4},
    {SafetensorsType::U32, "U32", 4},
    {SafetensorsType::F32, "F32", 4},
    {SafetensorsType::F64, "F64", 8},
    {SafetensorsType::I64, "I64", 8},
    {SafetensorsType::U64, "U64", 8},
};

static const TypeInfo &info(SafetensorsType type) {
  const TypeInfo &entry = types[static_cast<unsigned>(type)];
  assert(entry.type == type && "the table is in the order of the enum");
  return entry;
}

StringRef safetensorsTypeName(SafetensorsType type) { return info(type).name; }

uint64_t safetensorsTypeBytes(SafetensorsType type) { return info(type).bytes; }

std::optional<SafetensorsType> safetensorsTypeNamed(StringRef name) {
  for (const TypeInfo &entry : types)
    if (entry.name == name)
      return entry.type;
  return std::nullopt;
}

std::string safetensorsTypeNames() {
  return join(map_range(types, [](const TypeInfo &t) { return t.name.str(); }),
              ", ");
}

static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  raw_string_ostream stream(text);
  stream << '(';
  interleaveComma(shape, stream);
  stream << ')';
  return text;
}

std::string describe(const SafetensorsTensor &tensor) {
  return (safetensorsTypeName(tensor.type) + " " + shapeText(tensor.shape))
      .str();
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

static float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

static float halfToFloat(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16;
  uint32_t exponent = (half >> 10) & 0x1f;
  uint32_t mantissa = half & 0x3ff;
  if (exponent == 0x1f) // Infinity or NaN.
    return fromBits(sign | 0x7f800000 | mantissa << 13);
  if (exponent != 0)
    return fromBits(sign | (exponent + 112) << 23 | mantissa << 13);
  // Zero or subnormal: mantissa * 2^-24 is exact in f32.
  float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

Error readFloats(const SafetensorsFile &file, const SafetensorsTensor &tensor,
                 uint64_t first, MutableArrayRef<float> out) {
  uint64_t count = tensor.numElements();
  if (first > count || out.size() > count - first)
    return createStringError(inconvertibleErrorCode(),
                             file.path() + ": tensor " +
                                 quoteName(tensor.name) + ": expected " +
                                 Twine(first) + " + " + Twine(out.size()) +
                                 " elements, got " + Twine(count));
  const uint8_t *data = file.data(tensor).data();
  using namespace support::endian;
  for (auto [i, value] : enumerate(out)) {
    uint64_t element = first + i;
    switch (tensor.type) {
    case SafetensorsType::F32:
      value = fromBits(read32le(data + element * 4));
      break;
    case SafetensorsType::F16:
      value = halfToFloat(read16le(data + element * 2));
      break;
    case SafetensorsType::BF16:
      value = fromBits(uint32_t(read16le(data + element * 2)) << 16);
      break;
    case SafetensorsType::F64: {
      uint64_t bits = read64le(data + element * 8);
      double wide;
      std::memcpy(&wide, &bits, sizeof(wide));
      value = static_cast<float>(wide);
      break;
    }
    default:
      return createStringError(inconvertibleErrorCode(),
                               file.path() + ": tensor " +
                                   quoteName(tensor.name) +
                                   ": expected F16, BF16, F32 or F64 data, "
                                   "got " +
                                   safetensorsTypeName(tensor.type));
    }
  }
  return Error::success();
}

} // namespace attn
