//===- Elimination.h - tiles that hold a pair of a convex set --*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_ANALYSIS_ELIMINATION_H
#define ATTN_LIB_ANALYSIS_ELIMINATION_H

#include "LinearForm.h"
#include <vector>

namespace attn {

/// Constraints `form >= 0` on a tile [i0, i1) x [j0, j1), over the dimensions
/// i0, i1, j0, j1 and the symbols N, M and the leaves.
using TileConstraints = llvm::SmallVector<LinearForm, 4>;

/// A union of sets of tiles.
struct TileProjection {
  std::vector<TileConstraints> cases;
  /// False if the sets may hold more than they should.
  bool exact = true;
};

/// The tiles that hold a pair (i, j) for which all `atoms` are >= 0. Atoms are
/// over the dimensions i and j and the symbols N, M and the leaves, with
/// floordiv and mod by constants.
TileProjection projectOntoTiles(llvm::ArrayRef<mlir::AffineExpr> atoms,
                                mlir::MLIRContext *context);

} // namespace attn

#endif // ATTN_LIB_ANALYSIS_ELIMINATION_H
