//===- LinearForm.h - sums of multiples of expressions ---------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An integer as a sum of multiples of terms, and a constant. Terms are
// dimensions, symbols and floors of quotients, so that forms that are equal
// mostly look equal. Numbers that outgrow what masks need make a form
// invalid instead of wrong.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_ANALYSIS_LINEARFORM_H
#define ATTN_LIB_ANALYSIS_LINEARFORM_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace attn {

class LinearForm {
public:
  LinearForm(int64_t constant = 0) : constant(constant) {}
  /// 1 * term; the term is not looked into.
  static LinearForm ofTerm(mlir::AffineExpr term);

  /// this * factor.
  LinearForm operator*(int64_t factor) const;
  LinearForm operator+(const LinearForm &other) const;
  LinearForm operator-(const LinearForm &other) const {
    return *this + other * -1;
  }

  /// floor(this / divisor), divisor > 0. Multiples of the divisor are taken
  /// out.
  LinearForm floorDiv(int64_t divisor, mlir::MLIRContext *context) const;

  mlir::AffineExpr toExpr(mlir::MLIRContext *context) const;

  int64_t getConstant() const { return constant; }
  bool isConstant() const { return terms.empty(); }
  /// False once a number has become too large; such a form means nothing.
  bool isValid() const { return valid; }
  llvm::ArrayRef<std::pair<mlir::AffineExpr, int64_t>> getTerms() const {
    return terms;
  }
  int64_t coefficientOf(mlir::AffineExpr term) const;
  /// Whether the terms agree, with their coefficients times `sign`.
  bool hasTermsOf(const LinearForm &other, int64_t sign) const;
  /// The greatest common divisor of the coefficients of the terms, 0 without.
  int64_t gcdOfTerms() const;
  /// floor(this / divisor) where the divisor divides all coefficients of terms.
  LinearForm divideTerms(int64_t divisor) const;

private:
  void check();

  llvm::SmallVector<std::pair<mlir::AffineExpr, int64_t>, 4> terms;
  int64_t constant;
  bool valid = true;
};

} // namespace attn

#endif // ATTN_LIB_ANALYSIS_LINEARFORM_H
