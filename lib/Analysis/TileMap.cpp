//===- TileMap.cpp - which tiles attention visits --------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "attn/Analysis/TileMap.h"
#include "Prover.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

int64_t attn::evaluate(AffineExpr expr, ArrayRef<int64_t> dims,
                       ArrayRef<int64_t> symbols) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return number.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t lhs = evaluate(binary.getLHS(), dims, symbols);
  int64_t rhs = evaluate(binary.getRHS(), dims, symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::FloorDiv:
    return rhs ? llvm::divideFloorSigned(lhs, rhs) : 0;
  case AffineExprKind::CeilDiv:
    return rhs ? llvm::divideCeilSigned(lhs, rhs) : 0;
  default: // Mod
    return rhs > 0 ? llvm::mod(lhs, rhs) : 0;
  }
}

int64_t attn::evaluateMin(ArrayRef<AffineExpr> exprs, ArrayRef<int64_t> dims,
                          ArrayRef<int64_t> symbols) {
  int64_t least = evaluate(exprs.front(), dims, symbols);
  for (AffineExpr expr : exprs.drop_front())
    least = std::min(least, evaluate(expr, dims, symbols));
  return least;
}

int64_t attn::evaluateMax(ArrayRef<AffineExpr> exprs, ArrayRef<int64_t> dims,
                          ArrayRef<int64_t> symbols) {
  int64_t greatest = evaluate(exprs.front(), dims, symbols);
  for (AffineExpr expr : exprs.drop_front())
    greatest = std::max(greatest, evaluate(expr, dims, symbols));
  return greatest;
}

bool attn::isInside(IntegerSet set, ArrayRef<int64_t> dims,
                    ArrayRef<int64_t> symbols) {
  for (auto [number, constraint] : llvm::enumerate(set.getConstraints())) {
    int64_t value = evaluate(constraint, dims, symbols);
    if (set.isEq(number) ? value != 0 : value < 0)
      return false;
  }
  return true;
}

namespace {

/// A tile against the ranges, for all values of the leaves that are not known.
class AnyLeaves {
public:
  AnyLeaves(KeyRangesAttr ranges, const TileGrid &grid, int64_t query0)
      : ranges(ranges), grid(grid), context(ranges.getContext()),
        prover(ranges.getNumSymbols(), context) {
    for (int64_t bound :
         {query0, std::min(query0 + grid.queryTile, grid.queries), int64_t(0),
          int64_t(0)})
      dims.push_back(getAffineConstantExpr(bound, context));
    for (int64_t size : {grid.queries, grid.keys})
      symbols.push_back(getAffineConstantExpr(size, context));
    for (auto [number, leaf] : llvm::enumerate(grid.leaves))
      symbols.push_back(leaf ? getAffineConstantExpr(*leaf, context)
                             : getAffineSymbolExpr(2 + number, context));
  }

  TileClass classify(int64_t tile) {
    int64_t first = tile * grid.keyTile, last = first + grid.keyTile;
    dims[2] = getAffineConstantExpr(first, context);
    dims[3] = getAffineConstantExpr(std::min(last, grid.keys), context);
    bool maybe = false, surely = false, maybeFull = false, surelyFull = false;
    for (KeyRangeAttr range : ranges.getRanges()) {
      SmallVector<AffineExpr> meets, holds;
      for (SmallVector<AffineExpr> *list : {&meets, &holds})
        if (range.getWhere())
          llvm::append_range(*list,
                             range.getWhere().getValue().getConstraints());
      add(meets, range.getBegin(), dims[3] - 1, 1);
      add(meets, range.getEnd(), dims[2] + 1, -1);
      add(holds, range.getFullBegin(), dims[2], 1);
      add(holds, range.getFullEnd(), dims[3], -1);
      maybe |= possible(meets);
      surely |= certain(meets);
      maybeFull |= last <= grid.keys && possible(holds);
      surelyFull |= last <= grid.keys && certain(holds);
    }
    if (!maybe || !isPossible(ranges.getVisible(), true))
      return TileClass::Skipped;
    bool tested = !ranges.getVisible().empty() || !ranges.getHidden().empty();
    if (tested || ranges.getRanges().size() > 1)
      return TileClass::Unknown;
    if (surelyFull)
      return TileClass::Full;
    return surely && !maybeFull ? TileClass::Partial : TileClass::Unknown;
  }

private:
  /// sign * (limit - bound) >= 0 for all bounds of a map.
  void add(SmallVectorImpl<AffineExpr> &list, AffineMapAttr map,
           AffineExpr limit, int64_t sign) const {
    for (AffineExpr bound : map.getValue().getResults())
      list.push_back((limit - bound) * sign);
  }
  SmallVector<AffineExpr> filledIn(ArrayRef<AffineExpr> exprs) const {
    SmallVector<AffineExpr> result;
    for (AffineExpr expr : exprs)
      result.push_back(expr.replaceDimsAndSymbols(dims, symbols));
    return result;
  }
  bool possible(ArrayRef<AffineExpr> constraints) const {
    return !prover.isContradiction(filledIn(constraints), 0);
  }
  bool certain(ArrayRef<AffineExpr> constraints) const {
    return !llvm::is_contained(prover.areImplied(filledIn(constraints), {}, 0),
                               false);
  }
  bool isPossible(ArrayRef<IntegerSetAttr> sets, bool whenEmpty) const {
    return sets.empty() ? whenEmpty
                        : llvm::any_of(sets, [&](IntegerSetAttr set) {
                            return possible(set.getValue().getConstraints());
                          });
  }

