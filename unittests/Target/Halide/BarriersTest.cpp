//===- BarriersTest.cpp - where a block of threads waits --------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Barriers.h"
#include "gtest/gtest.h"

using namespace Halide;

namespace {

/// Looks at a lowered pipeline.
class Look final : public Internal::IRMutator {
public:
  explicit Look(bool &found) : found(found) {}
  Internal::Stmt mutate(const Internal::Stmt &stmt) override {
    found = attn::hasBarrier(stmt);
    return stmt;
  }
  using IRMutator::mutate;

private:
  bool &found;
};

/// Whether there is a barrier in a block of 16 threads that store a number each
/// and read that of thread `read(thread)`.
template <typename Read> bool waits(MemoryType memory, bool drop, Read read) {
  Func stored("stored"), output("output");
  Var x("x"), block("block"), thread("thread");
  stored(x) = x * 3;
  output(x) = stored(x / 16 * 16 + read(x % 16));
  output.bound(x, 0, 64).split(x, block, thread, 16);
  output.gpu_blocks(block).gpu_threads(thread);
  stored.compute_at(output, block).store_in(memory).gpu_threads(x);
  Pipeline pipeline(output);
  if (drop)
    attn::dropIdleBarriers(pipeline);
  bool found = false;
  pipeline.add_custom_lowering_pass(new Look(found));
  pipeline.compile_to_module({}, "kernel",
                             Target("x86-64-linux-opencl-no_runtime"));
  return found;
}

Expr other(const Expr &thread) { return 15 - thread; }
Expr same(const Expr &thread) { return thread; }

TEST(Barriers, StayBehindWhatOthersRead) {
  EXPECT_TRUE(waits(MemoryType::GPUShared, /*drop=*/false, other));
  EXPECT_TRUE(waits(MemoryType::GPUShared, /*drop=*/true, other));
}

TEST(Barriers, GoBehindRegisters) {
  EXPECT_TRUE(waits(MemoryType::Register, /*drop=*/false, same));
  EXPECT_FALSE(waits(MemoryType::Register, /*drop=*/true, same));
}

} // namespace
