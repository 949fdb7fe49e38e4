//===- CopyTest.cpp - strided copies ----------------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TestModel.h"
#include "gtest/gtest.h"
#include <numeric>

namespace {

TEST(Copy, GathersRowsAndColumns) {
  std::vector<int32_t> from(24), to(6, -1);
  std::iota(from.begin(), from.end(), 0);
  const int64_t fromStrides[] = {8, 2}, toStrides[] = {3, 1}, sizes[] = {2, 3};
  attn_rt_copy(to.data(), toStrides, from.data(), fromStrides, sizes, 2, 4);
  EXPECT_EQ(to, (std::vector<int32_t>{0, 2, 4, 8, 10, 12}));
}

TEST(Copy, ScattersWithoutTouchingWhatLiesBetween) {
  std::vector<int16_t> from = {1, 2, 3, 4}, to(9, -1);
  const int64_t fromStrides[] = {2, 1}, toStrides[] = {5, 2}, sizes[] = {2, 2};
  attn_rt_copy(to.data(), toStrides, from.data(), fromStrides, sizes, 2, 2);
  EXPECT_EQ(to, (std::vector<int16_t>{1, -1, 2, -1, -1, 3, -1, 4, -1}));
}

TEST(Copy, RepeatsAnInputOfStrideZero) {
  const double from = 4;
  std::vector<double> to(6);
  const int64_t zero[] = {0, 0, 0}, dense[] = {6, 3, 1}, sizes[] = {1, 2, 3};
  attn_rt_copy(to.data(), dense, &from, zero, sizes, 3, 8);
  EXPECT_EQ(to, std::vector<double>(6, 4));
}

TEST(Copy, TakesScalarsAndEmptyTensors) {
  int64_t from = 5, to = 0;
  attn_rt_copy(&to, nullptr, &from, nullptr, nullptr, 0, 8);
  EXPECT_EQ(to, 5);
  const int64_t strides[] = {0, 1}, sizes[] = {3, 0};
  attn_rt_copy(&to, strides, nullptr, strides, sizes, 2, 8);
  EXPECT_EQ(to, 5);
}

} // namespace
