//===- NpyElements.cpp - elements of arrays as numbers --------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Floats of any width go through LLVM's APFloat, which knows their formats.
//
//===----------------------------------------------------------------------===//

#include "attn/Support/Npz.h"

#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <cstring>

using namespace llvm;

namespace attn {

/// The format of a floating-point type, null for the others.
static const fltSemantics *semanticsOf(NpyType type) {
  switch (type) {
  case NpyType::F32:
    return &APFloat::IEEEsingle();
  case NpyType::F64:
    return &APFloat::IEEEdouble();
  case NpyType::F16:
    return &APFloat::IEEEhalf();
  case NpyType::BF16:
    return &APFloat::BFloat();
  case NpyType::F8E4M3FN:
    return &APFloat::Float8E4M3FN();
  case NpyType::F8E4M3FNUZ:
    return &APFloat::Float8E4M3FNUZ();
  case NpyType::F8E5M2:
    return &APFloat::Float8E5M2();
  case NpyType::F8E5M2FNUZ:
    return &APFloat::Float8E5M2FNUZ();
  case NpyType::F4E2M1FN:
    return &APFloat::Float4E2M1FN();
  default:
    return nullptr;
  }
}

bool isFloat(NpyType type) { return semanticsOf(type) != nullptr; }

double npyRoundoff(NpyType type) {
  return std::ldexp(
      1.0, -static_cast<int>(APFloat::semanticsPrecision(*semanticsOf(type))));
}

double npyElement(const NpyArray &array, uint64_t i) {
  uint64_t bytes = npyTypeBytes(array.type), bits = 0;
  memcpy(&bits, array.data.data() + i * bytes, bytes);
  if (array.type == NpyType::F64) {
    double number;
    memcpy(&number, &bits, sizeof(number));
    return number;
  }
  if (array.type == NpyType::F32) {
    float number;
    memcpy(&number, &bits, sizeof(number));
    return number;
  }
  if (const fltSemantics *semantics = semanticsOf(array.type)) {
    unsigned width = APFloat::semanticsSizeInBits(*semantics);
    APFloat number(*semantics, APInt(width, bits, /*isSigned=*/false,
                                     /*implicitTrunc=*/true));
    bool losesInfo;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    return number.convertToDouble();
  }
  if (array.type == NpyType::Bool || array.type == NpyType::U8)
    return static_cast<double>(bits);
  return static_cast<double>(
      SignExtend64(bits, static_cast<unsigned>(8 * bytes)));
}

void setNpyElement(NpyArray &array, uint64_t i, double value) {
  uint64_t bytes = npyTypeBytes(array.type), bits;
  if (const fltSemantics *semantics = semanticsOf(array.type)) {
    APFloat number(value);
    bool losesInfo;
    number.convert(*semantics, APFloat::rmNearestTiesToEven, &losesInfo);
    bits = number.bitcastToAPInt().getZExtValue();
  } else {
    bits = static_cast<uint64_t>(static_cast<int64_t>(value));
  }
  memcpy(array.data.data() + i * bytes, &bits, bytes);
}

} // namespace attn
