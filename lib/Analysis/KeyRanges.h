//===- KeyRanges.h - ranges of keys by Presburger arithmetic ---*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_ANALYSIS_KEYRANGES_H
#define ATTN_LIB_ANALYSIS_KEYRANGES_H

#include "MaskFormula.h"

namespace attn {

/// Bounds of a query tile [i0, i1). Expressions are over the dimensions i0 and
/// i1 and the symbols N, M and the leaves. Lower bounds are the maximum of a
/// list, upper bounds the minimum.
struct KeyRanges {
  using Bounds = llvm::SmallVector<mlir::AffineExpr, 2>;
  Bounds begin, fullBegin, fullEnd, end;
  /// Whether [begin, end) is the hull of the visible keys wherever there are
  /// any.
  bool exact = false;
};

/// Finds the ranges of a predicate: `visible` contains every pair for which it
/// may hold, `hidden` every pair for which it may not hold. Empty if the
/// formulas are too large to be analyzed in reasonable time.
std::optional<KeyRanges> findKeyRanges(const Formula &visible,
                                       const Formula &hidden,
                                       unsigned numLeaves,
                                       mlir::MLIRContext *context);

} // namespace attn

#endif // ATTN_LIB_ANALYSIS_KEYRANGES_H
