//===- KeyLoops.h - loops over the key tiles of a query tile ---*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Internal to attn-tile: which key tiles a query tile visits, and in which of
// two loops. What a tile computes is for the caller to build.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TRANSFORMS_KEYLOOPS_H
#define ATTN_LIB_TRANSFORMS_KEYLOOPS_H

#include "IndexBuilder.h"
#include "attn/Dialect/IR/Attn.h"

namespace attn {

/// Where a query tile is, and the sizes of the whole.
struct QueryTile {
  mlir::Value batch, head, query0;
  /// Rows that exist, and the rows and keys that tiles have room for.
  mlir::OpFoldResult rows;
  int64_t tileRows, tileKeys;
  mlir::OpFoldResult queries, keys;
  /// The keys that this part is over, multiples of the tile but for the end of
  /// all keys; null where there is one part.
  mlir::OpFoldResult chunkBegin, chunkEnd;
};

/// Builds the body of one key tile for what the loop carries, and returns what
/// it hands on. `keys` of the tile exist.
using BuildKeyTile = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::Value key0, mlir::OpFoldResult keys, bool masked,
    mlir::ValueRange state)>;

/// Builds the loops at the insertion point. `names` are those of the induction
/// variable and of the values that are carried.
llvm::SmallVector<mlir::Value>
buildKeyLoops(AttentionOp op, const QueryTile &tile, mlir::OpBuilder &builder,
              IndexBuilder &index, llvm::ArrayRef<llvm::StringLiteral> names,
              llvm::SmallVector<mlir::Value> state, BuildKeyTile buildTile);

/// Captures of `op` that `region` uses; `target` becomes a copy of the region
/// with only these.
llvm::SmallVector<mlir::Value>
cloneTileRegion(AttentionOp op, mlir::Region &region, mlir::Region &target);

} // namespace attn

#endif // ATTN_LIB_TRANSFORMS_KEYLOOPS_H
