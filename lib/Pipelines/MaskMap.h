//===- MaskMap.h - the tiles of attention as a picture ---------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_PIPELINES_MASKMAP_H
#define ATTN_LIB_PIPELINES_MASKMAP_H

#include "attn/Analysis/TargetInfo.h"
#include "attn/Analysis/TileMap.h"
#include "mlir/IR/BuiltinOps.h"

namespace attn {

/// What a tile is shown as.
namespace tile_mark {
inline constexpr char skipped = '.', partial = '+', full = '#', runTime = '?';
} // namespace tile_mark

/// The tiles of one attention.
struct MaskMap {
  std::string kernel, target;
  int64_t calls = 0;
  TileGrid grid;
  /// A row a query tile, a mark a key tile.
  std::vector<std::string> tiles;
  /// What decides at run time, and what was assumed; a sentence each.
  std::vector<std::string> notes;

  int64_t count(char mark) const;
  /// Pairs in the tiles with this mark.
  int64_t pairs(char mark) const;
};

/// The size of dims that nobody has set.
inline constexpr int64_t defaultMapSize = 1024;

/// The maps of all attentions of a module of the fused level whose masks were
/// analyzed. Fails, with an error, where there is none or one is too large.
mlir::FailureOr<std::vector<MaskMap>> computeMaskMaps(mlir::ModuleOp module,
                                                      const TargetInfo &target);

/// As text, and as an SVG picture.
void printMaskMaps(llvm::ArrayRef<MaskMap> maps, llvm::raw_ostream &os);
void drawMaskMaps(llvm::ArrayRef<MaskMap> maps, llvm::raw_ostream &os);

} // namespace attn

#endif // ATTN_LIB_PIPELINES_MASKMAP_H
