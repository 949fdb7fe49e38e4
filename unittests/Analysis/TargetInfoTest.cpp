//===- TargetInfoTest.cpp - the table of targets ---------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "attn/Analysis/TargetInfo.h"
#include "attn-c/cpu.h"
#include "llvm/ADT/StringSet.h"
#include "gtest/gtest.h"

using namespace attn;

TEST(TargetInfo, FindsEachTargetByItsName) {
  ASSERT_EQ(allTargets().size(), 4u);
  for (const TargetInfo &target : allTargets())
    EXPECT_EQ(lookupTarget(target.name), &target);
  EXPECT_EQ(lookupTarget("x86-64-v9"), nullptr);
  EXPECT_EQ(lookupTarget(""), nullptr);
  EXPECT_EQ(targetNames(), "x86-64-v2, x86-64-v3, x86-64-v4, arm64");
}

// Variants live in one object, so their symbols must differ.
TEST(TargetInfo, SuffixesAreUnique) {
  llvm::StringSet<> seen;
  for (const TargetInfo &target : allTargets())
    EXPECT_TRUE(seen.insert(target.symbolSuffix).second) << target.name.str();
}

// A CPU that runs a higher level runs the lower ones.
TEST(TargetInfo, X86LevelsContainEachOther) {
  uint32_t v2 = lookupTarget("x86-64-v2")->cpuFeatures;
  uint32_t v3 = lookupTarget("x86-64-v3")->cpuFeatures;
  uint32_t v4 = lookupTarget("x86-64-v4")->cpuFeatures;
  EXPECT_EQ(v2 & v3, v2);
  EXPECT_EQ(v3 & v4, v3);
  EXPECT_NE(v2, v3);
  EXPECT_NE(v3, v4);
  EXPECT_TRUE(v3 & ATTN_CPU_FMA);
  EXPECT_FALSE(v2 & ATTN_CPU_FMA);
}

TEST(TargetInfo, CountsLanes) {
  EXPECT_EQ(lookupTarget("x86-64-v3")->f32Lanes(), 8);
  EXPECT_EQ(lookupTarget("arm64")->f32Lanes(), 4);
}
