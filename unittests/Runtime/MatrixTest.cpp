//===- MatrixTest.cpp - tiles of the matrix unit ---------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each function against plain loops, on buffers that end where nothing may be
// read. Skipped where the CPU has no such unit.
//
//===----------------------------------------------------------------------===//
#include "TestModel.h"
#include "attn-c/cpu.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <random>
#include <sys/mman.h>
#include <vector>

#if defined(__x86_64__)
extern "C" {
void attn_rt_matrix_queries(uint32_t *, int64_t, const uint16_t *, int64_t,
                            int64_t, int32_t, int32_t, int32_t, float);
void attn_rt_matrix_values(uint16_t *, int64_t, int64_t, const uint16_t *,
                           int64_t, int64_t, int32_t, int32_t);
void attn_rt_matrix_scores(float *, int64_t, const uint32_t *, int64_t,
                           const uint16_t *, int64_t, int64_t, int32_t, int32_t,
                           int32_t, int32_t);
void attn_rt_matrix_weights(uint32_t *, int64_t, const float *, int64_t,
                            const float *, int64_t, float, int32_t, int32_t);
void attn_rt_matrix_product(float *, int64_t, const uint32_t *, int64_t,
                            const uint16_t *, int64_t, int64_t, int32_t,
                            int32_t);
void attn_rt_matrix_mix(float *, int64_t, const uint32_t *, int64_t,
                        const uint16_t *, int64_t, int64_t, int32_t, int32_t,
                        int32_t);
}

