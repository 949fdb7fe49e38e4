//===- LinearForm.cpp - sums of multiples of expressions -------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "LinearForm.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace attn;

/// Products of two numbers below this fit in 64 bits.
static constexpr int64_t limit = int64_t(1) << 31;

LinearForm LinearForm::ofTerm(AffineExpr term) {
  LinearForm form;
  form.terms.push_back({term, 1});
  return form;
}

void LinearForm::check() {
  auto isLarge = [](int64_t number) {
    return number >= limit || number <= -limit;
  };
  // A constant may be a sum of a few products.
  valid =
      valid && !isLarge(constant / 256) &&
      llvm::none_of(terms, [&](auto &term) { return isLarge(term.second); });
  if (!valid) {
    terms.clear();
    constant = 0;
  }
}

LinearForm LinearForm::operator*(int64_t factor) const {
  LinearForm result = *this;
  if (factor >= limit || factor <= -limit)
    result.valid = false;
  if (factor == 0 || !result.valid) {
    result.terms.clear();
    result.constant = 0;
    return result;
  }
  if (llvm::MulOverflow(constant, factor, result.constant))
    result.valid = false;
  for (auto &[term, coefficient] : result.terms)
    coefficient *= factor;
  result.check();
  return result;
}

LinearForm LinearForm::operator+(const LinearForm &other) const {
  LinearForm result = *this;
  result.valid = valid && other.valid;
  result.constant += other.constant;
  for (auto [term, coefficient] : other.terms) {
    auto *known = llvm::find_if(
        result.terms, [term = term](auto &own) { return own.first == term; });
    if (known == result.terms.end())
      result.terms.push_back({term, coefficient});
    else
      known->second += coefficient;
  }
  llvm::erase_if(result.terms, [](auto &term) { return term.second == 0; });
  result.check();
  return result;
}

LinearForm LinearForm::floorDiv(int64_t divisor, MLIRContext *context) const {
  if (divisor == 1 || !valid)
    return *this;
  // Whole multiples are taken out so that the rest has the smallest
  // coefficients: (63 x + 63) floordiv 64 becomes x + (-x + 63) floordiv 64.
  LinearForm whole, rest;
  for (auto [term, coefficient] : terms) {
    int64_t multiple =
        llvm::divideFloorSigned(2 * coefficient + divisor - 1, 2 * divisor);
    whole = whole + ofTerm(term) * multiple;
    rest = rest + ofTerm(term) * (coefficient - multiple * divisor);
  }
  rest.constant = constant;
  int64_t gcd = std::gcd(rest.gcdOfTerms(), divisor);
  if (rest.terms.empty())
    return whole + LinearForm(llvm::divideFloorSigned(constant, divisor));
  rest = rest.divideTerms(gcd);
  divisor /= gcd;

  // floor((-x + c) / d) = -floor((x - c + d - 1) / d)
  bool mirrored =
      llvm::all_of(rest.terms, [](auto &term) { return term.second < 0; });
  if (mirrored)
    rest = rest * -1 + LinearForm(divisor - 1);
  LinearForm quotient(llvm::divideFloorSigned(rest.constant, divisor));
  rest.constant -= quotient.constant * divisor;
  quotient = quotient + ofTerm(rest.toExpr(context).floorDiv(divisor));
  return whole + (mirrored ? quotient * -1 : quotient);
}

AffineExpr LinearForm::toExpr(MLIRContext *context) const {
  AffineExpr sum;
  for (auto [term, coefficient] : terms) {
    AffineExpr product = term * coefficient;
    sum = sum ? sum + product : product;
  }
  if (!sum)
    return getAffineConstantExpr(constant, context);
  return constant ? sum + constant : sum;
}

int64_t LinearForm::coefficientOf(AffineExpr term) const {
  for (auto [own, coefficient] : terms)
    if (own == term)
      return coefficient;
  return 0;
}

bool LinearForm::hasTermsOf(const LinearForm &other, int64_t sign) const {
  return terms.size() == other.terms.size() &&
         llvm::all_of(terms, [&](auto &term) {
           return term.second == sign * other.coefficientOf(term.first);
         });
}

int64_t LinearForm::gcdOfTerms() const {
  int64_t gcd = 0;
  for (auto [term, coefficient] : terms)
    gcd = std::gcd(gcd, coefficient);
  return gcd;
}

LinearForm LinearForm::divideTerms(int64_t divisor) const {
  LinearForm result = *this;
  for (auto &[term, coefficient] : result.terms)
    coefficient /= divisor;
  result.constant = llvm::divideFloorSigned(constant, divisor);
  return result;
}
