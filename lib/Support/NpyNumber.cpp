//===- NpyNumber.cpp - elements of arrays as numbers ----------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// f16 and bf16 go through APFloat: not every compiler has types for them.
//
//===----------------------------------------------------------------------===//

#include "attn/Support/Npz.h"
#include "llvm/ADT/APFloat.h"

#include <cstring>

using namespace llvm;

namespace attn {

bool isNpyFloat(NpyType type) {
  return type == NpyType::F32 || type == NpyType::F64 || type == NpyType::F16 ||
         type == NpyType::BF16;
}

/// The semantics of a type of 16 bits.
static const fltSemantics &halfSemantics(NpyType type) {
  return type == NpyType::F16 ? APFloat::IEEEhalf() : APFloat::BFloat();
}

double npyRoundoff(NpyType type) {
  switch (type) {
  case NpyType::F64:
    return 0x1p-53;
  case NpyType::F32:
    return 0x1p-24;
  case NpyType::F16:
    return 0x1p-11;
  case NpyType::BF16:
    return 0x1p-8;
  default:
    return 0;
  }
}

template <typename Number>
static double load(const NpyArray &array, uint64_t i) {
  Number number;
  memcpy(&number, array.data.data() + i * sizeof(Number), sizeof(Number));
  return static_cast<double>(number);
}

double npyNumber(const NpyArray &array, uint64_t i) {
  switch (array.type) {
  case NpyType::F32:
    return load<float>(array, i);
  case NpyType::F64:
    return load<double>(array, i);
  case NpyType::I32:
    return load<int32_t>(array, i);
  case NpyType::I64:
    return load<int64_t>(array, i);
  case NpyType::Bool:
  case NpyType::U8:
    return load<uint8_t>(array, i);
  case NpyType::F16:
  case NpyType::BF16: {
    uint16_t bits;
    memcpy(&bits, array.data.data() + i * sizeof(bits), sizeof(bits));
    APFloat number(halfSemantics(array.type), APInt(16, bits));
    bool losesInfo;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    return number.convertToDouble();
  }
  }
  llvm_unreachable("all types are listed");
}

template <typename Number>
static void store(NpyArray &array, uint64_t i, double value) {
  Number number = static_cast<Number>(value);
  memcpy(array.data.data() + i * sizeof(Number), &number, sizeof(Number));
}

void setNpyNumber(NpyArray &array, uint64_t i, double value) {
  switch (array.type) {
  case NpyType::F32:
    return store<float>(array, i, value);
  case NpyType::F64:
    return store<double>(array, i, value);
  case NpyType::I32:
    return store<int32_t>(array, i, value);
  case NpyType::I64:
    return store<int64_t>(array, i, value);
  case NpyType::Bool:
  case NpyType::U8:
    return store<uint8_t>(array, i, value);
  case NpyType::F16:
  case NpyType::BF16: {
    APFloat number(value);
    bool losesInfo;
    number.convert(halfSemantics(array.type), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    auto bits =
        static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
    memcpy(array.data.data() + i * sizeof(bits), &bits, sizeof(bits));
    return;
  }
  }
  llvm_unreachable("all types are listed");
}

} // namespace attn
