//===- Math.cpp - functions of one float as Halide expressions --*- C++ -*-===//
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

#include <cmath>

using namespace attn;
using Halide::Expr;

Expr attn::minusInfinity() {
  return Halide::reinterpret(Halide::Float(32), Expr(kMinusInfinityBits));
}

static Expr horner(llvm::ArrayRef<float> highestFirst, const Expr &x) {
  Expr sum = highestFirst.front();
  for (float coefficient : highestFirst.drop_front())
    sum = sum * x + coefficient;
  return sum;
}

llvm::ArrayRef<float> attn::exp2Coefficients() {
  static const float table[] = {0.00132647273f, 0.00967151299f, 0.0555073358f,
                                0.240222424f,   0.693147004f,   1.0f};
  return table;
}

/// strict_float() would make all operations below `a` and `b` strict as well.
static Expr callStrict(Halide::Internal::Call::IntrinsicOp op, const Expr &a,
                       const Expr &b) {
  return Halide::Internal::Call::make(a.type(), op, {a, b},
                                      Halide::Internal::Call::PureIntrinsic);
}

Expr attn::addInOrder(Expr a, Expr b) {
  return callStrict(Halide::Internal::Call::strict_add, a, b);
}

Expr attn::subtractInOrder(Expr a, Expr b) {
  return callStrict(Halide::Internal::Call::strict_sub, a, b);
}

Expr attn::multiplyInOrder(Expr a, Expr b) {
  return callStrict(Halide::Internal::Call::strict_mul, a, b);
}

/// x in [low, high]. Strict, so that a NaN is neither assumed away nor
/// swallowed.
static Expr clampInOrder(const Expr &x, float low, float high) {
  return Halide::strict_float(Halide::select(
      x < low, Expr(low), Halide::select(x > high, Expr(high), x)));
}

/// 1.5 * 2^23 plus f32's exponent bias, less one: see scaled().
static constexpr float kRoundingMagic = 12582912.0f + 126.0f;

/// 2^fraction * 2^n for n = rounded - kRoundingMagic. Half of the power stands
/// in the polynomial: 2^128 itself is no f32, but numbers just below it are.
static Expr scaled(const Expr &fraction, const Expr &rounded) {
  llvm::SmallVector<float> twice;
  for (float coefficient : exp2Coefficients())
    twice.push_back(2.0f * coefficient);
  Expr power = Halide::reinterpret(
      Halide::Float(32), Halide::reinterpret(Halide::Int(32), rounded) << 23);
  return horner(twice, fraction) * power;
}

/// 2^x for x in [-126, 129].
static Expr exp2OfClamped(const Expr &clamped) {
  Expr rounded = addInOrder(clamped, kRoundingMagic);
  Expr integer = subtractInOrder(rounded, kRoundingMagic);
  return scaled(subtractInOrder(clamped, integer), rounded);
}

Expr attn::exp2(Expr x) {
  return exp2OfClamped(clampInOrder(x, -126.0f, 129.0f));
}

Expr attn::exp2OfNegative(Expr x) {
  return exp2OfClamped(
      Halide::strict_float(Halide::select(x < -126.0f, Expr(-126.0f), x)));
}

Expr attn::exp2InDoubles(Expr x) {
  // 2^x = 2^n e^f with |f| <= ln 2 / 2, of which thirteen terms are exact.
  Expr integer = Halide::round(x);
  Expr fraction = (x - integer) * Expr(M_LN2);
  Expr one = Expr(1.0), sum = one;
  for (int term = 13; term > 0; --term)
    sum = one + sum * fraction * Expr(1.0 / term);
  Expr power = (Halide::cast<int64_t>(integer) + 1023) << 52;
  return sum * Halide::reinterpret(Halide::Float(64), power);
}

Expr attn::exp(Expr x) {
  // x = n ln 2 + rest, with ln 2 in two parts: n times the first is exact.
  Expr clamped = clampInOrder(x, -87.4f, 89.5f);
  const float log2e = 1.44269504f;
  Expr rounded = addInOrder(clamped * log2e, kRoundingMagic);
  Expr integer = subtractInOrder(rounded, kRoundingMagic);
  Expr rest = subtractInOrder(subtractInOrder(clamped, integer * 0.693359375f),
                              integer * -2.12194440e-4f);
  return scaled(rest * log2e, rounded);
}

