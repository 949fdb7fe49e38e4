//===- ScheduleModelTest.cpp - tile sizes by formula -----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What must hold for every target and every size, and the choices that were
// measured to be best.
//
//===----------------------------------------------------------------------===//
#include "attn/Analysis/ScheduleModel.h"
#include "gtest/gtest.h"

using namespace attn;

static constexpr int64_t sizes[] = {
    1,   2,   3,   8,    16,   48,   64,   80,   96,   100,  128,  160,
    256, 384, 768, 1000, 1001, 1024, 1536, 3072, 4096, 5120, 30522};

TEST(ScheduleModel, AttentionTilesFitRegistersAndCaches) {
  for (const TargetInfo &target : cpuTargets())
    for (int64_t channels : sizes) {
      AttentionTiles tiles = chooseAttentionTiles(target, {channels, channels});
      int64_t lanes = target.f32Lanes();
      ASSERT_EQ(tiles.queries % lanes, 0);
      EXPECT_LE(8 * tiles.queries * tiles.keys, target.l1Bytes);
      ASSERT_EQ(tiles.keys % tiles.keyUnroll, 0);
      // attn-schedule sees the tile only, and must not take it for decoding.
      EXPECT_FALSE(
          chooseAttentionTiles(target, {channels, channels, tiles.queries})
              .isDecode)
          << target.name.str();
      RegisterTile scores{tiles.queries / lanes, tiles.keyUnroll};
      EXPECT_LE(scores.registers(target), target.vectorRegisters);
      RegisterTile output{tiles.queries / lanes, tiles.valueUnroll};
      EXPECT_LE(output.registers(target), target.vectorRegisters);
      // Four slots of the running state lie beside the channels.
      EXPECT_GE(tiles.valueUnroll, 4);
      // A thread's scratch, whatever the lengths of the sequences.
      int64_t limit = channels <= 128 && target.vectorBytes <= 32
                          ? 64 * 1024
                          : target.l2Bytes / 2;
      if (channels <= 1024)
        EXPECT_LE(4 * tiles.queries * (tiles.keys + 2 * channels), limit)
            << target.name.str() << " " << channels;
    }
}

TEST(ScheduleModel, AttentionTilesAreThoseThatWereMeasured) {
  const TargetInfo &v3 = *lookupTarget("x86-64-v3");
  for (int64_t channels : {32, 64, 128}) {
    AttentionTiles tiles = chooseAttentionTiles(v3, {channels, channels});
    EXPECT_EQ(tiles.queries, 24);
    EXPECT_EQ(tiles.keys, 128);
    EXPECT_EQ(tiles.keyUnroll, 4);
    EXPECT_EQ(tiles.valueUnroll, 4);
    EXPECT_EQ(chooseAttentionTiles(v3, {channels, channels, -1, true}).keys,
              64);
  }
  // Scores and weights of 48 queries and 128 keys are more than L1.
  const TargetInfo &v4 = *lookupTarget("x86-64-v4");
  EXPECT_EQ(chooseAttentionTiles(v4, {64, 64}).queries, 48);
  EXPECT_EQ(chooseAttentionTiles(v4, {64, 64}).keys, 64);
  EXPECT_EQ(chooseAttentionTiles(v4, {64, 64, 16}).keys, 128);
  EXPECT_EQ(chooseAttentionTiles(v4, {64, 64, 16, true}).keys, 64);
}

TEST(ScheduleModel, ShortSequencesGetSmallQueryTiles) {
  const TargetInfo &v3 = *lookupTarget("x86-64-v3");
  // Vectors of at least four value channels are what the form for few queries
  // needs.
  EXPECT_EQ(chooseAttentionTiles(v3, {64, 63, 1}).queries, 8);
  EXPECT_FALSE(chooseAttentionTiles(v3, {64, 63, 1}).isDecode);
  EXPECT_EQ(chooseAttentionTiles(v3, {64, 64, 9}).queries, 16);
  EXPECT_FALSE(chooseAttentionTiles(v3, {64, 64, 9}).isDecode);
  EXPECT_EQ(chooseAttentionTiles(v3, {64, 64, 1000}).queries, 24);
}

