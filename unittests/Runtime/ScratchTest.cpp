//===- ScratchTest.cpp - memory that kernels ask for ------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TestModel.h"
#include "gtest/gtest.h"

namespace {

/// A context whose memory counts.
struct Scratch : testing::Test {
  WeightsFile file;
  attn_model *model = nullptr;
  attn_ctx *ctx = nullptr;
  static int live, made;
  static size_t limit;

  void SetUp() override {
    behaviour = {};
    live = made = 0;
    limit = SIZE_MAX;
    attn_options options = {};
    options.allocate = [](void *, size_t size, size_t alignment) -> void * {
      if (size > limit)
        return nullptr;
      ++live;
      ++made;
      return aligned_alloc(alignment,
                           (size + alignment - 1) & ~(alignment - 1));
    };
    options.deallocate = [](void *, void *pointer) {
      --live;
      free(pointer);
    };
    ASSERT_EQ(attn_model_load(file.data(), file.size(), nullptr, &model),
              ATTN_OK);
    ASSERT_EQ(attn_model_create(model, &options, &ctx), ATTN_OK);
    made = 0;
  }
  void TearDown() override {
    attn_model_destroy(ctx);
    attn_model_unload(model);
    EXPECT_EQ(live, 0);
  }
};
int Scratch::live, Scratch::made;
size_t Scratch::limit;

TEST_F(Scratch, IsAlignedAndDistinct) {
  auto *a = static_cast<char *>(halide_malloc(ctx, 100));
  auto *b = static_cast<char *>(halide_malloc(ctx, 100));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % 64, 0u);
  EXPECT_TRUE(a + 100 <= b || b + 100 <= a);
  memset(a - 8, 0, 116); // as far as Halide reads
  memset(b - 8, 0, 116);
  halide_free(ctx, a);
  halide_free(ctx, b);
}

TEST_F(Scratch, IsReusedAndOutgrown) {
  halide_free(ctx, halide_malloc(ctx, 1000));
  halide_free(ctx, halide_malloc(ctx, 900));
  EXPECT_EQ(made, 1);
  halide_free(ctx, halide_malloc(ctx, 2000));
  EXPECT_EQ(made, 2);
  EXPECT_EQ(live, 2); // the context and one block
  halide_free(ctx, nullptr);
}

TEST_F(Scratch, OfAKernelThatLeftEarlyIsFreeAfterTheRun) {
  behaviour.before = [](void *ctx) {
    halide_malloc(ctx, 1000);
    return -5;
  };
  const float x[3] = {1, 2, 3};
  float y[3];
  Inputs in = {1, {x, {0, 0}}};
  Outputs out = {{y, {0, 0}}};
  EXPECT_EQ(attn_model_run(ctx, &in, &out, nullptr, 0), ATTN_ERROR_INTERNAL);
  int before = made;
  EXPECT_EQ(attn_model_run(ctx, &in, &out, nullptr, 0), ATTN_ERROR_INTERNAL);
  EXPECT_EQ(made, before);
}

TEST_F(Scratch, ThatIsNotThereIsAStatusWithAText) {
  behaviour.before = [](void *ctx) {
    return halide_malloc(ctx, 100000) ? 0 : -11; // as a kernel does
  };
  limit = 10000;
  const float x[3] = {1, 2, 3};
  float y[3];
  Inputs in = {1, {x, {0, 0}}};
  Outputs out = {{y, {0, 0}}};
  EXPECT_EQ(attn_model_run(ctx, &in, &out, nullptr, 0), ATTN_ERROR_MEMORY);
  EXPECT_STREQ(attn_model_last_error(ctx),
               "out of memory: a kernel needs 100000 bytes of scratch");
  EXPECT_EQ(halide_malloc(ctx, SIZE_MAX - 10), nullptr);
}

} // namespace
