//===- Random.h - random numbers -------------------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An own generator instead of <random>, whose distributions differ between
// standard libraries: a seed gives the same numbers on every machine.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_RANDOM_H
#define ATTN_TOOLS_ATTN_RUN_RANDOM_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace attn::run {

/// SplitMix64.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// 0 <= x < limit.
  int64_t below(int64_t limit) {
    return limit <= 1 ? 0 : static_cast<int64_t>(next() % limit);
  }
  /// low <= x <= high.
  int64_t between(int64_t low, int64_t high) {
    return low + below(high - low + 1);
  }
  /// True once in `n` times.
  bool oneIn(int64_t n) { return below(n) == 0; }
  template <typename T> const T &pick(llvm::ArrayRef<T> choices) {
    return choices[below(choices.size())];
  }
  /// The sum of twelve uniform numbers is close to a normal distribution, and
  /// needs no function whose last bit differs between libraries.
  double normal() {
    double sum = -6;
    for (unsigned i = 0; i < 12; ++i)
      sum += static_cast<double>(next() >> 11) * 0x1p-53;
    return sum;
  }

private:
  uint64_t state;
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_RANDOM_H