TEST(ScheduleModel, TilesOfFewQueriesFitRegistersAndCaches) {
  for (const TargetInfo &target : cpuTargets())
    for (int64_t channels : {4, 12, 20, 64, 100, 128, 256, 576})
      for (int64_t queries = 1; queries <= mostDecodeQueries(target);
           ++queries) {
        AttentionTiles tiles =
            chooseAttentionTiles(target, {channels, channels, queries});
        ASSERT_TRUE(tiles.isDecode);
        EXPECT_EQ(tiles.queries, queries);
        EXPECT_GE(tiles.valueUnroll, 4);
        EXPECT_EQ(channels % tiles.valueUnroll, 0);
        // Sums, a vector of values and a weight.
        int64_t lanes = target.f32Lanes();
        while (tiles.valueUnroll % lanes != 0)
          lanes /= 2;
        RegisterTile output{tiles.valueUnroll / lanes, queries};
        EXPECT_LE(output.sums() + 2, target.vectorRegisters)
            << target.name.str() << " " << queries << " " << channels;
        EXPECT_LE(tiles.keys * channels * 4,
                  std::max<int64_t>(target.l2Bytes / 2, 64 * channels * 4));
        EXPECT_LE(4 * queries * (channels + 3 * tiles.keys + 2 * channels),
                  std::max<int64_t>(64 * 1024, target.l2Bytes / 2));
      }
}

TEST(ScheduleModel, LinearBlocksFitRegistersAndCaches) {
  for (const TargetInfo &target : cpuTargets())
    for (int64_t inputs : sizes)
      for (int64_t outputs : sizes) {
        LinearBlocks blocks = chooseLinearBlocks(target, inputs, outputs);
        ASSERT_EQ(blocks.nr % target.f32Lanes(), 0);
        RegisterTile tile{blocks.nr / target.f32Lanes(), blocks.mr};
        EXPECT_LE(tile.registers(target), target.vectorRegisters);
        EXPECT_GT(blocks.mb, 0);
        EXPECT_EQ(blocks.mb % blocks.mr, 0);
        if (!blocks.kc)
          continue;
        EXPECT_EQ(inputs % blocks.kc, 0);
        EXPECT_LE(blocks.kc * blocks.nr * 4, target.l2Bytes / 8);
        EXPECT_LE(blocks.mb * blocks.kc * 4, target.l2Bytes / 2);
      }
}

TEST(ScheduleModel, LinearBlocksAreThoseThatWereMeasured) {
  const TargetInfo &v3 = *lookupTarget("x86-64-v3");
  auto expect = [&](int64_t inputs, int64_t outputs, int64_t kc, int64_t mb) {
    LinearBlocks blocks = chooseLinearBlocks(v3, inputs, outputs);
    EXPECT_EQ(blocks.mr, 4);
    EXPECT_EQ(blocks.nr, 24);
    EXPECT_EQ(blocks.kc, kc);
    EXPECT_EQ(blocks.mb, mb);
  };
  expect(384, 1536, 0, 512);
  expect(768, 768, 0, 512);
  expect(768, 3072, 0, 512);
  expect(2048, 768, 0, 512);
  expect(3072, 768, 512, 128);
}

TEST(ScheduleModel, RowsInFlightArePowersOfTwo) {
  for (const TargetInfo &target : cpuTargets()) {
    EXPECT_EQ(chooseRowsInFlight(target), 4) << target.name.str();
    EXPECT_EQ(chooseRowsInFlight(target, /*isSoftmax=*/true), 2);
  }
}

TEST(ScheduleModel, CountsScratch) {
  const TargetInfo &v3 = *lookupTarget("x86-64-v3");
  AttentionTiles tiles = chooseAttentionTiles(v3, {64, 64});
  // 24 queries: 64 channels, twice 128 keys, 17 blocks of 4; keys and values of
  // 16 bits are converted, 128 values of 4 channels at a time.
  EXPECT_EQ(attentionScratchBytes(tiles, 64, 64, false), 4 * 24 * 388);
  EXPECT_EQ(attentionScratchBytes(tiles, 64, 64, true),
            4 * 24 * 388 + 4 * 128 * 4);
  // 3072 inputs are several blocks of K: sums of 16 panels in 8 tasks, and 128
  // rows before their norm. 384 are one block.
  LinearBlocks blocks = chooseLinearBlocks(v3, 3072, 384);
  EXPECT_EQ(linearScratchBytes(v3, blocks, 384, 128, /*hasNorm=*/true),
            4 * 384 * 128 + 4 * 24 * 2 * 128);
  // 16 blocks of rows are tasks, each with all panels.
  EXPECT_EQ(linearScratchBytes(v3, blocks, 384, 2048, /*hasNorm=*/true),
            4 * 384 * 128 + 4 * 24 * 16 * 128);
  EXPECT_EQ(linearScratchBytes(v3, blocks, 384, 0, /*hasNorm=*/true), 0);
  blocks = chooseLinearBlocks(v3, 384, 384);
  EXPECT_EQ(linearScratchBytes(v3, blocks, 384, 128, false), 0);
  // Rows before a norm take half of L2 at most: 170, in two parts 100.
  EXPECT_EQ(linearScratchBytes(v3, blocks, 384, 200, true), 4 * 384 * 100);
}
