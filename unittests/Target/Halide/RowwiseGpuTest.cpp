//===- RowwiseGpuTest.cpp - rows on devices --------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What RowwiseTest.cpp does not ask of CPUs: numbers of 16 bits, constants that
// are chosen from, rows that do not fit in shared memory, other numbers of
// threads.
//
//===----------------------------------------------------------------------===//
#include "KernelRunner.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace attn::testing;
using llvm::formatv;

namespace {

constexpr Placement back = Placement::Back;

/// All f16 and bf16 numbers, denormal and infinite ones and NaN, to f32 and
/// back.
TEST(RowwiseGpu, KeepsNumbersOf16Bits) {
  ATTN_SKIP_WITHOUT_OPENCL();
  for (std::string element : {"f16", "bf16"}) {
    std::string type = formatv("tensor<?x256x{0}>", element);
    auto kernel = CompiledKernel::compile(
        formatv("attn.kernel @rowwise_0(%x: {0}) -> {0} {{\n"
                "  %y = arith.negf %x : {0}\n"
                "  attn.yield %y : {0}\n}",
                type),
        "opencl");
    ASSERT_TRUE(kernel);
    Tensor x =
        makeTensor(halide_type_t(halide_type_uint, 16), {256, 256}, back);
    Tensor y = makeTensor(x.type, x.shape, back);
    for (int i = 0; i < 65536; ++i)
      x.as<uint16_t>()[i] = i;
    ASSERT_EQ(kernel->run({x, y}), 0);
    int infinite = element == "f16" ? 0x7c00 : 0x7f80;
    for (int i = 0; i < 65536; ++i) {
      int negated = y.as<uint16_t>()[i];
      if ((i & 0x7fff) > infinite)
        ASSERT_GT(negated & 0x7fff, infinite) << element << " bits " << i;
      else if (element == "bf16" && (i & 0x7fff) < 0x80)
        // f32 denormals, which a device may take for zero.
        ASSERT_TRUE((negated ^ i) == 0x8000 || (negated & 0x7fff) == 0);
      else if ((i & 0x7fff) == 0) // The sign of a zero is free.
        ASSERT_EQ(negated & 0x7fff, 0);
      else
        ASSERT_EQ(negated ^ i, 0x8000) << element << " bits " << i;
    }
  }
}

TEST(RowwiseGpu, NormOf16Bits) {
  ATTN_SKIP_WITHOUT_OPENCL();
  auto kernel = CompiledKernel::compile(
      R"mlir(
attn.kernel @norm_0(%x: tensor<?x?x70xf16>, %r: tensor<?x?x70xf16>, %g: tensor<70xf16>, %b: tensor<70xf16>)
    -> tensor<?x?x70xf16> attributes {schedule = #attn.gpu_rowwise_schedule<x = 32>} {
  %0 = arith.addf %x, %r : tensor<?x?x70xf16>
  %y = attn.layer_norm %0, %g, %b epsilon(1.0e-5) : tensor<?x?x70xf16>, tensor<70xf16>, tensor<70xf16>
  attn.yield %y : tensor<?x?x70xf16>
})mlir",
      "opencl");
  ASSERT_TRUE(kernel);
  auto make = [](std::vector<int64_t> shape, uint32_t seed) {
    Tensor tensor = makeFloats(std::move(shape), back);
    fillRandom(tensor, seed, 2.0f);
    return narrowTo(tensor, "f16", back);
  };
  int64_t d = 70;
  Tensor x = make({2, 3, d}, 1), r = make({2, 3, d}, 2), g = make({d}, 3),
         b = make({d}, 4), y = make({2, 3, d}, 5);
  ASSERT_EQ(kernel->run({x, r, g, b, y}), 0);
  auto wide = [](const Tensor &tensor) {
    return widenFrom(tensor, "f16", back);
  };
  Tensor wx = wide(x), wr = wide(r), wg = wide(g), wb = wide(b), wy = wide(y);
  for (int64_t row = 0; row < 6; ++row) {
    std::vector<double> sum(d);
    double mean = 0, variance = 0;
    for (int64_t n = 0; n < d; ++n) {
      sum[n] =
          double(wx.as<float>()[row * d + n]) + wr.as<float>()[row * d + n];
      mean += sum[n] / d;
    }
    for (double value : sum)
      variance += std::pow(value - mean, 2) / d;
    for (int64_t n = 0; n < d; ++n)
      ASSERT_NEAR(wy.as<float>()[row * d + n],
                  (sum[n] - mean) / std::sqrt(variance + 1e-5) *
                          wg.as<float>()[n] +
                      wb.as<float>()[n],
                  4e-3);
  }
}

