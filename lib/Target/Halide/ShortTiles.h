//===- ShortTiles.h - register tiles that are not full ---------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_SHORTTILES_H
#define ATTN_LIB_TARGET_HALIDE_SHORTTILES_H

#include <Halide.h>

namespace attn {

/// Rows rarely fill the last tile. A register tile has `count` groups of rows
/// (single rows, or vectors of them), whose elements repeat every `count *
/// size` in its storage; what the last groups would hold need not be computed.
///
///     elements   0      size     2 size   ...   count size
///                | group 0 | group 1 | ...       | group 0 | ...
class ShortTiles {
public:
  /// `value`, an element that a function is defined to be; only the first
  /// `used` groups, at least one, are asked for. Elements of a tile say the
  /// same, or those of group 0 what holds for the tile.
  static Halide::Expr mark(const Halide::Expr &value, const Halide::Expr &used);

  /// `func` is a register tile: its elements begin with what is marked, and
  /// loops add to them. There will be one copy of these loops for each number
  /// of groups; elements of other groups stay as they begin.
  void addTile(const Halide::Func &func, int size, int count) {
    tiles.push_back({func.name(), size, count});
  }

  /// `func` is computed by a loop over its groups, `var`, that holds all that
  /// is marked: it ends after those that are used. The others stay undefined.
  void addLoop(const Halide::Func &func, const Halide::VarOrRVar &var) {
    loops.push_back({func.name(), var.name()});
  }

  /// After all of these, once a pipeline.
  void attach(Halide::Pipeline &pipeline) const;

private:
  friend class ShortenTiles;
  struct Tile {
    std::string func;
    int size, count;
  };
  struct Loop {
    std::string func, var;
  };
  std::vector<Tile> tiles;
  std::vector<Loop> loops;
};

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_SHORTTILES_H
