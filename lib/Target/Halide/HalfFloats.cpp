//===- HalfFloats.cpp - floats of 16 bits in kernels -----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// bf16 is the upper half of an f32. f16 has other exponents: where the CPU has
// no instruction, the bits go to the place of an f32's and one product or sum,
// which fast-math must leave as it is, does the rest, for denormal numbers too.
//
//===----------------------------------------------------------------------===//
#include "HalfFloats.h"
#include "Math.h"

#include "attn-c/cpu.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace attn;
using Halide::Expr;

bool attn::isHalfFloat(mlir::Type type) {
  return type.isF16() || type.isBF16();
}

HalfFloats::HalfFloats(const TargetInfo &target)
    : hasConversion(target.isGpu() ? target.api == DeviceApi::Cuda ||
                                         target.api == DeviceApi::Metal
                                   : target.cpuFeatures & ATTN_CPU_F16C),
      isGpu(target.isGpu()) {}

static Expr bitsOf(const Expr &number) {
  return Halide::reinterpret(Halide::Int(32), number);
}

static Expr numberOf(const Expr &bits) {
  return Halide::reinterpret(Halide::Float(32), bits);
}

/// 2^112, the quotient of the units of exponents of f32 and f16.
static constexpr float kExponentUnits = 0x1p112f;

static Expr widenHalf(const Expr &stored) {
  // Unsigned: of signed numbers Halide takes it that none is shifted into its
  // sign.
  Expr all = Halide::cast<uint32_t>(stored), size = all & 0x7fff;
  Expr placed = size << 13;
  Expr number = Halide::reinterpret(Halide::Float(32), placed);
  Expr value = Halide::reinterpret(Halide::UInt(32),
                                   multiplyInOrder(number, kExponentUnits));
  // Infinity, and NaN with its bits.
  value = Halide::select(Halide::cast<int32_t>(size) >= 0x7c00,
                         placed | kInfinityBits, value);
  return Halide::reinterpret(Halide::Float(32), value | ((all & 0x8000) << 16));
}

/// The same without an f32 that is denormal, which devices may take for zero.
static Expr widenHalfOnDevice(const Expr &stored) {
  Expr all = Halide::cast<uint32_t>(stored), size = all & 0x7fff;
  Expr isSmall = size < Halide::cast<uint32_t>(0x400);
  Expr isInfinite = size >= Halide::cast<uint32_t>(0x7c00);
  Expr small = Halide::reinterpret(
      Halide::UInt(32), multiplyInOrder(Halide::cast<float>(size), 0x1p-24f));
  Expr exponents =
      Halide::cast<uint32_t>(Halide::select(isInfinite, 224 << 23, 112 << 23));
  Expr value = Halide::select(isSmall, small, (size << 13) + exponents);
  return Halide::reinterpret(Halide::Float(32), value | ((all & 0x8000) << 16));
}

static Expr narrowHalf(const Expr &number) {
  Expr all = bitsOf(number), size = all & 0x7fffffff;
  // Add just less than half of the last bit that stays, and one more where that
  // bit is odd; a carry into the exponent is right.
  // Unsigned: of a NaN it may overflow.
  Expr unit = Halide::cast<uint32_t>(0xfff + ((size >> 13) & 1));
  Expr rounded = Halide::cast<int32_t>(Halide::cast<uint32_t>(size) + unit);
  Expr normal = (rounded >> 13) - (112 << 10);
  // Below 2^-14 a sum whose last bit is the unit of f16 rounds.
  Expr small = bitsOf(addInOrder(numberOf(size), 0.5f)) - 0x3f000000;
  Expr result = Halide::select(size < 0x38800000, small, normal);
  result = Halide::select(rounded >= 0x47800000, 0x7c00, result);
  result = Halide::select(size > kInfinityBits, 0x7e00, result);
  return Halide::cast<uint16_t>(result | ((all >> 16) & 0x8000));
}

static Expr narrowBrain(const Expr &number) {
  Expr all = Halide::reinterpret(Halide::UInt(32), number);
  Expr rounded = (all + (((all >> 16) & 1) + 0x7fff)) >> 16;
  // Rounding would carry a NaN to infinity or zero.
  Expr isNaN = (bitsOf(number) & 0x7fffffff) > kInfinityBits;
  return Halide::cast<uint16_t>(
      Halide::select(isNaN, (all >> 16) | 0x40, rounded));
}

Expr HalfFloats::widen(const Expr &stored, mlir::Type type) const {
  if (type.isBF16())
    return Halide::reinterpret(Halide::Float(32), Halide::cast<uint32_t>(stored)
                                                      << 16);
  if (!type.isF16())
    return stored;
  if (hasConversion)
    return Halide::cast<float>(Halide::reinterpret(Halide::Float(16), stored));
  return isGpu ? widenHalfOnDevice(stored) : widenHalf(stored);
}

Expr HalfFloats::narrow(const Expr &number, mlir::Type type) const {
  if (type.isBF16())
    return narrowBrain(number);
  if (!type.isF16())
    return number;
  if (hasConversion)
    return Halide::reinterpret(Halide::UInt(16),
                               Halide::cast(Halide::Float(16), number));
  return narrowHalf(number);
}