TEST(RowwiseGpu, SelectsConstants) {
  ATTN_SKIP_WITHOUT_OPENCL();
  auto kernel = CompiledKernel::compile(
      R"mlir(
attn.kernel @rowwise_0(%a: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xi64>) {
  %c = arith.constant dense<[[0.0, 1.0, 2.0, 0xFF800000], [4.0, 5.0, 6.0, 7.0], [8.0, -9.0, 0x7FC00000, 11.0]]> : tensor<3x4xf32>
  %k = arith.constant dense<[[0, 1, 2, -3], [4, 5, 6, 7], [8, 9, 10, 1099511627776]]> : tensor<3x4xi64>
  %0 = arith.addf %a, %c : tensor<3x4xf32>
  %1 = arith.addi %k, %k : tensor<3x4xi64>
  attn.yield %0, %1 : tensor<3x4xf32>, tensor<3x4xi64>
})mlir",
      "opencl");
  ASSERT_TRUE(kernel);
  Tensor a = makeFloats({3, 4}, back), y = makeFloats({3, 4}, back);
  Tensor z = makeTensor(halide_type_t(halide_type_int, 64), {3, 4}, back);
  for (int i = 0; i < 12; ++i)
    a.as<float>()[i] = 0.5f;
  ASSERT_EQ(kernel->run({a, y, z}), 0);
  for (int i = 0; i < 12; ++i) {
    float expected = i == 3   ? -std::numeric_limits<float>::infinity()
                     : i == 9 ? -8.5f
                              : i + 0.5f;
    if (i == 10)
      EXPECT_TRUE(std::isnan(y.as<float>()[i]));
    else
      EXPECT_EQ(y.as<float>()[i], expected);
    int64_t number = i == 3 ? -3 : i == 11 ? int64_t(1) << 40 : i;
    EXPECT_EQ(z.as<int64_t>()[i], 2 * number);
  }
}

TEST(RowwiseGpu, RefusesLargeConstants) {
  std::string numbers = "[0";
  for (int i = 1; i < 65; ++i)
    numbers += ", " + std::to_string(i);
  EXPECT_EQ(
      compileError(
          formatv("attn.kernel @rowwise_0(%a: tensor<65xi64>) -> "
                  "tensor<65xi64> {{\n"
                  "  %c = arith.constant dense<{0}]> : tensor<65xi64>\n"
                  "  %0 = arith.addi %a, %c : tensor<65xi64>\n"
                  "  attn.yield %0 : tensor<65xi64>\n}",
                  numbers),
          "opencl"),
      "'arith.constant' op not supported by the Halide target: expected at "
      "most 64 different elements of a constant in a kernel of a device, got "
      "65: make it a weight of the model");
}

