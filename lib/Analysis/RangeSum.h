//===- RangeSum.h - the keys of all queries in a range ----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_ANALYSIS_RANGESUM_H
#define ATTN_LIB_ANALYSIS_RANGESUM_H

#include "attn/Analysis/VisiblePairs.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"

namespace attn {

/// slope * i + offset, and the offset's value.
struct KeyLine {
  int64_t slope = 0;
  SizePolynomial offset;
  double value = 0;

  double at(double i) const { return double(slope) * i + value; }
  SizePolynomial at(const SizePolynomial &i) const {
    return i * double(slope) + offset;
  }
};

/// Queries that begin where one line begins to decide.
struct KeyPiece {
  SizePolynomial begin;
  unsigned lower = 0, upper = 0;
  bool isEmpty = false;
};

/// The sum over all queries for one range of keys, see RangeSum.cpp.
class RangeSum {
public:
  RangeSum(const SizePolynomial &queries, const SizePolynomial &keys,
           const llvm::StringMap<int64_t> &values,
           const llvm::StringMap<DimBounds> &ranges)
      : queries(queries), keys(keys), values(values), ranges(ranges) {}

  /// None if the bounds are not lines, or do not meet at integers.
  std::optional<SizePolynomial> sum(KeyRangeAttr range);
  /// What must be at least 0 for the sum to be right.
  std::vector<SizePolynomial> conditions;

private:
  bool readBounds(mlir::AffineMap map, SizePolynomial outermost,
                  std::vector<KeyLine> &lines);
  std::optional<KeyLine> readLine(mlir::AffineExpr expr) const;
  bool readWhere(mlir::IntegerSet set);
  bool findPieces();
  bool startPiece(double i, const KeyLine &before, const KeyLine &after);
  SizePolynomial sumPiece(const KeyPiece &piece,
                          const SizePolynomial &end) const;
  void require(const SizePolynomial &atLeastZero);
  bool isProved(const SizePolynomial &atLeastZero) const;

  const SizePolynomial &queries, &keys;
  const llvm::StringMap<int64_t> &values;
  const llvm::StringMap<DimBounds> &ranges;
  std::vector<KeyLine> lower, upper;
  /// At least 0 where the range is there.
  std::vector<KeyLine> where;
  std::vector<KeyPiece> pieces;
};

} // namespace attn

#endif // ATTN_LIB_ANALYSIS_RANGESUM_H
