//===- HalfFloats.h - floats of 16 bits in kernels -------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Kernels compute with f32 and store f16 and bf16. A stored number is its bits
// here, a UInt(16): Halide's own types of 16 bits are emulated where the CPU
// has no instructions for them, and its rounding makes a zero of some NaNs.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_HALFFLOATS_H
#define ATTN_LIB_TARGET_HALIDE_HALFFLOATS_H

#include "attn/Analysis/TargetInfo.h"
#include "mlir/IR/Types.h"

#include <Halide.h>

namespace attn {

/// f16 or bf16.
bool isHalfFloat(mlir::Type type);

class HalfFloats {
public:
  HalfFloats() = default;
  explicit HalfFloats(const TargetInfo &target);

  /// The number that `stored` is the bits of, exactly, if `type` is f16 or
  /// bf16; any other `stored` as it is.
  Halide::Expr widen(const Halide::Expr &stored, mlir::Type type) const;

  /// The bits of an f32, rounded to nearest, ties to even, if `type` is f16 or
  /// bf16; any other `number` as it is. A NaN stays one.
  Halide::Expr narrow(const Halide::Expr &number, mlir::Type type) const;

private:
  /// Whether the processor converts between f16 and f32.
  bool hasConversion = false;
  bool isGpu = false;
};

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_HALFFLOATS_H
