//===- MathTest.cpp - errors of the kernels' own functions -----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each function over a dense grid against f64, and at the edges of f32. The
// bounds are those that Math.h states; docs/Halide.md lists what was measured.
//
//===----------------------------------------------------------------------===//
#include "KernelRunner.h"

#include "llvm/Support/FormatVariadic.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace attn::testing;
using llvm::formatv;
using ::testing::ElementsAre;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

struct Function {
  const char *name;
  const char *operation; // {0} is the operand
  double (*exact)(double);
  float low, high;
  double absolute, relative; // error <= absolute + relative * |exact|
};

double geluErf(double x) {
  return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
}

double geluTanh(double x) {
  double u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
  return x * 0.5 * (1 + std::tanh(u));
}

class Math : public ::testing::TestWithParam<Function> {
protected:
  std::vector<float> apply(const std::vector<float> &inputs) {
    if (!kernel)
      kernel = CompiledKernel::compile(
          formatv("attn.kernel @rowwise_0(%x: tensor<?xf32>) -> tensor<?xf32> "
                  "{{\n  %y = {0} : tensor<?xf32>\n"
                  "  attn.yield %y : tensor<?xf32>\n}",
                  formatv(GetParam().operation, "%x").str()));
    int64_t size = inputs.size();
    Tensor x = makeFloats({size}, Placement::Back);
    Tensor y = makeFloats({size}, Placement::Back);
    std::copy(inputs.begin(), inputs.end(), x.as<float>());
    if (!kernel || kernel->run({x, y}) != 0)
      return {};
    return std::vector<float>(y.as<float>(), y.as<float>() + size);
  }

private:
  std::unique_ptr<CompiledKernel> kernel;
};

TEST_P(Math, StaysInItsErrorBound) {
  const Function &f = GetParam();
  constexpr int count = 2000003;
  std::vector<float> inputs;
  inputs.reserve(count);
  for (int i = 0; i < count; ++i)
    inputs.push_back(f.low + (f.high - f.low) * float(i) / float(count - 1));
  std::vector<float> results = apply(inputs);
  ASSERT_EQ(results.size(), inputs.size());
  double absolute = 0, relative = 0, worst = 0;
  for (int i = 0; i < count; ++i) {
    double exact = f.exact(inputs[i]);
    double error = std::abs(results[i] - exact);
    ASSERT_FALSE(std::isnan(results[i])) << inputs[i];
    absolute = std::max(absolute, error);
    if (std::abs(exact) > 1e-30)
      relative = std::max(relative, error / std::abs(exact));
    worst = std::max(worst, error - f.absolute - f.relative * std::abs(exact));
  }
  RecordProperty("absolute", formatv("{0:e2}", absolute).str());
  RecordProperty("relative", formatv("{0:e2}", relative).str());
  EXPECT_LE(worst, 0) << f.name << ": largest absolute error " << absolute
                      << ", largest relative error " << relative;
}

TEST_P(Math, KeepsNaN) {
  std::vector<float> results = apply({std::nanf(""), -std::nanf(""), 0.5f});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_TRUE(std::isnan(results[0]));
  EXPECT_TRUE(std::isnan(results[1]));
  EXPECT_FALSE(std::isnan(results[2]));
}

INSTANTIATE_TEST_SUITE_P(
    Functions, Math,
    ::testing::Values(
        Function{"exp2", "math.exp2 {0}", std::exp2, -125, 127.99f, 0, 3e-7},
        Function{"exp", "math.exp {0}", std::exp, -86.5f, 88.7f, 0, 4e-7},
        Function{"log", "math.log {0}", std::log, 1e-3f, 4e4f, 0, 2e-7},
        Function{"log near one", "math.log {0}", std::log, 0.5f, 2, 0, 2e-7},
        Function{"log of large numbers", "math.log {0}", std::log, 1e30f, 3e38f,
                 0, 2e-7},
        Function{"log of denormals", "math.log {0}", std::log, 1e-44f, 1e-37f,
                 0, 2e-7},
        Function{"tanh", "math.tanh {0}", std::tanh, -12, 12, 0, 5e-7},
        Function{"tanh near zero", "math.tanh {0}", std::tanh, -0.01f, 0.01f, 0,
                 5e-7},
        Function{"erf", "math.erf {0}", std::erf, -6, 6, 4e-7, 0},
        Function{"gelu erf", "attn.gelu {0}<erf>", geluErf, -12, 12, 1.5e-6, 0},
        Function{"gelu tanh", "attn.gelu {0}<tanh>", geluTanh, -12, 12, 1.5e-6,
                 0}),
    [](const auto &info) {
      std::string name = info.param.name;
      std::replace(name.begin(), name.end(), ' ', '_');
      return name;
    });

/// Four numbers through an operation on %x.
std::vector<float> evaluate(const std::string &operation,
                            const std::vector<float> &inputs) {
  auto kernel = CompiledKernel::compile(
      formatv("attn.kernel @rowwise_0(%x: tensor<4xf32>) -> tensor<4xf32> "
              "{{\n  %y = {0} : tensor<4xf32>\n"
              "  attn.yield %y : tensor<4xf32>\n}",
              operation));
  if (!kernel)
    return {};
  Tensor x = makeFloats({4}, Placement::Back);
  Tensor y = makeFloats({4}, Placement::Back);
  std::copy(inputs.begin(), inputs.end(), x.as<float>());
  EXPECT_EQ(kernel->run({x, y}), 0);
  return {y.as<float>(), y.as<float>() + 4};
}

TEST(MathEdges, ExponentialsOfLargeNumbers) {
  for (const char *operation : {"math.exp %x", "math.exp2 %x"})
    EXPECT_THAT(evaluate(operation, {-infinity, -1e30f, 1e30f, infinity}),
                ElementsAre(0, 0, infinity, infinity))
        << operation;
}

TEST(MathEdges, ExponentialsOfZero) {
  // The largest score of a row has weight 1, each time that it is rescaled.
  for (const char *operation : {"math.exp %x", "math.exp2 %x"})
    EXPECT_THAT(evaluate(operation, {0.0f, -0.0f, 1e-44f, -1e-44f}),
                ::testing::Each(1.0f))
        << operation;
}

TEST(MathEdges, LogarithmsOfNoNumbers) {
  EXPECT_THAT(evaluate("math.log %x", {0.0f, -0.0f, 1.0f, infinity}),
              ElementsAre(-infinity, -infinity, 0, infinity));
  EXPECT_THAT(evaluate("math.log %x", {-1.0f, -1e-44f, -1e30f, -infinity}),
              ::testing::Each(::testing::IsNan()));
}

TEST(MathEdges, GeluOfLargeNumbers) {
  // The error must not grow with |x|.
  auto isZero = ::testing::FloatNear(0, 5e-7f);
  for (const char *operation : {"attn.gelu %x<erf>", "attn.gelu %x<tanh>"})
    EXPECT_THAT(evaluate(operation, {-1e6f, 1e6f, -3e38f, infinity}),
                ElementsAre(isZero, 1e6f, isZero, infinity))
        << operation;
}

} // namespace
