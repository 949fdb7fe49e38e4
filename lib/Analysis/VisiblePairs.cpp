//===- VisiblePairs.cpp - how many pairs a mask leaves ---------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A formula from RangeSum.h where there is one, else a count.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/VisiblePairs.h"
#include "RangeSum.h"
#include "attn/Analysis/TileMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attn;

/// The most that is counted, one by one.
static constexpr int64_t countLimit = 1 << 24;

/// Keys of one query in several ranges, each key once. There are no leaves.
static int64_t countKeys(KeyRangesAttr ranges, int64_t query, int64_t queries,
                         int64_t keys) {
  int64_t dims[] = {query, query + 1}, symbols[] = {queries, keys};
  int64_t count = 0, cursor = 0;
  for (KeyRangeAttr range : ranges.getRanges()) {
    if (range.getWhere() &&
        !isInside(range.getWhere().getValue(), dims, symbols))
      continue;
    auto bounds = [](AffineMapAttr map) { return map.getValue().getResults(); };
    int64_t begin =
        std::max(cursor, evaluateMax(bounds(range.getBegin()), dims, symbols));
    int64_t end =
        std::min(keys, evaluateMin(bounds(range.getEnd()), dims, symbols));
    count += std::max<int64_t>(end - begin, 0);
    cursor = std::max(cursor, end);
  }
  return count;
}

/// Pairs in tiles of one query and one key that are not skipped. A leaf that is
/// not known hides nothing.
static std::optional<double> countPairs(KeyRangesAttr ranges, int64_t queries,
                                        int64_t keys) {
  TileGrid grid;
  grid.queries = queries;
  grid.keys = keys;
  grid.queryTile = grid.keyTile = 1;
  grid.leaves.assign(ranges.getNumSymbols() - 2, std::nullopt);
  bool hasTests = !grid.leaves.empty() || !ranges.getVisible().empty();
  // A row costs a few additions, or a test of each key, or even a proof.
  double costOfRow = hasTests ? double(keys) : 1;
  if (!grid.leaves.empty())
    costOfRow *= 64;
  if (double(queries) * costOfRow > double(countLimit))
    return std::nullopt;
  double pairs = 0;
  for (int64_t query = 0; query < queries; ++query) {
    if (!hasTests) {
      pairs += double(countKeys(ranges, query, queries, keys));
      continue;
    }
    std::vector<TileClass> tiles = classifyTiles(ranges, grid, query);
    pairs += double(llvm::count_if(
        tiles, [](TileClass tile) { return tile != TileClass::Skipped; }));
  }
  return pairs;
}

VisiblePairs attn::countVisiblePairs(AttentionOp op,
                                     const SizePolynomial &queries,
                                     const SizePolynomial &keys,
                                     const llvm::StringMap<int64_t> &values,
                                     const llvm::StringMap<DimBounds> &ranges) {
  VisiblePairs result;
  KeyRangesAttr seen = op.getKeyRangesAttr();
  if (op.getMask().empty() || !seen) {
    result.formula = queries * keys;
    result.number = result.formula->evaluate(values);
    result.isLimit = !op.getMask().empty();
    return result;
  }
  result.isLimit = !seen.getExact() || seen.getNumSymbols() > 2;
  if (seen.getRanges().size() == 1 && seen.getVisible().empty()) {
    RangeSum sum(queries, keys, values, ranges);
    result.formula = sum.sum(seen.getRanges().front());
    for (const SizePolynomial &condition : sum.conditions) {
      // Positive terms on the left, negative ones on the right.
      auto [left, right] = condition.splitBySign();
      result.conditions.push_back(left.str() + " >= " + right.str());
    }
  }
  if (result.formula) {
    result.number = result.formula->evaluate(values);
    return result;
  }
  result.conditions.clear();
  std::optional<double> n = queries.evaluate(values), m = keys.evaluate(values);
  if (n && m && *n >= 0 && *m >= 0 && *n < 0x1p31 && *m < 0x1p31)
    result.number = countPairs(seen, int64_t(*n), int64_t(*m));
  // All pairs are a limit that always holds.
  if (!result.number) {
    result.formula = queries * keys;
    result.number = result.formula->evaluate(values);
    result.isTooLarge = true;
  }
  return result;
}
