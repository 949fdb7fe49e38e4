//===- PoolTest.cpp - threads of a context ----------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TestModel.h"
#include "gtest/gtest.h"
#include <atomic>
#include <set>
#include <thread>

namespace {

struct Pool : testing::Test {
  attn_memory memory;
  attn_pool *pool = nullptr;

  void SetUp() override {
    ASSERT_TRUE(attn_rt_memory(nullptr, &memory));
    ASSERT_EQ(attn_rt_pool_create(&memory, 4, &pool), ATTN_OK);
  }
  void TearDown() override { attn_rt_pool_destroy(&memory, pool); }
};

TEST_F(Pool, RunsEachIndexOnce) {
  static std::atomic<int> counts[1000];
  for (int round = 1; round <= 50; ++round) {
    auto task = [](void *, int i) {
      ++counts[i];
      return 0;
    };
    ASSERT_EQ(attn_rt_pool_run(pool, task, nullptr, 1000), 0);
    for (auto &count : counts)
      ASSERT_EQ(count, round);
  }
}

// Of many tasks a thread draws several at once, and the last may be fewer.
TEST_F(Pool, RunsEachOfManyIndicesOnce) {
  for (int count : {511, 512, 1023, 1024, 1025, 10007, 100000}) {
    static std::vector<std::atomic<int>> counts;
    counts = std::vector<std::atomic<int>>(count + 1000);
    auto task = [](void *, int i) {
      ++counts[i];
      return 0;
    };
    ASSERT_EQ(attn_rt_pool_run(pool, task, nullptr, count), 0);
    for (size_t i = 0; i < counts.size(); ++i)
      ASSERT_EQ(counts[i], i < size_t(count) ? 1 : 0) << i << " of " << count;
  }
}

TEST_F(Pool, ReturnsWhatATaskReturnsThatFailed) {
  auto task = [](void *, int i) { return i == 7 ? -42 : 0; };
  EXPECT_EQ(attn_rt_pool_run(pool, task, nullptr, 100), -42);
  EXPECT_EQ(attn_rt_pool_run(pool, task, nullptr, 100000), -42);
  auto good = [](void *, int) { return 0; };
  EXPECT_EQ(attn_rt_pool_run(pool, good, nullptr, 100), 0);
}

TEST_F(Pool, RunsLoopsInsideOfTasks) {
  static std::atomic<int> sum;
  sum = 0;
  auto inner = [](void *, int) {
    ++sum;
    return 0;
  };
  static int (*innerTask)(void *, int) = inner;
  auto outer = [](void *pool, int) {
    return attn_rt_pool_run(static_cast<attn_pool *>(pool), innerTask, nullptr,
                            10);
  };
  EXPECT_EQ(attn_rt_pool_run(pool, outer, pool, 20), 0);
  EXPECT_EQ(sum, 200);
}

TEST_F(Pool, UsesSeveralThreads) {
  static std::atomic<int> inside, most;
  inside = most = 0;
  auto task = [](void *, int) {
    int now = ++inside;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);)
      ;
    // Long enough for the others to arrive.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    --inside;
    return 0;
  };
  ASSERT_EQ(attn_rt_pool_run(pool, task, nullptr, 8), 0);
  EXPECT_GT(most, 1);
  EXPECT_LE(most, 4);
}

// Threads look for work for a tenth of a millisecond, then sleep.
TEST_F(Pool, WakesThreadsThatFellAsleep) {
  static std::atomic<int> arrived;
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(round % 4));
    arrived = 0;
    auto task = [](void *, int) {
      // Nobody can finish before two threads are here.
      ++arrived;
      while (arrived < 2)
        std::this_thread::yield();
      return 0;
    };
    ASSERT_EQ(attn_rt_pool_run(pool, task, nullptr, 2), 0);
    ASSERT_EQ(arrived, 2);
  }
}

TEST(Serial, RunsInOrderWithoutAPool) {
  static std::vector<int> order;
  order.clear();
  auto task = [](void *, int i) {
    order.push_back(i);
    return i == 2 ? 5 : 0;
  };
  EXPECT_EQ(attn_rt_pool_run(nullptr, task, nullptr, 4), 5);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

} // namespace
