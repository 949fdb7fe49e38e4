//===- TileSample.h - judges bounds by a sample of tiles -------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Where several bounds are right, the one that leaves most work out is found by
// counting, in some tiles of long sequences. Nothing that is wrong becomes
// right by it.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_ANALYSIS_TILESAMPLE_H
#define ATTN_LIB_ANALYSIS_TILESAMPLE_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace attn {

class TileSample {
public:
  using Bounds = llvm::SmallVector<mlir::AffineExpr, 2>;

  /// Sequences are long enough for the constants in the sets.
  TileSample(unsigned numSymbols, llvm::ArrayRef<Bounds> visible,
             llvm::ArrayRef<Bounds> hidden);

  /// Keys of [max(begins), min(ends)) in all query tiles where the guards hold.
  int64_t countKeys(llvm::ArrayRef<mlir::AffineExpr> where,
                    llvm::ArrayRef<mlir::AffineExpr> begins,
                    llvm::ArrayRef<mlir::AffineExpr> ends) const;

  /// Tiles of that range which lie inside of the full range or, without one,
  /// hold no hidden pair.
  int64_t countFullTiles(llvm::ArrayRef<mlir::AffineExpr> where,
                         llvm::ArrayRef<mlir::AffineExpr> begins,
                         llvm::ArrayRef<mlir::AffineExpr> ends,
                         llvm::ArrayRef<mlir::AffineExpr> fullBegins,
                         llvm::ArrayRef<mlir::AffineExpr> fullEnds) const;

private:
  /// A query tile: i0, i1, j0, j1 (not yet set), and the symbols.
  struct Point {
    llvm::SmallVector<int64_t, 4> dims;
    llvm::SmallVector<int64_t, 4> symbols;
  };

  std::vector<Point> points;
  llvm::SmallVector<Bounds> hidden;
};

} // namespace attn

#endif // ATTN_LIB_ANALYSIS_TILESAMPLE_H
