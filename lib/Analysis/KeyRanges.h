//===- KeyRanges.h - ranges of keys that a query tile sees -----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_ANALYSIS_KEYRANGES_H
#define ATTN_LIB_ANALYSIS_KEYRANGES_H

#include "TileSets.h"

namespace attn {

/// A range of keys of a query tile [i0, i1). Expressions are over the
/// dimensions i0 and i1 and the symbols N, M and the leaves. Lower bounds are
/// the maximum of a list, upper bounds the minimum.
struct KeyRange {
  using Bounds = llvm::SmallVector<mlir::AffineExpr, 2>;
  /// The range is there where all of these are >= 0.
  Bounds where;
  Bounds begin, fullBegin, fullEnd, end;
};

/// See #attn.key_ranges.
struct KeyRanges {
  llvm::SmallVector<KeyRange, 1> ranges;
  /// Sets of tiles, over i0, i1, j0 and j1.
  llvm::SmallVector<KeyRange::Bounds> visible, hidden;
};

/// Finds the ranges of a predicate from the tiles that hold a visible pair and
/// from those that hold a hidden one.
KeyRanges findKeyRanges(const TileProjection &visible,
                        const TileProjection &hidden, unsigned numSymbols,
                        const Prover &prover, mlir::MLIRContext *context);

} // namespace attn

#endif // ATTN_LIB_ANALYSIS_KEYRANGES_H