Expr attn::log(Expr x) {
  // x = 2^e m with m in [sqrt(1/2), sqrt(2)): of the bits of x, those of
  // sqrt(1/2) are taken away, and what is left above the mantissa is e. Numbers
  // below the normal ones are made normal before.
  const int sqrtHalfBits = 0x3f3504f3, smallestNormal = 0x00800000;
  Expr given = Halide::reinterpret<int32_t>(x);
  Expr isSmall = given < smallestNormal;
  Expr bits = Halide::select(
      isSmall, Halide::reinterpret<int32_t>(x * 33554432.0f /* 2^25 */), given);
  Expr shifted = (bits - sqrtHalfBits) >> 23;
  Expr mantissa = Halide::reinterpret<float>(bits - (shifted << 23));
  Expr exponent = Halide::cast<float>(shifted - Halide::select(isSmall, 25, 0));
  // log(1 + f) = f - f^2 / 2 + f^3 P(f), P a minimax fit with relative error
  // 6e-9 of the logarithm.
  static const float polynomial[] = {
      -0.0763449147f, 0.12761575f,  -0.13160184f,  0.142017588f,
      -0.166233569f,  0.200012267f, -0.250008196f, 0.333333313f};
  Expr f = subtractInOrder(mantissa, 1.0f);
  Expr square = f * f;
  Expr small = square * (f * horner(polynomial, f) - 0.5f);
  // ln 2 in two parts: e times the first is exact.
  Expr value = addInOrder(addInOrder(exponent * -2.12194440e-4f + small, f),
                          multiplyInOrder(exponent, 0.693359375f));
  // In bits: fast-math knows neither infinity nor NaN. Negative numbers have no
  // logarithm; those of NaN and of infinity are themselves.
  const int quietNaN = 0x7fc00000;
  Expr result = Halide::reinterpret<int32_t>(value);
  result = Halide::select(given >= kInfinityBits, given,
                          (given & 0x7fffffff) == 0, Expr(kMinusInfinityBits),
                          given < 0, Expr(quietNaN), result);
  return Halide::reinterpret<float>(result);
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

/// Where the normal distribution function is 1 to within 6e-8.
static constexpr float kNormalEdge = 5.3f;

/// Phi(c) - 1/2 of the normal distribution for 0 <= c <= kNormalEdge: c P(c^2)
/// / Q(c^2), a minimax fit of c (Phi(c) - 1/2) with error 3.5e-8.
static Expr normalTail(const Expr &c) {
  static const float numerator[] = {
      1.17971591e-10f, -2.29305321e-8f, 3.32229433e-6f, 1.71989042e-4f,
      4.51236404e-3f,  3.59374695e-2f,  3.98941994e-1f};
  static const float denominator[] = {6.34645039e-5f, 1.83513411e-3f,
                                      2.91078482e-2f, 2.56744713e-1f, 1.0f};
  Expr square = c * c;
  return multiplyInOrder(c, horner(numerator, square)) /
         horner(denominator, square);
}

Expr attn::erf(Expr x) {
  // erf(x) = 2 Phi(sqrt(2) x) - 1.
  Expr size = Halide::min(Halide::abs(x) * 1.41421356f, kNormalEdge);
  Expr half = normalTail(size);
  Expr result = Halide::select(x < 0.0f, half * -2.0f, half * 2.0f);
  return Halide::strict_float(Halide::select(x == x, result, x));
}

Expr attn::gelu(Expr x, GeluForm form) {
  if (form == GeluForm::Erf) {
    // x Phi(x) = max(x, 0) - |x| (1 - Phi(|x|)). Only the second term is
    // approximated, and it is bounded: x times an approximation of Phi(x) would
    // not vanish for large negative x. The first term is in order: a NaN passes
    // through its sum, and of two products LLVM could fuse either with the
    // difference.
    Expr size = Halide::abs(x);
    Expr positive = multiplyInOrder(addInOrder(x, size), 0.5f);
    Expr c = Halide::min(size, kNormalEdge);
    return positive - c * (0.5f - normalTail(c));
  }
  // x sigmoid(2u) = x / (1 + 2^(-2u log2 e)), u = sqrt(2 / pi) (x + 0.044715
  // x^3).
  const float slope = 2.3022081986f; // 2 * sqrt(2 / pi) * log2(e)
  Expr exponent = x * (x * x * (-slope * 0.044715f) - slope);
  return x / (1.0f + attn::exp2(exponent));
}

Expr attn::relu(Expr x) {
  Expr zero = Halide::Internal::make_zero(x.type());
  return Halide::strict_float(Halide::select(x < zero, zero, x));
}

Expr attn::sineOfTurns(Expr turns) {
  // To [-1/2, 1/2] turns in f64, then to [-1/4, 1/4] by sin(pi - a) = sin a.
  Expr rest = Halide::cast<float>(turns - Halide::round(turns));
  Expr folded =
      Halide::select(rest > 0.25f, 0.5f - rest,
                     Halide::select(rest < -0.25f, -0.5f - rest, rest));
  static const float series[] = {-1.43370266e1f, 4.19999886e1f,  -7.67036667e1f,
                                 8.16052094e1f,  -4.13417015e1f, 6.28318549f};
  return folded * horner(series, folded * folded);
}
