//===- Tuning.cpp - tile sizes, measured or by formula ---------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "attn/Analysis/Tuning.h"
#include "attn/Analysis/AttentionSizes.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attn;

/// The first entry of a kind in `attn.tuning` of the modules around `op` that
/// `fits`; the nearest module counts first.
template <typename Entry>
static Entry findEntry(Operation *op, llvm::function_ref<bool(Entry)> fits) {
  for (; op; op = op->getParentOp())
    if (auto list = op->getAttrOfType<ArrayAttr>("attn.tuning"))
      for (Attribute attribute : list)
        if (auto entry = dyn_cast<Entry>(attribute); entry && fits(entry))
          return entry;
  return {};
}

/// The entry for attention of that shape, with other conditions, or null.
static TunedAttentionAttr
findAttention(Operation *op, const TargetInfo &target,
              const AttentionShape &shape,
              llvm::function_ref<bool(TunedAttentionAttr)> fits) {
  return findEntry<TunedAttentionAttr>(op, [&](TunedAttentionAttr entry) {
    return entry.getTarget() == target.name &&
           entry.getHeadSize() == shape.headSize &&
           entry.getValueSize() == shape.valueSize &&
           entry.getIsMasked() == shape.isMasked && fits(entry);
  });
}

static void setUnroll(AttentionTiles &tiles, int64_t keyUnroll,
                      int64_t valueSize) {
  tiles.keyUnroll = keyUnroll;
  tiles.valueUnroll = chooseValueUnroll(keyUnroll, valueSize);
}

AttentionTiles attn::getAttentionTiles(AttentionOp op,
                                       const TargetInfo &target) {
  AttentionShape shape = getAttentionShape(op);
  AttentionTiles tiles = chooseAttentionTiles(target, shape);
  if (tiles.isDecode || tiles.isMatrix || target.isGpu())
    return tiles;
  TunedAttentionAttr entry =
      findAttention(op, target, shape, [](TunedAttentionAttr) { return true; });
  if (!entry)
    return tiles;
  // A short sequence of known length does not need more vectors than it fills.
  tiles.queries = entry.getQueries();
  if (shape.queries > 0)
    tiles.queries = std::min<int64_t>(
        tiles.queries, llvm::alignTo(shape.queries, target.f32Lanes()));
  tiles.keys = entry.getKeys();
  setUnroll(tiles, entry.getKeyUnroll(), shape.valueSize);
  return tiles;
}

AttentionTiles attn::getTunedUnroll(Operation *op, const TargetInfo &target,
                                    const AttentionShape &shape,
                                    AttentionTiles tiles) {
  if (tiles.isDecode || tiles.isMatrix)
    return tiles;
  TunedAttentionAttr entry =
      findAttention(op, target, shape, [&](TunedAttentionAttr entry) {
        return entry.getQueries() == tiles.queries &&
               entry.getKeys() == tiles.keys;
      });
  if (entry)
    setUnroll(tiles, entry.getKeyUnroll(), shape.valueSize);
  return tiles;
}

LinearBlocks attn::getLinearBlocks(Operation *op, const TargetInfo &target,
                                   int64_t inputs, int64_t outputs) {
  auto entry = findEntry<TunedLinearAttr>(op, [&](TunedLinearAttr entry) {
    return entry.getTarget() == target.name && entry.getInputs() == inputs &&
           entry.getOutputs() == outputs;
  });
  if (!entry)
    return chooseLinearBlocks(target, inputs, outputs);
  return {entry.getMr(), entry.getNr(), entry.getKc(), entry.getMb()};
}

//===----------------------------------------------------------------------===//
// What is worth a try
//===----------------------------------------------------------------------===//

/// Register tiles that fit and keep the units busy two cycles of three.
static std::vector<RegisterTile> tilesThatFit(const TargetInfo &target,
                                              ArrayRef<int64_t> scalars) {
  std::vector<RegisterTile> tiles;
  for (int64_t vectors = 1; vectors <= 4; ++vectors)
    for (int64_t count : scalars)
      if (RegisterTile tile{vectors, count};
          tile.registers(target) <= target.vectorRegisters &&
          tile.cycles(target) <= 1.5 * tile.work(target))
        tiles.push_back(tile);
  return tiles;
}

std::vector<AttentionTiles>
attn::registerTilesToTry(const TargetInfo &target, const AttentionShape &shape,
                         const AttentionTiles &tiles) {
  std::vector<AttentionTiles> result = {tiles};
  for (RegisterTile tile : tilesThatFit(target, {2, 4, 8, 16})) {
    AttentionTiles next = tiles;
    next.queries = tile.vectors * target.f32Lanes();
    setUnroll(next, tile.scalars, shape.valueSize);
    bool isSame =
        next.queries == tiles.queries && next.keyUnroll == tiles.keyUnroll;
    // Tiles of a few queries are scheduled in another way.
    bool isDecode = chooseAttentionTiles(
                        target, {shape.headSize, shape.valueSize, next.queries})
                        .isDecode;
    bool fits = tile.scoreRegisters(target) <= target.vectorRegisters;
    if (fits && !isSame && !isDecode && next.keys % next.keyUnroll == 0)
      result.push_back(next);
  }
  return result;
}

std::vector<AttentionTiles> attn::keyTilesToTry(const TargetInfo &target,
                                                const AttentionShape &shape,
                                                const AttentionTiles &tiles) {
  std::vector<AttentionTiles> result = {tiles};
  for (int64_t keys : {16, 32, 64, 128, 256}) {
    AttentionTiles next = tiles;
    next.keys = keys;
    int64_t bytes = attentionScratchBytes(next, shape.headSize, shape.valueSize,
                                          /*isNarrow=*/false);
    if (keys != tiles.keys && keys % next.keyUnroll == 0 &&
        bytes <= target.l2Bytes / 2)
      result.push_back(next);
  }
  return result;
}

std::vector<LinearBlocks> attn::registerTilesToTry(const TargetInfo &target,
                                                   const LinearBlocks &blocks) {
  std::vector<LinearBlocks> result = {blocks};
  for (RegisterTile tile :
       tilesThatFit(target, {3, 4, 5, 6, 7, 8, 9, 10, 12, 14})) {
    LinearBlocks next = blocks;
    next.mr = tile.scalars;
    next.nr = tile.vectors * target.f32Lanes();
    next.mb = std::max(blocks.mb / next.mr * next.mr, next.mr);
    if (next.mr != blocks.mr || next.nr != blocks.nr)
      result.push_back(next);
  }
  return result;
}

std::vector<LinearBlocks> attn::cacheBlocksToTry(const TargetInfo &target,
                                                 int64_t inputs,
                                                 const LinearBlocks &blocks) {
  std::vector<LinearBlocks> result = {blocks};
  std::vector<int64_t> inputBlocks = {0};
  for (int64_t parts : {2, 3, 4, 6, 8, 12})
    if (inputs % (8 * parts) == 0 && inputs / parts >= 64)
      inputBlocks.push_back(inputs / parts);
  for (int64_t kc : inputBlocks)
    for (int64_t rows : {64, 128, 512}) {
      LinearBlocks next = blocks;
      next.kc = kc;
      next.mb = std::max(rows / next.mr * next.mr, next.mr);
      // A block of rows is packed, and is to leave room in L2 for weights.
      bool fits = 4 * next.mb * kc <= target.l2Bytes;
      if ((next.kc != blocks.kc || next.mb != blocks.mb) && fits)
        result.push_back(next);
    }
  return result;
}
