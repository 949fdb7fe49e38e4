//===- MeasureMachine.cpp - what one core can do at most ------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One loop for each width of vectors, compiled for the instruction set that has
// it: this program itself is compiled for the least CPU. Predictions
// (attn-opt --emit=cost) and benchmarks take the same figures.
//
//===----------------------------------------------------------------------===//

#include "MeasureMachine.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>

namespace attn::run {

/// The processor time of this thread in seconds.
static double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         1e-9 * static_cast<double>(time.tv_nsec);
}

/// Results go here, and factors come from here, so that nothing is known at
/// compile time.
static volatile float sink = 1e-3F, factor = 0.999F;

// A macro, because a template cannot have the attribute of one of its
// arguments. Twelve chains of sums cover two units of latency 5, 24 of them
// cover what has more.
#define ATTN_MULTIPLY_ADDS(NAME, LANES, CHAINS, ATTRIBUTE)                     \
  /* GFLOP/s of one round. */                                                  \
  ATTRIBUTE static double NAME() {                                             \
    using Vector = float __attribute__((vector_size((LANES) * 4)));            \
    constexpr int chains = CHAINS, rounds = 400'000;                           \
    Vector sums[chains], a = Vector{} + factor, b = Vector{} + sink;           \
    for (int c = 0; c < chains; ++c)                                           \
      sums[c] = b * static_cast<float>(c);                                     \
    double begin = now();                                                      \
    for (int round = 0; round < rounds; ++round)                               \
      for (int c = 0; c < chains; ++c)                                         \
        sums[c] = sums[c] * a + b;                                             \
    double seconds = now() - begin;                                            \
    for (int c = 0; c < chains; ++c)                                           \
      sink = sums[c][0];                                                       \
    return 2.0 * chains * (LANES) * rounds / seconds * 1e-9;                   \
  }

ATTN_MULTIPLY_ADDS(multiplyAdds16, 4, 12, )
#ifdef __x86_64__
ATTN_MULTIPLY_ADDS(multiplyAdds32, 8, 12, __attribute__((target("avx2,fma"))))
ATTN_MULTIPLY_ADDS(multiplyAdds64, 16, 24, __attribute__((target("avx512f"))))
#endif

static double multiplyAdds(const TargetInfo &target) {
#ifdef __x86_64__
  if (target.vectorBytes == 64)
    return multiplyAdds64();
  if (target.vectorBytes == 32)
    return multiplyAdds32();
#endif
  return multiplyAdds16();
}

/// GB/s of reading `count` numbers in eight streams: kernels read several
/// panels of weights side by side, which gets more than one stream out of most
/// memories.
static double readOnce(const float *data, size_t count) {
  using Vector = float __attribute__((vector_size(16)));
  constexpr size_t chains = 8;
  const auto *vectors = reinterpret_cast<const Vector *>(data);
  Vector sums[chains] = {};
  double begin = now();
  size_t length = count / 4 / chains;
  for (size_t i = 0; i < length; ++i)
    for (size_t c = 0; c < chains; ++c)
      sums[c] += vectors[c * length + i];
  double seconds = now() - begin;
  for (const Vector &sum : sums)
    sink = sum[0];
  return static_cast<double>(count) * sizeof(float) / seconds * 1e-9;
}

Machine measureMachine(const TargetInfo &target) {
  Machine machine;
  machine.isMeasured = true;
  for (int round = 0; round < 40; ++round)
    machine.gflops = std::max(machine.gflops, multiplyAdds(target));
  // More than any cache holds.
  constexpr size_t bytes = size_t(256) << 20;
  auto *data = static_cast<float *>(std::aligned_alloc(64, bytes));
  if (!data)
    return machine;
  std::fill_n(data, bytes / sizeof(float), 1.0F);
  for (int round = 0; round < 10; ++round)
    machine.gbytes =
        std::max(machine.gbytes, readOnce(data, bytes / sizeof(float)));
  std::free(data);
  return machine;
}

} // namespace attn::run
