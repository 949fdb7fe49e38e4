//===- CpuTest.cpp - choice of the variant ----------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "attn-c/cpu.h"
#include "TestModel.h"

extern "C" {
#include "Device.h"
}

#include "gtest/gtest.h"

namespace {

/// A descriptor with two targets, the lesser one first.
struct Cpu : testing::Test {
  attn_variant variants[2] = {
      {"x86-64-v2", ATTN_CPU_X86_64_V2, nullptr, nullptr, nullptr, 0, nullptr},
      {"x86-64-v3", ATTN_CPU_X86_64_V3, nullptr, nullptr, nullptr, 0, nullptr}};
  attn_descriptor descriptor = {};
  char error[256] = "";
  attn_status status = ATTN_OK;

  Cpu() {
    descriptor.variants = variants;
    descriptor.num_variants = 2;
  }

  const char *choose(uint64_t features, const char *target = nullptr) {
    const attn_variant *variant = attn_rt_choose_variant(
        &descriptor, target, features, error, sizeof error, &status);
    return variant ? variant->target : nullptr;
  }
};

TEST_F(Cpu, TakesTheVariantThatNeedsMost) {
  EXPECT_STREQ(choose(ATTN_CPU_X86_64_V4), "x86-64-v3");
  EXPECT_STREQ(choose(ATTN_CPU_X86_64_V3), "x86-64-v3");
}

TEST_F(Cpu, FallsBackWhereOneFeatureIsMissing) {
  EXPECT_STREQ(choose(ATTN_CPU_X86_64_V3 & ~uint64_t(ATTN_CPU_FMA)),
               "x86-64-v2");
}

TEST_F(Cpu, NamesWhatIsMissing) {
  EXPECT_EQ(choose(ATTN_CPU_X86_64_V2 & ~uint64_t(ATTN_CPU_SSE42)), nullptr);
  EXPECT_EQ(status, ATTN_ERROR_CPU);
  EXPECT_STREQ(error, "expected a CPU that runs at least x86-64-v2, got one "
                      "without SSE4.2: compile the model for another target as "
                      "well");
}

TEST_F(Cpu, HonoursTheTargetThatTheCallerWants) {
  EXPECT_STREQ(choose(ATTN_CPU_X86_64_V4, "x86-64-v2"), "x86-64-v2");
  EXPECT_EQ(choose(ATTN_CPU_X86_64_V2, "x86-64-v3"), nullptr);
  EXPECT_EQ(status, ATTN_ERROR_CPU);
  EXPECT_STREQ(error, "expected a CPU that runs x86-64-v3, got one without "
                      "AVX, AVX2, FMA, F16C, BMI1, BMI2, LZCNT, MOVBE: compile "
                      "the model for another target as well");
}

TEST_F(Cpu, ListsTheTargetsWhereAnUnknownOneIsWanted) {
  EXPECT_EQ(choose(ATTN_CPU_X86_64_V4, "x86-64-v9"), nullptr);
  EXPECT_EQ(status, ATTN_ERROR_ARGUMENT);
  EXPECT_STREQ(error, "expected options.target to be one of the model's "
                      "variants (x86-64-v2, x86-64-v3), got 'x86-64-v9'");
}

/// With devices only, and none there, the first is taken: its context says what
/// is missing.
TEST_F(Cpu, TakesTheFirstOfSeveralDevices) {
  attn_device_api api = {};
  api.is_there = [](const attn_device_api *) { return false; };
  variants[0] = {"opencl", 0, nullptr, nullptr, nullptr, 0, &api};
  variants[1] = {"cuda", 0, nullptr, nullptr, nullptr, 0, &api};
  EXPECT_STREQ(choose(ATTN_CPU_X86_64_V4), "opencl");
  variants[0] = {"x86-64-v4", ATTN_CPU_X86_64_V4, nullptr, nullptr, nullptr, 0,
                 nullptr};
  EXPECT_STREQ(choose(ATTN_CPU_X86_64_V3), nullptr);
  EXPECT_EQ(status, ATTN_ERROR_CPU);
}

#if defined(__x86_64__)
TEST_F(Cpu, AgreesWithTheCompilersOwnCheck) {
  uint64_t features = attn_rt_cpu_features(/*wanted=*/0);
  auto has = [&](uint64_t bit) { return (features & bit) != 0; };
  EXPECT_EQ(has(ATTN_CPU_SSE42), bool(__builtin_cpu_supports("sse4.2")));
  EXPECT_EQ(has(ATTN_CPU_AVX2), bool(__builtin_cpu_supports("avx2")));
  EXPECT_EQ(has(ATTN_CPU_FMA), bool(__builtin_cpu_supports("fma")));
  EXPECT_EQ(has(ATTN_CPU_BMI2), bool(__builtin_cpu_supports("bmi2")));
  EXPECT_EQ(has(ATTN_CPU_POPCNT), bool(__builtin_cpu_supports("popcnt")));
  EXPECT_EQ(has(ATTN_CPU_AVX512F), bool(__builtin_cpu_supports("avx512f")));
  EXPECT_EQ(has(ATTN_CPU_AVX512VL), bool(__builtin_cpu_supports("avx512vl")));
}
#endif

} // namespace
