//===- GpuModelTest.cpp - tiles of devices fit -----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "attn/Analysis/GpuModel.h"
#include "attn/Analysis/TargetInfo.h"
#include "llvm/ADT/Twine.h"

#include "gtest/gtest.h"

using namespace attn;

TEST(GpuModel, AttentionTilesFitEachDevice) {
  for (const TargetInfo &target : gpuTargets())
    for (auto [head, value] : {std::pair<int64_t, int64_t>{1, 1},
                               {8, 8},
                               {64, 64},
                               {80, 80},
                               {128, 128},
                               {192, 128},
                               {256, 256},
                               {576, 512}})
      for (int64_t queries : {int64_t(-1), int64_t(1), int64_t(7)}) {
        GpuAttentionTiles tiles =
            chooseGpuAttentionTiles(target, {head, value, queries});
        std::string what = (target.name + " with D = ").str() +
                           std::to_string(head) + " and " +
                           std::to_string(queries) + " queries";
        EXPECT_LE(gpuAttentionSharedBytes(tiles, head, value),
                  target.device.sharedBytes)
            << what;
        EXPECT_LE(tiles.x * tiles.y, target.device.threads) << what;
        EXPECT_EQ(tiles.queries % tiles.y, 0) << what;
        EXPECT_EQ(tiles.keys % std::min(tiles.keys, tiles.x), 0) << what;
      }
}

TEST(GpuModel, LargeTilesWhereThereIsRoom) {
  const TargetInfo &generic = *lookupTarget("opencl");
  const TargetInfo &ampere = *lookupTarget("cuda-sm_80");
  GpuAttentionTiles tiles = chooseGpuAttentionTiles(generic, {64, 64});
  EXPECT_EQ(tiles.queries, 32);
  EXPECT_EQ(tiles.keys, 32);
  tiles = chooseGpuAttentionTiles(ampere, {64, 64});
  EXPECT_EQ(tiles.queries, 64);
  EXPECT_EQ(tiles.keys, 32);
  // Few queries leave threads to keys.
  tiles = chooseGpuAttentionTiles(ampere, {64, 64, 1});
  EXPECT_EQ(tiles.queries, 1);
  EXPECT_EQ(tiles.x, 64);
}