/// Exponentials of a row that fit in shared memory are kept, others computed
/// twice.
TEST(RowwiseGpu, SoftmaxOfRowsOfAnyLength) {
  ATTN_SKIP_WITHOUT_OPENCL();
  for (int64_t d : {1024, 9001}) {
    auto kernel = CompiledKernel::compile(
        formatv("attn.kernel @softmax_0(%x: tensor<?x{0}xf32>) -> "
                "tensor<?x{0}xf32> attributes {{schedule = "
                "#attn.gpu_rowwise_schedule<x = 100>} {{\n"
                "  %y = attn.softmax %x : tensor<?x{0}xf32> -> "
                "tensor<?x{0}xf32>\n"
                "  attn.yield %y : tensor<?x{0}xf32>\n}",
                d),
        "opencl");
    ASSERT_TRUE(kernel);
    Tensor x = makeFloats({3, d}, back), y = makeFloats({3, d}, back);
    fillRandom(x, 1, 8.0f);
    ASSERT_EQ(kernel->run({x, y}), 0);
    for (int64_t r = 0; r < 3; ++r) {
      const float *in = x.as<float>() + r * d;
      double sum = 0, highest = *std::max_element(in, in + d);
      for (int64_t n = 0; n < d; ++n)
        sum += std::exp(in[n] - highest);
      for (int64_t n = 0; n < d; ++n) {
        double expected = std::exp(in[n] - highest) / sum;
        ASSERT_NEAR(y.as<float>()[r * d + n], expected, 5e-6 * expected);
      }
    }
  }
}

/// Rows and sequences of nothing have results.
TEST(RowwiseGpu, SumsUpNothing) {
  ATTN_SKIP_WITHOUT_OPENCL();
  auto softmax = CompiledKernel::compile(
      R"mlir(
attn.kernel @softmax_0(%x: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %y, %l = attn.softmax %x : tensor<?x?xf32> -> tensor<?x?xf32>, tensor<?xf32>
  attn.yield %y, %l : tensor<?x?xf32>, tensor<?xf32>
})mlir",
      "opencl");
  auto pool = CompiledKernel::compile(
      R"mlir(
attn.kernel @pool_0(%x: tensor<?x?x9xf32>) -> tensor<?x9xf32> {
  %0 = attn.pool %x<mean> : tensor<?x?x9xf32> -> tensor<?x9xf32>
  attn.yield %0 : tensor<?x9xf32>
})mlir",
      "opencl");
  ASSERT_TRUE(softmax && pool);
  Tensor x = makeFloats({5, 0}, back), y = makeFloats({5, 0}, back),
         lse = makeFloats({5}, back);
  ASSERT_EQ(softmax->run({x, y, lse}), 0);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(lse.as<float>()[i], -std::numeric_limits<float>::infinity());
  Tensor sequences = makeFloats({2, 0, 9}, back),
         means = makeFloats({2, 9}, back);
  ASSERT_EQ(pool->run({sequences, means}), 0);
  for (int i = 0; i < 18; ++i)
    EXPECT_EQ(means.as<float>()[i], 0.0f);
}

TEST(RowwiseGpu, PoolsWithoutAMask) {
  ATTN_SKIP_WITHOUT_OPENCL();
  for (const char *kind : {"mean", "cls"}) {
    auto kernel = CompiledKernel::compile(
        formatv("attn.kernel @pool_0(%x: tensor<?x?x70xf32>) -> "
                "tensor<?x70xf32> {{\n"
                "  %0 = attn.pool %x<{0}> : tensor<?x?x70xf32> -> "
                "tensor<?x70xf32>\n"
                "  attn.yield %0 : tensor<?x70xf32>\n}",
                kind),
        "opencl");
    ASSERT_TRUE(kernel);
    Tensor x = makeFloats({2, 5, 70}, back), y = makeFloats({2, 70}, back);
    fillRandom(x, 1);
    ASSERT_EQ(kernel->run({x, y}), 0);
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t n = 0; n < 70; ++n) {
        double sum = 0;
        for (int64_t s = 0; s < 5; ++s)
          sum += x.as<float>()[(b * 5 + s) * 70 + n];
        ASSERT_NEAR(y.as<float>()[b * 70 + n],
                    kind[0] == 'm' ? sum / 5 : x.as<float>()[b * 350 + n],
                    1e-6);
      }
  }
}

} // namespace
