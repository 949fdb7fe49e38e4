//===- RepackTest.cpp - weight panels of another width ----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TestModel.h"
#include "gtest/gtest.h"
#include <numeric>

namespace {

TEST(Repack, PacksRowsIntoPanelsAndPadsWithZeros) {
  // (n, k) = (3, 2)
  const std::vector<float> matrix = {1, 2, 3, 4, 5, 6};
  std::vector<float> panels(8, -1);
  attn_rt_repack(matrix.data(), 0, panels.data(), 2, 3, 2, 4);
  EXPECT_EQ(panels, (std::vector<float>{1, 3, 2, 4, 5, 0, 6, 0}));
}

TEST(Repack, GoesFromAnyWidthToAnyOtherAndBack) {
  const int64_t n = 7, k = 5;
  std::vector<float> matrix(n * k), again(n * k, -1);
  std::iota(matrix.begin(), matrix.end(), 1);
  for (int64_t a : {1, 3, 4, 8})
    for (int64_t b : {0, 1, 2, 7, 16}) {
      std::vector<float> first((n + a) * k * 2), second((n + b + 16) * k * 2);
      attn_rt_repack(matrix.data(), 0, first.data(), a, n, k, 4);
      attn_rt_repack(first.data(), a, second.data(), b, n, k, 4);
      attn_rt_repack(second.data(), b, again.data(), 0, n, k, 4);
      EXPECT_EQ(again, matrix) << a << " to " << b;
    }
}

} // namespace