  KeyRangesAttr ranges;
  const TileGrid &grid;
  MLIRContext *context;
  Prover prover;
  SmallVector<AffineExpr> dims, symbols;
};

} // namespace

static std::vector<TileClass> classifyForAnyLeaves(KeyRangesAttr ranges,
                                                   const TileGrid &grid,
                                                   int64_t query0) {
  AnyLeaves leaves(ranges, grid, query0);
  std::vector<TileClass> classes;
  for (int64_t tile = 0; tile < grid.keyTiles(); ++tile)
    classes.push_back(leaves.classify(tile));
  return classes;
}

// What this does with numbers, attn-tile does with IR.
std::vector<TileClass> attn::classifyTiles(KeyRangesAttr ranges,
                                           const TileGrid &grid, int64_t query0,
                                           std::vector<int64_t> *keys) {
  if (keys)
    keys->assign(grid.keyTiles(), 0);
  if (llvm::is_contained(grid.leaves, std::nullopt)) {
    std::vector<TileClass> classes = classifyForAnyLeaves(ranges, grid, query0);
    for (size_t tile = 0; keys && tile < classes.size(); ++tile)
      if (classes[tile] != TileClass::Skipped)
        (*keys)[tile] =
            std::min(grid.keyTile, grid.keys - int64_t(tile) * grid.keyTile);
    return classes;
  }
  SmallVector<int64_t> symbols{grid.queries, grid.keys};
  for (std::optional<int64_t> leaf : grid.leaves)
    symbols.push_back(*leaf);
  SmallVector<int64_t, 4> tile{
      query0, std::min(query0 + grid.queryTile, grid.queries), 0, 0};
  ArrayRef<int64_t> query = ArrayRef(tile).take_front(2);
  int64_t step = grid.keyTile;
  auto down = [&](int64_t key) {
    return llvm::divideFloorSigned(key, step) * step;
  };
  auto up = [&](int64_t key) {
    return llvm::divideCeilSigned(key, step) * step;
  };
  auto inAnyOf = [&](ArrayRef<IntegerSetAttr> sets) {
    return llvm::any_of(sets, [&](IntegerSetAttr set) {
      return isInside(set.getValue(), tile, symbols);
    });
  };

  std::vector<TileClass> classes(grid.keyTiles(), TileClass::Skipped);
  int64_t cursor = 0;
  for (KeyRangeAttr range : ranges.getRanges()) {
    if (range.getWhere() &&
        !isInside(range.getWhere().getValue(), query, symbols))
      continue;
    auto lower = [&](AffineMapAttr map) {
      return evaluateMax(map.getValue().getResults(), query, symbols);
    };
    auto upper = [&](AffineMapAttr map) {
      return evaluateMin(map.getValue().getResults(), query, symbols);
    };
    int64_t end = std::min(grid.keys, upper(range.getEnd()));
    int64_t first = std::max(cursor, down(lower(range.getBegin())));
    int64_t fullFirst = up(lower(range.getFullBegin()));
    int64_t fullEnd = down(upper(range.getFullEnd()));
    for (tile[2] = first; tile[2] < end; tile[2] += step) {
      tile[3] = std::min(tile[2] + step, grid.keys);
      bool full = tile[2] >= fullFirst && tile[2] + step <= fullEnd;
      if (!ranges.getHidden().empty())
        full = tile[2] + step <= grid.keys && !inAnyOf(ranges.getHidden());
      if (full)
        classes[tile[2] / step] = TileClass::Full;
      else if (ranges.getVisible().empty() || inAnyOf(ranges.getVisible()))
        classes[tile[2] / step] = TileClass::Partial;
      // A loop over the tiles of several ranges has one end, that of the keys.
      int64_t last = ranges.getRanges().size() == 1 ? end : grid.keys;
      if (keys && classes[tile[2] / step] != TileClass::Skipped)
        (*keys)[tile[2] / step] = std::min(step, last - tile[2]);
    }
    cursor = std::max(cursor, up(end));
  }
  return classes;
}

TileCounts attn::countTiles(KeyRangesAttr ranges, const TileGrid &grid) {
  TileCounts counts;
  for (int64_t query = 0; query < grid.queries; query += grid.queryTile)
    for (TileClass tile : classifyTiles(ranges, grid, query))
      switch (tile) {
      case TileClass::Skipped:
        ++counts.skipped;
        break;
      case TileClass::Partial:
        ++(ranges.getExact() ? counts.partial : counts.runTime);
        break;
      case TileClass::Full:
        ++counts.full;
        break;
      case TileClass::Unknown:
        ++counts.runTime;
        break;
      }
  return counts;
}
