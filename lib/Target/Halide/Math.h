//===- Math.h - functions of one float as Halide expressions ---*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Polynomials that vectorise on every target and call nothing. Halide's own
// tanh and erf are calls of scalar library functions.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_MATH_H
#define ATTN_LIB_TARGET_HALIDE_MATH_H

#include "attn/Dialect/IR/Attn.h"

#include <Halide.h>

namespace attn {

/// The bits of positive f32 infinity.
inline constexpr int32_t kInfinityBits = 0x7f800000;
/// The bits of negative f32 infinity.
inline constexpr int32_t kMinusInfinityBits = static_cast<int32_t>(0xff800000u);

/// -inf that fast-math cannot see.
Halide::Expr minusInfinity();

/// Coefficients of 2^f on [-1/2, 1/2], highest power first; relative error
/// 9.2e-8 before rounding, and exactly 1 at 0: the largest score of a row has
/// that weight, however often it is rescaled.
llvm::ArrayRef<float> exp2Coefficients();

// Errors below are bounds that a unit test measures against f64 on dense grids
// (docs/Halide.md has the measured figures).

/// 2^x, relative error 3e-7. Exactly 0 below -125.5 and infinity from 128; NaN
/// stays NaN.
Halide::Expr exp2(Halide::Expr x);

/// The same for numbers that are at most 0, with less to do.
Halide::Expr exp2OfNegative(Halide::Expr x);

/// 2^x of an f64 number above -1000, relative error 1e-15.
Halide::Expr exp2InDoubles(Halide::Expr x);

/// e^x, relative error 4e-7. Exactly 0 below -86.99; NaN stays NaN.
Halide::Expr exp(Halide::Expr x);

/// The natural logarithm, relative error 2e-7 and exactly 0 of 1, denormals
/// included. -inf of 0, infinity of infinity, NaN of NaN and of what is
/// negative.
Halide::Expr log(Halide::Expr x);

/// tanh, absolute error 2e-7, relative error 5e-7.
Halide::Expr tanh(Halide::Expr x);

/// The error function, absolute error 4e-7.
Halide::Expr erf(Halide::Expr x);

/// GELU, absolute error 1.5e-6 (erf form: x Phi(x); tanh form). Far from zero
/// it is exactly x or (to 4e-7) zero.
Halide::Expr gelu(Halide::Expr x, GeluForm form);

/// a + b, a - b and a * b as written: fast-math neither reorders the sum with
/// its neighbours nor fuses it with a product. Bits then do not depend on the
/// code around it.
Halide::Expr addInOrder(Halide::Expr a, Halide::Expr b);
Halide::Expr subtractInOrder(Halide::Expr a, Halide::Expr b);
Halide::Expr multiplyInOrder(Halide::Expr a, Halide::Expr b);

/// max(x, 0) that lets a NaN through.
Halide::Expr relu(Halide::Expr x);

/// sin(2 pi turns) for an f64 number of turns, absolute error 2e-7. Range
/// reduction is done in f64: positions of some thousands times a frequency lose
/// no digits.
Halide::Expr sineOfTurns(Halide::Expr turns);

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_MATH_H
