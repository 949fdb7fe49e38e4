//===- Math.cpp - functions of one float as Halide expressions
//-------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Range reduction by adding and taking away 1.5 * 2^23, which rounds to an
// integer and leaves it in the low bits of the sum. The three steps are
// strict_float: LLVM would otherwise fold (x + c) - c to x.
//
//===----------------------------------------------------------------------===//
#include "Math.h"

using namespace attn;
using Halide::Expr;

Expr attn::minusInfinity() {
  return Halide::reinterpret(Halide::Float(32), Expr(kMinusInfinityBits));
}

llvm::ArrayRef<float> attn::exp2Coefficients() {
  static const float table[] = {0.0013276472f, 0.00967554133f, 0.0555071327f,
                                0.240221197f,  0.693146967f,   1.00000007f};
  return table;
}

Expr attn::exp2(Expr x) {
  const float magic =
      12582912.0f + 127.0f; // 1.5 * 2^23 plus f32's exponent bias.
  // Strict, so that a NaN is neither assumed away nor swallowed by the clamp.
  Expr clamped = Halide::strict_float(Halide::select(
      x < -127.0f, Expr(-127.0f), Halide::select(x > 128.0f, Expr(128.0f), x)));
  Expr rounded = Halide::strict_float(clamped + magic);
  Expr integer = Halide::strict_float(rounded - magic);
  Expr fraction = Halide::strict_float(clamped - integer);
  Expr power = Halide::reinterpret(
      Halide::Float(32), Halide::reinterpret(Halide::Int(32), rounded) << 23);
  Expr polynomial = exp2Coefficients().front();
  for (float coefficient : exp2Coefficients().drop_front())
    polynomial = polynomial * fraction + coefficient;
  return polynomial * power;
}

Expr attn::tanh(Expr x) {
  // (1 - t) / (1 + t) with t = e^-2|x|; near zero that cancels, and a short odd
  // series is exact enough.
  Expr size = Halide::abs(x);
  Expr t = attn::exp2(size * -2.8853900817779268f);
  Expr far = (1.0f - t) / (1.0f + t);
  Expr square = x * x;
  Expr near =
      size *
      (1.0f + square * (-0.333333333f +
                        square * (0.133333333f + square * -0.0539682540f)));
  Expr result = Halide::select(size < 0.25f, near, far);
  return Halide::select(x < 0.0f, -result, result);
}

/// x P(x^2) / Q(x^2) on [-4, 4], where erf is 1 to the last bit.
static Expr erfRatio(const Expr &clamped, double scale) {
  static const double numerator[] = {
      -1.60960333262415e-02, -2.95459980854025e-03, -7.34990630326855e-04,
      -5.69250639462346e-05, -2.10102402082508e-06, 2.77068142495902e-08,
      -2.72614225801306e-10};
  static const double denominator[] = {
      -1.42647390514189e-02, -7.37332916720468e-03, -1.68282697438203e-03,
      -2.13374055278905e-04, -1.45660718464996e-05};
  Expr square = clamped * clamped;
  // The argument is x / scale of the table's: fold the powers into the numbers.
  double power = 1.0;
  float top[7], bottom[5];
  for (int i = 0; i < 7; ++i, power *= scale * scale) {
    top[i] = static_cast<float>(numerator[i] * scale * power);
    if (i < 5)
      bottom[i] = static_cast<float>(denominator[i] * power);
  }
  Expr p = top[6], q = bottom[4];
  for (int i = 5; i >= 0; --i)
    p = p * square + top[i];
  for (int i = 3; i >= 0; --i)
    q = q * square + bottom[i];
  return clamped * p / q;
}

Expr attn::erf(Expr x) { return erfRatio(Halide::clamp(x, -4.0f, 4.0f), 1.0); }

Expr attn::gelu(Expr x, GeluForm form) {
  if (form == GeluForm::Erf) {
    const float limit = 5.6568542f; // 4 * sqrt(2)
    Expr half = erfRatio(Halide::clamp(x, -limit, limit), 0.70710678118654752);
    return x * (half * 0.5f + 0.5f);
  }
  // x sigmoid(2u) = x / (1 + 2^(-2u log2 e)), u = sqrt(2 / pi) (x + 0.044715
  // x^3).
  const float slope = 2.3022081986f; // 2 * sqrt(2 / pi) * log2(e)
  Expr exponent = x * (x * x * (-slope * 0.044715f) - slope);
  return x / (1.0f + attn::exp2(Halide::min(exponent, 126.0f)));
}
