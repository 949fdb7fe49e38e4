//===- TuningTest.cpp - what a search over tile sizes tries ----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each candidate must compile: it fits registers and caches, and its sizes
// divide what they must divide.
//
//===----------------------------------------------------------------------===//
#include "attn/Analysis/Tuning.h"
#include "gtest/gtest.h"

#include <set>

using namespace attn;

TEST(Tuning, AttentionCandidatesFit) {
  for (const TargetInfo &target : cpuTargets())
    for (int64_t channels : {1, 6, 64, 80, 128, 256})
      for (bool isMasked : {false, true}) {
        AttentionShape shape{channels, channels, /*queries=*/-1, isMasked};
        AttentionTiles model = chooseAttentionTiles(target, shape);
        std::set<std::tuple<int64_t, int64_t, int64_t>> seen;
        auto check = [&](const std::vector<AttentionTiles> &candidates) {
          // What they are compared with comes first.
          ASSERT_EQ(candidates.front().queries, model.queries);
          ASSERT_EQ(candidates.front().keys, model.keys);
          for (const AttentionTiles &tiles : candidates) {
            EXPECT_FALSE(tiles.isDecode || tiles.isMatrix);
            // A tile of that size is not scheduled as one of decoding.
            EXPECT_FALSE(chooseAttentionTiles(
                             target, {channels, channels, tiles.queries})
                             .isDecode);
            EXPECT_EQ(tiles.queries % target.f32Lanes(), 0);
            EXPECT_EQ(tiles.keys % tiles.keyUnroll, 0);
            EXPECT_GE(tiles.valueUnroll, 4);
            RegisterTile tile{tiles.queries / target.f32Lanes(),
                              tiles.keyUnroll};
            EXPECT_LE(tile.registers(target), target.vectorRegisters);
            EXPECT_LE(attentionScratchBytes(tiles, channels, channels, false),
                      target.l2Bytes / 2);
            bool isNew =
                seen.emplace(tiles.queries, tiles.keys, tiles.keyUnroll).second;
            EXPECT_TRUE(isNew || &tiles == &candidates.front());
          }
        };
        check(registerTilesToTry(target, shape, model));
        check(keyTilesToTry(target, shape, model));
        EXPECT_GT(seen.size(), 4u) << target.name.str();
      }
}

TEST(Tuning, LinearCandidatesFit) {
  for (const TargetInfo &target : cpuTargets())
    for (auto [k, n] :
         {std::pair(1, 5), {384, 1536}, {768, 768}, {1001, 77}, {4096, 1024}}) {
      int64_t inputs = k, outputs = n;
      LinearBlocks model = chooseLinearBlocks(target, inputs, outputs);
      std::set<std::tuple<int64_t, int64_t, int64_t, int64_t>> seen;
      auto check = [&](const std::vector<LinearBlocks> &candidates) {
        ASSERT_EQ(candidates.front().mr, model.mr);
        ASSERT_EQ(candidates.front().nr, model.nr);
        for (const LinearBlocks &blocks : candidates) {
          EXPECT_EQ(blocks.nr % target.f32Lanes(), 0);
          EXPECT_EQ(blocks.mb % blocks.mr, 0);
          EXPECT_GE(blocks.mb, blocks.mr);
          EXPECT_LT(blocks.kc, std::max<int64_t>(inputs, 1));
          RegisterTile tile{blocks.nr / target.f32Lanes(), blocks.mr};
          EXPECT_LE(tile.registers(target), target.vectorRegisters);
          bool isNew =
              seen.emplace(blocks.mr, blocks.nr, blocks.kc, blocks.mb).second;
          EXPECT_TRUE(isNew || &blocks == &candidates.front());
        }
      };
      check(registerTilesToTry(target, model));
      check(cacheBlocksToTry(target, inputs, model));
      EXPECT_GT(seen.size(), 4u) << target.name.str();
    }
}
