//===- GpuModel.cpp - tile sizes of devices by formula --------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "attn/Analysis/GpuModel.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <optional>

using namespace attn;

/// Elements of a row in shared memory. Rows that threads read side by side have
/// an odd number, so that they start in different banks.
static int64_t paddedRow(int64_t size) { return size | 1; }

int64_t attn::gpuAttentionSharedBytes(const GpuAttentionTiles &tiles,
                                      int64_t headSize, int64_t valueSize) {
  int64_t query = tiles.queries * paddedRow(headSize);
  int64_t key = tiles.keys * paddedRow(headSize);
  int64_t value = tiles.keys * paddedRow(valueSize);
  int64_t pairs = tiles.queries * paddedRow(tiles.keys);
  // Of keys, scores, weights and values only two live at a time, in this order.
  return 4 * (query + 2 * std::max({key, value, pairs}));
}

int64_t attn::mostGpuAttentionNumbers(const TargetInfo &target) {
  return target.device.registers * 21 / 32;
}

GpuAttentionTiles attn::arrangeGpuThreads(const TargetInfo &target,
                                          int64_t queries, int64_t keys,
                                          int64_t valueSize) {
  // 16 by 16 threads; few queries leave threads to keys and to channels. All
  // threads bring keys and values, and what they bring is what takes time.
  GpuAttentionTiles tiles{queries, keys, 16, std::min<int64_t>(queries, 16)};
  while (queries % tiles.y != 0)
    --tiles.y;
  auto fits = [&](int64_t x) { return x * tiles.y <= target.device.threads; };
  if (queries < 16)
    while (tiles.x < std::max(keys, valueSize) && fits(2 * tiles.x))
      tiles.x *= 2;
  // Two factors, maximum, sum and channels of a row, and what a tile adds to
  // channels and sum: addresses and the register tile of scores want their
  // part. The more rows a thread has, the fewer loads from shared memory has a
  // multiply-add.
  int64_t mostNumbers = mostGpuAttentionNumbers(target);
  auto numbers = [&] {
    int64_t channels = llvm::divideCeil(valueSize, tiles.x);
    return queries / tiles.y * (2 * channels + 5);
  };
  while (numbers() > mostNumbers && fits(2 * tiles.x)) {
    if (queries % (2 * tiles.y) == 0)
      tiles.y *= 2;
    else
      tiles.x *= 2;
  }
  return tiles;
}

GpuAttentionTiles attn::chooseGpuAttentionTiles(const TargetInfo &target,
                                                const AttentionShape &shape) {
  // queries = 2^e <= 64, keys = 2^e <= 32, 64 for few queries: of the tiles
  // that fit those with the most products for each row that is staged,
  //     queries keys / (queries + keys)
  int64_t most = 64;
  if (shape.queries > 0)
    most = std::min<int64_t>(most, llvm::PowerOf2Ceil(shape.queries));
  std::optional<GpuAttentionTiles> best;
  auto products = [](const GpuAttentionTiles &tiles) {
    return double(tiles.queries * tiles.keys) / (tiles.queries + tiles.keys);
  };
  GpuAttentionTiles tiles{};
  for (int64_t queries = most; queries >= 1; queries /= 2)
    for (int64_t keys = queries < 16 ? 64 : 32; keys >= 4; keys /= 2) {
      tiles = arrangeGpuThreads(target, queries, keys, shape.valueSize);
      if (gpuAttentionSharedBytes(tiles, shape.headSize, shape.valueSize) <=
              target.device.sharedBytes &&
          (!best || products(tiles) > products(*best)))
        best = tiles;
    }
  return best.value_or(tiles);
}

GpuLinearBlocks attn::chooseGpuLinearBlocks(const TargetInfo &target,
                                            int64_t outputs) {
  // Each thread multiplies mr rows with nr columns: two loads from shared
  // memory for 2 multiply-adds at mr = nr = 4.
  GpuLinearBlocks blocks{16, 16, 4, 4, 16};
  // Columns that pad the only panel would cost time.
  while (blocks.nr > 1 && blocks.panel() / 2 >= outputs)
    blocks.nr /= 2;
  return blocks;
}

int64_t attn::gpuLinearSharedBytes(const GpuLinearBlocks &blocks) {
  int64_t input = blocks.y * blocks.mr * (blocks.kc + gpuLinearPadding);
  return 4 * (input + blocks.kc * blocks.panel());
}

int64_t attn::chooseGpuRowThreads(const TargetInfo &target) {
  return std::min<int64_t>(64, target.device.threads);
}
