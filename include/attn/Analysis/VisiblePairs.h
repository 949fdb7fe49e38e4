//===- VisiblePairs.h - how many pairs a mask leaves -----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Sums what #attn.key_ranges says about each query: n (n + 1) / 2 for causal
// attention on itself. Where the bounds are affine this is a polynomial of the
// dims, with the conditions under which it holds; where they are not, it is a
// number for given sizes.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_VISIBLEPAIRS_H
#define ATTN_ANALYSIS_VISIBLEPAIRS_H

#include "attn/Analysis/SizePolynomial.h"
#include "attn/Dialect/IR/Attn.h"

namespace attn {

/// The range of a dim.
struct DimBounds {
  int64_t min = 0, max = INT32_MAX;
};

/// The pairs of a query and a key that attention works on.
struct VisiblePairs {
  /// None where the formula is not one of dims.
  std::optional<SizePolynomial> formula;
  /// `n >= 256`: where `formula` holds, for sizes of at least 1. The values of
  /// dims that it was asked for are among them.
  std::vector<std::string> conditions;
  /// For the values of dims that were asked for; none if they say too little.
  std::optional<double> number;
  /// Whether a run may hide more, by what only the data says.
  bool isLimit = false;
  /// Whether there is no formula, and there are too many pairs to count them:
  /// all pairs stand for those that are visible.
  bool isTooLarge = false;
};

/// Counts the pairs of one batch row and head. Without ranges on `op` all pairs
/// count. `queries` and `keys` are its lengths, `values` those of all dims, and
/// `ranges` what they may be.
VisiblePairs countVisiblePairs(AttentionOp op, const SizePolynomial &queries,
                               const SizePolynomial &keys,
                               const llvm::StringMap<int64_t> &values,
                               const llvm::StringMap<DimBounds> &ranges);

} // namespace attn

#endif // ATTN_ANALYSIS_VISIBLEPAIRS_H
