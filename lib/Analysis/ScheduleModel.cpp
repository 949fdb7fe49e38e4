//===- ScheduleModel.cpp - tile sizes by formula ---------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A core that multiplies small blocks is limited by one of three things: the
// multiply-add units, the loads that feed them, or the latency of a sum that
// waits for itself. A register tile must keep all three below the work that it
// does, and fit the registers; cache blocks must fit the caches. What the
// formulas leave open was measured, on a Zen 3 core (AVX2, 512 KiB of L2) where
// nothing else is said.
//
// `attn-opt --print-target` prints each factor with its formula and numbers
// (TargetText.cpp).
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/ScheduleModel.h"
#include "attn/Analysis/GpuModel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <tuple>

using namespace attn;

double RegisterTile::work(const TargetInfo &target) const {
  // A multiply-add that is two instructions takes two slots.
  return double(sums()) / target.fmaPorts * (target.fusedMultiplyAdd ? 1 : 2);
}

double RegisterTile::cycles(const TargetInfo &target) const {
  // Two loads a cycle on every family of the table; a broadcast is a load.
  double loads = double(vectors + scalars) / 2;
  return std::max({work(target), loads, double(target.fmaLatency)});
}

static bool fits(RegisterTile tile, const TargetInfo &target) {
  return tile.registers(target) <= target.vectorRegisters;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// The register tile of scores: queries are the vectors, keys the scalars, in
/// powers of two so that they divide a key tile. The most sums win; among
/// equals the tile with fewer loads:
///     max v k  with  v k + v + 1 (+ 1) <= registers,  v <= 4,  k = 2^e <= 16
/// and k instead of 1 where numbers are not broadcast from memory.
static RegisterTile chooseScoreTile(const TargetInfo &target) {
  RegisterTile best{1, 1};
  for (int64_t vectors = 1; vectors <= 4; ++vectors)
    for (int64_t keys = 1; keys <= 16; keys *= 2) {
      RegisterTile tile{vectors, keys};
      if (tile.scoreRegisters(target) > target.vectorRegisters)
        continue;
      bool fewerLoads = vectors + keys < best.vectors + best.scalars;
      if (tile.sums() > best.sums() ||
          (tile.sums() == best.sums() && fewerLoads))
        best = tile;
    }
  return best;
}

/// A tile of a few queries, whose lanes are channels and keys. Both products
/// keep as many sums as hide the latency of an addition; each vector of keys or
/// values is loaded once for all queries.
static AttentionTiles chooseDecodeTiles(const TargetInfo &target,
                                        int64_t valueSize, int64_t queries) {
  int64_t sums = target.fmaPorts * target.fmaLatency;
  int64_t share = llvm::bit_floor<uint64_t>(
      std::max<int64_t>(sums / queries, 1)); // Vectors a query.
  AttentionTiles tiles;
  tiles.isDecode = true;
  tiles.queries = queries;
  // Reading is what takes time. The values of a tile wait in the second-level
  // cache while its scores are computed, and take at most half of it; longer
  // tiles than 256 keys measured nothing.
  tiles.keys = 256;
  while (tiles.keys > 64 && tiles.keys * valueSize * 4 > target.l2Bytes / 2)
    tiles.keys /= 2;
  // One key after the other: memory is read in order.
  tiles.keyUnroll = 1;
  int64_t lanes = target.f32Lanes();
  while (valueSize % lanes != 0)
    lanes /= 2;
  tiles.valueUnroll = lanes * share;
  while (valueSize % tiles.valueUnroll != 0)
    tiles.valueUnroll /= 2;
  return tiles;
}

int64_t attn::chooseValueUnroll(int64_t keyUnroll, int64_t valueSize) {
  int64_t unroll = keyUnroll;
  while (unroll > 4 && valueSize % unroll != 0)
    unroll /= 2;
  return std::max<int64_t>(unroll, 4);
}

int64_t attn::mostDecodeQueries(const TargetInfo &target) {
  return std::min<int64_t>(
      8, chooseScoreTile(target).vectors * target.f32Lanes() - 1);
}

/// Whether a tile of that many queries is better off with channels and keys in
/// its lanes. Vectors of values must be at least four channels long.
static bool isDecodeTile(const TargetInfo &target, int64_t headSize,
                         int64_t valueSize, int64_t queries) {
  return queries >= 1 && queries <= mostDecodeQueries(target) &&
         headSize >= 4 && valueSize % 4 == 0;
}

/// Tiles for a matrix unit: as few queries as its products take, so that the
/// scores of many keys fit.
static AttentionTiles chooseMatrixTiles(const TargetInfo &target,
                                        int64_t valueSize) {
  AttentionTiles tiles;
  tiles.isMatrix = true;
  tiles.queries = matrixSide;
  tiles.keyUnroll = matrixSide;
  // Scores (4 bytes) and weights (2) of a tile are to take at most 3/4 of L1:
  //     keys = 2^e,  6 queries keys <= 3/4 L1
  tiles.keys =
      llvm::bit_floor<uint64_t>(target.l1Bytes * 3 / 4 / (6 * tiles.queries));
  // The accumulator is taken in blocks whose products stay in registers.
  tiles.valueUnroll = chooseValueUnroll(16, valueSize);
  return tiles;
}

AttentionTiles attn::chooseAttentionTiles(const TargetInfo &target,
                                          const AttentionShape &shape) {
  int64_t headSize = shape.headSize, valueSize = shape.valueSize;
  int64_t queries = shape.queries;
  if (target.isGpu()) {
    GpuAttentionTiles tiles = chooseGpuAttentionTiles(target, shape);
    return {tiles.queries, tiles.keys, tiles.keys / tiles.x,
            int64_t(llvm::divideCeil(valueSize, tiles.x))};
  }
  if (isDecodeTile(target, headSize, valueSize, queries))
    return chooseDecodeTiles(target, valueSize, queries);
  // Channels beyond whole steps of a product would have to be copied.
  if (target.hasMatrixUnit() && shape.isBrainProduct &&
      headSize % matrixSide == 0 && headSize <= matrixChannels)
    return chooseMatrixTiles(target, valueSize);
  RegisterTile scores = chooseScoreTile(target);
  int64_t lanes = target.f32Lanes();

  AttentionTiles tiles;
  // queries = v lanes
  tiles.queries = scores.vectors * lanes;
  // A short sequence of known length does not need more vectors than it fills.
  if (queries > 0)
    tiles.queries =
        std::min<int64_t>(tiles.queries, llvm::alignTo(queries, lanes));
  tiles.keyUnroll = scores.scalars;

  tiles.valueUnroll = chooseValueUnroll(tiles.keyUnroll, valueSize);

  // Larger tiles rescale less often. Three things bound them, two of which
  // were measured (docs/Performance.md):
  // - Scores and weights of a tile are written and read again, and are to stay
  //   in L1. Where those of 128 keys do not (AVX-512), 64 keys mostly took less
  //   time; where they do (AVX2), mostly more.
  // - A tile at an edge of a mask is half hidden, and asks for each pair. With
  //   masks 64 keys took up to 40 % less time than 128; 32 took less than 64
  //   under narrow windows only.
  // - Scores, K, V, queries and accumulator of a tile are to take at most half
  //   of L2, the other half is for what streams through.
  // keys = 128 / 2^e >= 16, 64 / 2^e with a mask, the largest with
  //     4 (2 queries keys) <= L1 and
  //     4 (queries keys + keys (D + Dv) + queries (D + Dv)) <= L2 / 2
  auto fitsCaches = [&](int64_t keys) {
    int64_t bytes = 4 * (tiles.queries * keys + keys * (headSize + valueSize) +
                         tiles.queries * (headSize + valueSize));
    return 8 * tiles.queries * keys <= target.l1Bytes &&
           bytes <= target.l2Bytes / 2;
  };
  tiles.keys = shape.isMasked ? maskedKeys : 128;
  while (tiles.keys > 16 && !fitsCaches(tiles.keys))
    tiles.keys /= 2;
  return tiles;
}

//===----------------------------------------------------------------------===//
// Linear layers
//===----------------------------------------------------------------------===//

/// The register tile of a linear layer: output channels are the vectors, rows
/// the scalars. Tiles are asked in the order of sums a load; one with less
/// reuse must be faster by more than 2 %, which is what measurements resolve:
///     min ceil(N / (v lanes)) cycles(v, r) / r
///     with  v r + v + 1 (+ 1) <= registers,  v <= 4,  r <= 8
///     cycles(v, r) = max(v r / multiply-adds, (v + r) / 2, latency)
static RegisterTile chooseLinearTile(const TargetInfo &target,
                                     int64_t outputs) {
  // Columns that pad the last panel cost time. The last register tile of a
  // block computes the rows that there are.
  auto time = [&](RegisterTile tile) {
    int64_t panels =
        llvm::divideCeil(outputs, tile.vectors * target.f32Lanes());
    return double(panels) * tile.cycles(target) / double(tile.scalars);
  };
  auto reuse = [](RegisterTile tile) {
    return double(tile.sums()) / (tile.vectors + tile.scalars);
  };

  llvm::SmallVector<RegisterTile> tiles;
  for (int64_t vectors = 1; vectors <= 4; ++vectors)
    for (int64_t rows = 1; rows <= 8; ++rows)
      if (RegisterTile tile{vectors, rows}; fits(tile, target))
        tiles.push_back(tile);
  llvm::sort(tiles, [&](RegisterTile a, RegisterTile b) {
    return std::tuple(-reuse(a), a.scalars) < std::tuple(-reuse(b), b.scalars);
  });
  RegisterTile best = tiles.front();
  for (RegisterTile tile : tiles)
    if (time(tile) < time(best) * 0.98)
      best = tile;
  return best;
}

/// The largest block of K that divides it, is a multiple of the eight values
/// that the packing of the input moves at a time, and is at most `limit`. 0 if
/// there is none worth its overhead.
static int64_t chooseInputBlock(int64_t inputs, int64_t limit) {
  for (int64_t block = limit / 8 * 8; block >= 64; block -= 8)
    if (inputs % block == 0)
      return block;
  return 0;
}

LinearBlocks attn::chooseLinearBlocks(const TargetInfo &target, int64_t inputs,
                                      int64_t outputs) {
  RegisterTile tile = chooseLinearTile(target, outputs);
  LinearBlocks blocks;
  // mr = r, nr = v lanes
  blocks.mr = tile.scalars;
  blocks.nr = tile.vectors * target.f32Lanes();

  // Rows of a block without blocking of K: measured, 64 to 128 lose 4 %.
  int64_t rows = 512;
  // A panel of weights stays in L2 while the rows of a block pass. While a
  // whole panel is at most half of it, blocking K costs more in partial sums
  // than it gains: 1 to 3 % on a Zen 4 core, where blocks that fit L1 cost 5 %.
  blocks.kc = 0;
  if (inputs * blocks.nr * 4 > target.l2Bytes / 2)
    // kc = the largest multiple of 8 that divides K with 4 kc nr <= L2 / 8.
    blocks.kc = chooseInputBlock(inputs, target.l2Bytes / 8 / (blocks.nr * 4));
  // The rows of a block are to take at most half of L2:
  // mb = min(512, L2 / 2 / (4 kc)), in steps of mr.
  if (blocks.kc)
    rows = std::min(rows, target.l2Bytes / 2 / (blocks.kc * 4));
  blocks.mb = std::max(rows / blocks.mr * blocks.mr, blocks.mr);
  return blocks;
}

std::optional<MatrixBlocks> attn::chooseMatrixBlocks(const TargetInfo &target,
                                                     int64_t inputs,
                                                     int64_t outputs) {
  if (!target.hasMatrixUnit() || inputs <= 0 || outputs <= 0 ||
      inputs % matrixSide || outputs % matrixSide)
    return std::nullopt;
  MatrixBlocks blocks;
  // The weights of a group of columns stay in a quarter of L2 while the rows
  // pass, and its sums of 32 rows in L1:
  //     nb = the largest multiple of 32 that divides N with 2 nb K <= L2 / 4,
  //     at most 256
  int64_t most =
      std::clamp<int64_t>(target.l2Bytes / 4 / (2 * inputs), matrixSide, 256);
  blocks.nb = most / matrixSide * matrixSide;
  while (outputs % blocks.nb)
    blocks.nb -= matrixSide;
  // Rows in pairs take at most half of L2: 2 mb K <= L2 / 2, in steps of 32, at
  // most 512.
  blocks.mb = std::clamp<int64_t>(target.l2Bytes / 2 / (2 * inputs) /
                                      matrixSide * matrixSide,
                                  matrixSide, 512);
  return blocks;
}

//===----------------------------------------------------------------------===//
// Scratch
//===----------------------------------------------------------------------===//

int64_t attn::attentionScratchBytes(const AttentionTiles &tiles,
                                    int64_t headSize, int64_t valueSize,
                                    bool isNarrow) {
  // The accumulator lies in blocks of channels, one more for what belongs to a
  // row; sums over lanes are apart from scores where channels are the lanes:
  // 4 queries (D + 2 or 3 keys + (ceil(Dv / u) + 1) u)
  int64_t blocks = llvm::divideCeil(valueSize, tiles.valueUnroll) + 1;
  if (tiles.isMatrix)
    // Pairs of channels, products, what rules and masks make of them, pairs of
    // weights with their sum, mix, accumulator:
    // 4 queries (D / 2 + 2 1/2 keys + 1 + align(Dv, 32) + blocks u)
    return 4 * tiles.queries *
           (headSize / 2 + tiles.keys * 5 / 2 + 1 +
            int64_t(llvm::alignTo(valueSize, matrixSide)) +
            blocks * tiles.valueUnroll);
  int64_t bytes = 4 * tiles.queries *
                  (headSize + (tiles.isDecode ? 3 : 2) * tiles.keys +
                   blocks * tiles.valueUnroll);
  // The keys of a register tile, then the values of a block of channels.
  if (isNarrow && !tiles.isDecode)
    bytes += 4 * std::max(tiles.keyUnroll * headSize,
                          tiles.keys * tiles.valueUnroll);
  return bytes;
}

/// Rows of a block: equal parts of at most about `limit`, in steps of mr.
static int64_t balancedBlock(int64_t rows, int64_t limit, int64_t mr) {
  int64_t count = std::max<int64_t>(llvm::divideCeil(rows, limit), 1);
  int64_t even = llvm::divideCeil(rows, count);
  return std::max<int64_t>(llvm::divideCeil(even, mr), 1) * mr;
}

int64_t attn::linearScratchBytes(const TargetInfo &target,
                                 const LinearBlocks &blocks, int64_t outputs,
                                 int64_t rows, bool hasNorm) {
  if (rows <= 0)
    return 0;
  int64_t bytes = 0;
  int64_t blockRows = std::min(rows, balancedBlock(rows, blocks.mb, blocks.mr));
  if (hasNorm) {
    // Rows before their norm take at most half of L2.
    int64_t limit = std::max(
        std::min(blocks.mb, target.l2Bytes / 2 / 4 / outputs), blocks.mr);
    blockRows = std::min(rows, balancedBlock(rows, limit, blocks.mr));
    bytes += 4 * outputs * blockRows;
  }
  if (blocks.kc) {
    // Panels fall into about 8 tasks. Fewer where there are several blocks of
    // rows; with a norm one, where the blocks are tasks (LinearCpu.cpp).
    int64_t panels = llvm::divideCeil(outputs, blocks.nr), ofTask;
    int64_t rowBlocks = llvm::divideCeil(rows, blockRows);
    if (hasNorm)
      ofTask = rowBlocks >= 8 ? panels : std::max<int64_t>(panels / 8, 1);
    else
      ofTask = llvm::divideCeil(
          panels,
          std::clamp<int64_t>(llvm::divideCeil(8, rowBlocks), 1, panels));
    bytes += 4 * blocks.nr * blockRows * ofTask;
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// Row-wise kernels
//===----------------------------------------------------------------------===//

int64_t attn::chooseRowsInFlight(const TargetInfo &target, bool isSoftmax) {
  // A row sums two things (values and squares), each a chain of additions that
  // waits for itself: enough rows to cover ports times latency, as a power of
  // two: the largest 2^e <= multiply-adds latency / 2.
  // Exponentials keep the units busy beside the chains of a softmax: half the
  // rows, which are fewer streams of memory, took 12 % less time.
  int64_t rows = target.fmaPorts * target.fmaLatency / (isSoftmax ? 4 : 2);
  return llvm::bit_floor(uint64_t(std::max<int64_t>(rows, 1)));
}
