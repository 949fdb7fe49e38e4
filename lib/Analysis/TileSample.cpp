//===- TileSample.cpp - judges bounds by a sample of tiles -----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TileSample.h"
#include "attn/Analysis/ScheduleModel.h"
#include "attn/Analysis/TileMap.h"

using namespace mlir;
using namespace attn;

// The tile of most targets; queries in 16 places, at most 64 tiles of keys.
static constexpr int64_t queryTile = 24, keyTile = maskedKeys;
static constexpr int64_t queryPlaces = 16, keyPlaces = 64;

TileSample::TileSample(unsigned numSymbols, ArrayRef<Bounds> visible,
                       ArrayRef<Bounds> hidden)
    : hidden(hidden) {
  int64_t largest = 0;
  for (ArrayRef<Bounds> sets : {visible, hidden})
    for (ArrayRef<AffineExpr> set : sets)
      for (AffineExpr expr : set)
        expr.walk([&](AffineExpr part) {
          if (auto number = dyn_cast<AffineConstantExpr>(part))
            largest = std::max(largest, std::abs(number.getValue()));
        });
  int64_t size = std::clamp<int64_t>(4 * largest, 2048, 1 << 20);
  for (int64_t leaf : {int64_t(0), size / 16, size / 2})
    for (int64_t place = 0; place < queryPlaces; ++place) {
      // By the golden ratio: at all distances from the edges of blocks.
      int64_t first =
          place * (size * 619 / 1000) % size / queryTile * queryTile;
      Point point;
      point.dims = {first, first + queryTile, 0, 0};
      point.symbols.assign(numSymbols, leaf);
      point.symbols[0] = point.symbols[1] = size;
      points.push_back(std::move(point));
    }
}

static bool hold(ArrayRef<AffineExpr> constraints, ArrayRef<int64_t> dims,
                 ArrayRef<int64_t> symbols) {
  return llvm::all_of(constraints, [&](AffineExpr constraint) {
    return evaluate(constraint, dims, symbols) >= 0;
  });
}

int64_t TileSample::countKeys(ArrayRef<AffineExpr> where,
                              ArrayRef<AffineExpr> begins,
                              ArrayRef<AffineExpr> ends) const {
  int64_t count = 0;
  for (const Point &point : points)
    if (hold(where, point.dims, point.symbols))
      count += std::max<int64_t>(
          0, evaluateMin(ends, point.dims, point.symbols) -
                 evaluateMax(begins, point.dims, point.symbols));
  return count;
}

int64_t TileSample::countFullTiles(ArrayRef<AffineExpr> where,
                                   ArrayRef<AffineExpr> begins,
                                   ArrayRef<AffineExpr> ends,
                                   ArrayRef<AffineExpr> fullBegins,
                                   ArrayRef<AffineExpr> fullEnds) const {
  int64_t count = 0;
  for (const Point &point : points) {
    if (!hold(where, point.dims, point.symbols))
      continue;
    int64_t begin = evaluateMax(begins, point.dims, point.symbols);
    int64_t end = evaluateMin(ends, point.dims, point.symbols);
    int64_t tiles = llvm::divideCeilSigned(end - begin, keyTile);
    int64_t step = std::max<int64_t>(1, tiles / keyPlaces) * keyTile;
    for (int64_t key = begin / keyTile * keyTile; key < end; key += step) {
      if (!fullBegins.empty()) {
        count +=
            evaluateMax(fullBegins, point.dims, point.symbols) <= key &&
            evaluateMin(fullEnds, point.dims, point.symbols) >= key + keyTile;
        continue;
      }
      SmallVector<int64_t, 4> dims = point.dims;
      dims[2] = key;
      dims[3] = key + keyTile;
      count += llvm::none_of(hidden, [&](const Bounds &set) {
        return hold(set, dims, point.symbols);
      });
    }
  }
  return count;
}
