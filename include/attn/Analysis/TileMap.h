//===- TileMap.h - which tiles attention visits ----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Evaluates #attn.key_ranges for given sizes: what the loops that attn-tile
// builds from it do with each tile.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_TILEMAP_H
#define ATTN_ANALYSIS_TILEMAP_H

#include "attn/Dialect/IR/Attn.h"
#include "mlir/IR/IntegerSet.h"
#include <vector>

namespace attn {

/// The value of an expression.
int64_t evaluate(mlir::AffineExpr expr, llvm::ArrayRef<int64_t> dims,
                 llvm::ArrayRef<int64_t> symbols);
/// The least and the greatest value of a list that is not empty.
int64_t evaluateMin(llvm::ArrayRef<mlir::AffineExpr> exprs,
                    llvm::ArrayRef<int64_t> dims,
                    llvm::ArrayRef<int64_t> symbols);
int64_t evaluateMax(llvm::ArrayRef<mlir::AffineExpr> exprs,
                    llvm::ArrayRef<int64_t> dims,
                    llvm::ArrayRef<int64_t> symbols);
/// Whether all constraints of a set hold.
bool isInside(mlir::IntegerSet set, llvm::ArrayRef<int64_t> dims,
              llvm::ArrayRef<int64_t> symbols);

/// Sizes and symbols of one attention.
struct TileGrid {
  int64_t queries = 0, keys = 0;
  int64_t queryTile = 0, keyTile = 0;
  /// Values of the leaves; none for one that is known only at run time.
  llvm::SmallVector<std::optional<int64_t>, 2> leaves;

  int64_t queryTiles() const { return (queries + queryTile - 1) / queryTile; }
  int64_t keyTiles() const { return (keys + keyTile - 1) / keyTile; }
};

enum class TileClass : uint8_t {
  Skipped, ///< Not visited.
  Partial, ///< Visited with a mask.
  Full,    ///< Visited without a mask.
  Unknown, ///< Up to leaves that are not known.
};

/// The classes of the key tiles of the query tile that begins at `query0`. If
/// `keys` is not null it becomes the number of keys that are visited in each: a
/// range may end inside of a tile. Up to leaves, that is all of the tile.
std::vector<TileClass> classifyTiles(KeyRangesAttr ranges, const TileGrid &grid,
                                     int64_t query0,
                                     std::vector<int64_t> *keys = nullptr);

/// Tiles of each class; `runTime` are those that a run decides about, by leaves
/// or by attn.tile_any.
struct TileCounts {
  int64_t skipped = 0, partial = 0, full = 0, runTime = 0;
};
TileCounts countTiles(KeyRangesAttr ranges, const TileGrid &grid);

} // namespace attn

#endif // ATTN_ANALYSIS_TILEMAP_H