namespace {

/// Elements that end where an inaccessible page begins.
template <typename T> class Guarded {
public:
  explicit Guarded(size_t count) : count(count) {
    constexpr size_t page = 4096;
    size_t bytes = (count * sizeof(T) + page - 1) / page * page;
    size = bytes + page;
    memory = static_cast<char *>(mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory + bytes, page, PROT_NONE);
    first = reinterpret_cast<T *>(memory + bytes) - count;
  }
  ~Guarded() { munmap(memory, size); }
  Guarded(const Guarded &) = delete;
  T *data() { return first; }
  T &operator[](size_t i) { return first[i]; }

  size_t count;

private:
  size_t size;
  char *memory;
  T *first;
};

float numberOf(uint32_t bits) {
  float number;
  std::memcpy(&number, &bits, 4);
  return number;
}
float brain(uint16_t bits) { return numberOf(uint32_t(bits) << 16); }
float half(uint32_t pair, int64_t which) {
  return brain(static_cast<uint16_t>(which ? pair >> 16 : pair & 0xffff));
}

class Matrix : public testing::Test {
protected:
  void SetUp() override {
    if (!(attn_rt_cpu_features(ATTN_CPU_X86_64_V4_AMX) & ATTN_CPU_AMX_BF16))
      GTEST_SKIP() << "this CPU has no matrix unit";
    // Sets the tile registers up.
    Guarded<uint16_t> query(32);
    Guarded<uint32_t> pairs(16 * 32);
    attn_rt_matrix_queries(pairs.data(), 0, query.data(), 0, 32, 1, 32, 32, 1);
  }
  void TearDown() override {
    if (IsSkipped()) // The tests of other CPUs follow.
      return;
    attn_variant variant = {};
    variant.cpu_features = ATTN_CPU_X86_64_V4_AMX;
    attn_rt_matrix_release(&variant);
  }
  void fill(Guarded<uint16_t> &array) {
    std::normal_distribution<float> normal;
    for (size_t i = 0; i < array.count; ++i) {
      float number = normal(generator);
      uint32_t bits;
      std::memcpy(&bits, &number, 4);
      array[i] = static_cast<uint16_t>(bits >> 16);
    }
  }
  std::mt19937 generator{1};
};

TEST_F(Matrix, PairsQueriesAndMultipliesThemWithKeys) {
  for (int channels : {32, 64, 96, 128, 512})
    for (int rows : {1, 15, 16, 31, 32})
      for (int keys : {32, 64, 128})
        for (int valid : {1, keys - 17, keys - 1, keys}) {
          int stride = channels + 6;
          Guarded<uint16_t> query(size_t(rows - 1) * stride + channels);
          Guarded<uint16_t> key(size_t(valid - 1) * stride + channels);
          Guarded<uint32_t> pairs(size_t(channels) / 2 * 32);
          Guarded<float> scores(size_t(keys) * 32);
          fill(query);
          fill(key);
          attn_rt_matrix_queries(pairs.data(), 0, query.data(), 0, stride, rows,
                                 32, channels, -1);
          attn_rt_matrix_scores(scores.data(), 0, pairs.data(), 0, key.data(),
                                0, stride, valid, 32, keys, channels);
          for (int j = 0; j < keys; ++j)
            for (int i = 0; i < 32; ++i) {
              double sum = 0, size = 0;
              for (int d = 0; d < channels && i < rows && j < valid; ++d) {
                double product = -double(brain(query[i * stride + d])) *
                                 double(brain(key[j * stride + d]));
                sum += product;
                size += std::fabs(product);
              }
              ASSERT_NEAR(scores[j * 32 + i], sum, 1e-6 * size + 1e-30)
                  << channels << " channels, " << rows << " rows, " << valid
                  << " of " << keys << " keys at " << j << ", " << i;
            }
        }
}

TEST_F(Matrix, ASignOfZeroLeavesZeroOrNaN) {
  Guarded<uint16_t> query(32);
  fill(query);
  query[3] = 0x7f80; // infinity
  query[4] = 0xffc1; // NaN
  Guarded<uint32_t> pairs(16 * 32);
  attn_rt_matrix_queries(pairs.data(), 0, query.data(), 0, 32, 1, 32, 32, 0);
  for (int d = 0; d < 32; ++d) {
    float number = half(pairs[d / 2 * 32], d % 2);
    if (d == 3 || d == 4)
      EXPECT_TRUE(std::isnan(number)) << d;
    else
      EXPECT_EQ(number, 0.0f) << d;
  }
}

TEST_F(Matrix, TransposesValuesAndMixesThem) {
  for (int channels : {1, 7, 32, 33, 64, 80})
    for (int valid : {1, 5, 31, 32}) {
      int whole = (channels + 31) / 32 * 32, stride = channels + 3;
      Guarded<uint16_t> value(size_t(valid - 1) * stride + channels);
      Guarded<uint16_t> columns(size_t(whole) * 32);
      Guarded<uint32_t> weights(size_t(16) * 32);
      Guarded<float> mix(size_t(whole) * 32);
      fill(value);
      attn_rt_matrix_values(columns.data(), 0, 32, value.data(), 0, stride,
                            valid, channels);
      for (int d = 0; d < whole; ++d)
        for (int j = 0; j < 32; ++j)
          ASSERT_EQ(columns[d * 32 + j],
                    d < channels && j < valid ? value[j * stride + d] : 0)
              << channels << " channels, " << valid << " rows at " << d << ", "
              << j;
      for (size_t i = 0; i < weights.count; ++i)
        weights[i] = uint32_t(generator() & 0x3fff3fff);
      // Keys behind the last one that counts may be anything.
      for (int d = 0; d < whole; ++d)
        for (int j = valid; j < 32; ++j)
          columns[d * 32 + j] = 0x7fc0;
      attn_rt_matrix_mix(mix.data(), 0, weights.data(), 0, columns.data(), 0,
                         32, valid, 32, whole);
      for (int d = 0; d < whole; ++d)
        for (int i = 0; i < 32; ++i) {
          double sum = 0, size = 0;
          for (int j = 0; j < valid; ++j) {
            double product = double(half(weights[j / 2 * 32 + i], j % 2)) *
                             double(brain(columns[d * 32 + j]));
            sum += product;
            size += std::fabs(product);
          }
          ASSERT_NEAR(mix[d * 32 + i], sum, 1e-6 * size + 1e-35);
        }
    }
}

TEST_F(Matrix, MultipliesRowsWithWeights) {
  for (int channels : {32, 96, 256})
    for (int outputs : {32, 160})
      for (int rows : {1, 17, 32}) {
        int stride = channels + 5;
        Guarded<uint16_t> input(size_t(rows) * channels);
        Guarded<uint16_t> weight(size_t(outputs - 1) * stride + channels);
        Guarded<uint32_t> pairs(size_t(channels) / 2 * 32);
        Guarded<float> result(size_t(outputs) * 32);
        fill(input);
        fill(weight);
        attn_rt_matrix_queries(pairs.data(), 0, input.data(), 0, channels, rows,
                               32, channels, 1);
        attn_rt_matrix_product(result.data(), 0, pairs.data(), 0, weight.data(),
                               0, stride, outputs, channels);
        for (int m = 0; m < 32; ++m)
          for (int n = 0; n < outputs; ++n) {
            double sum = 0, size = 0;
            for (int k = 0; k < channels && m < rows; ++k) {
              double product = double(brain(input[m * channels + k])) *
                               double(brain(weight[n * stride + k]));
              sum += product;
              size += std::fabs(product);
            }
            ASSERT_NEAR(result[m * outputs + n], sum, 1e-6 * size + 1e-30)
                << channels << " channels at " << m << ", " << n;
          }
      }
}

TEST_F(Matrix, RoundsWeightsAndSumsThemUp) {
  constexpr int keys = 64, queries = 32;
  Guarded<float> scores(keys * queries), offsets(queries);
  Guarded<uint32_t> weights((keys / 2 + 1) * queries);
  std::uniform_real_distribution<float> uniform(-40, 0);
  for (size_t i = 0; i < scores.count; ++i)
    scores[i] = uniform(generator);
  for (int i = 0; i < queries; ++i)
    offsets[i] = float(i % 3) - 1;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  scores[5 * queries + 1] = -infinity;
  scores[6 * queries + 2] = NAN;
  scores[7 * queries + 4] = infinity;
  offsets[4] = infinity;
  for (int j = 0; j < keys; ++j)
    scores[j * queries + 3] = -infinity;
  offsets[3] = std::numeric_limits<float>::lowest();
  attn_rt_matrix_weights(weights.data(), 0, scores.data(), 0, offsets.data(), 0,
                         0.5f, queries, keys);
  for (int i = 0; i < queries; ++i) {
    double sum = 0;
    for (int j = 0; j < keys; ++j) {
      double exact =
          std::exp2(0.5 * scores[j * queries + i] - double(offsets[i]));
      float got = half(weights[j / 2 * queries + i], j % 2);
      if (std::isnan(exact)) {
        EXPECT_TRUE(std::isnan(got));
      } else if (i != 4) {
        // Half a unit of bf16, and the polynomial.
        EXPECT_NEAR(got, exact, exact * (0x1p-8 + 1e-4)) << j << ", " << i;
      }
      sum += exact;
    }
    float got = numberOf(weights[keys / 2 * queries + i]);
    if (std::isnan(sum))
      EXPECT_TRUE(std::isnan(got)) << i;
    else
      EXPECT_NEAR(got, sum, 1e-4 * sum) << i;
  }
  EXPECT_EQ(half(weights[5 / 2 * queries + 1], 1), 0.0f);
  EXPECT_EQ(numberOf(weights[keys / 2 * queries + 3]), 0.0f);
}

} // namespace
#endif
