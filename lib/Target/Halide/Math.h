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

/// Coefficients of 2^f on [-1/2, 1/2], highest power first; relative
/// error 2.3e-7.
llvm::ArrayRef<float> exp2Coefficients();

/// 2^x. Flushes to 0 below -126.5; NaN stays NaN; x above 128 gives +inf.
Halide::Expr exp2(Halide::Expr x);

/// tanh, absolute error 2e-7.
Halide::Expr tanh(Halide::Expr x);

/// The error function, absolute error 3e-7.
Halide::Expr erf(Halide::Expr x);

/// GELU: x Phi(x), or its tanh form.
Halide::Expr gelu(Halide::Expr x, GeluForm form);

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_MATH_H
