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
  ASSERT_EQ(cpuTargets().size(), 5u);
  for (const TargetInfo &target : cpuTargets())
    EXPECT_EQ(lookupTarget(target.name), &target);
  EXPECT_EQ(lookupTarget("x86-64-v9"), nullptr);
  EXPECT_EQ(lookupTarget(""), nullptr);
  EXPECT_EQ(targetNames(),
            "x86-64-v2, x86-64-v3, x86-64-v4, x86-64-v4-amx, arm64, opencl, "
            "opencl-sm_80, opencl-sm_90, cuda, cuda-sm_80, cuda-sm_90, vulkan, "
            "metal");
}

// Variants live in one object, so their symbols must differ.
TEST(TargetInfo, SuffixesAreUnique) {
  llvm::StringSet<> seen;
  for (const TargetInfo &target : cpuTargets())
    EXPECT_TRUE(seen.insert(target.symbolSuffix).second) << target.name.str();
}

// A CPU that runs a higher level runs the lower ones.
TEST(TargetInfo, X86LevelsContainEachOther) {
  uint32_t v2 = lookupTarget("x86-64-v2")->cpuFeatures;
  uint32_t v3 = lookupTarget("x86-64-v3")->cpuFeatures;
  uint32_t v4 = lookupTarget("x86-64-v4")->cpuFeatures;
  EXPECT_EQ(v2 & v3, v2);
  uint32_t amx = lookupTarget("x86-64-v4-amx")->cpuFeatures;
  EXPECT_EQ(v3 & v4, v3);
  EXPECT_EQ(v4 & amx, v4);
  EXPECT_NE(v4, amx);
  EXPECT_NE(v2, v3);
  EXPECT_NE(v3, v4);
  EXPECT_TRUE(v3 & ATTN_CPU_FMA);
  EXPECT_FALSE(v2 & ATTN_CPU_FMA);
}

TEST(TargetInfo, CountsLanes) {
  EXPECT_EQ(lookupTarget("x86-64-v3")->f32Lanes(), 8);
  EXPECT_EQ(lookupTarget("arm64")->f32Lanes(), 4);
}

//===----------------------------------------------------------------------===//
// Machines
//===----------------------------------------------------------------------===//

TEST(TargetInfo, AssumesAMachine) {
  // 3 GHz x 2 x 8 lanes x 2 multiply-adds, and half of it where a multiply-add
  // is two instructions.
  EXPECT_EQ(assumeMachine(*lookupTarget("x86-64-v3")).str(),
            "gflops=96.0,gbytes=12.0");
  EXPECT_EQ(assumeMachine(*lookupTarget("x86-64-v2")).gflops, 24.0);
  EXPECT_FALSE(assumeMachine(*lookupTarget("arm64")).isMeasured);
}

TEST(TargetInfo, ReadsAMachine) {
  std::optional<Machine> machine = parseMachine("gflops=64,gbytes=12.5");
  ASSERT_TRUE(machine.has_value());
  EXPECT_TRUE(machine->isMeasured);
  EXPECT_EQ(machine->gbytes, 12.5);
  EXPECT_EQ(machine->gigahertz(*lookupTarget("x86-64-v3")), 2.0);
  EXPECT_EQ(machine->str(), "gflops=64.0,gbytes=12.5");
  EXPECT_TRUE(parseMachine("gbytes=1,gflops=2").has_value());
  for (const char *text :
       {"", "gflops=64", "gflops=64,gbytes=0", "gflops=64,gbytes=-1",
        "gflops=64,gbytes=x", "gflops=64,gflops=64", "gflops=64,gbytes=inf",
        "gflops=64,gbytes=1,ghz=3", "gflops=64,gbytes=1,",
        "gflops=nan,gbytes=1"})
    EXPECT_FALSE(parseMachine(text).has_value()) << text;
}
