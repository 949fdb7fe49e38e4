//===- LinearGpuTest.cpp - linear layers of devices against f64 -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// As LinearTest.cpp, on an OpenCL device: numbers of rows around a tile of
// rows, tails of panels and of K, strided rows, each row once alone.
//
//===----------------------------------------------------------------------===//
#include "LinearModel.h"

#include "attn/Analysis/GpuModel.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace attn::testing;

namespace {

constexpr const char *whole =
    "#attn.gpu_linear_schedule<x = 16, y = 16, mr = 4, nr = 4, kc = 16>";

/// The numbers of a result of `element`.
Tensor resultOf(const LinearModel &model, const Tensor &output) {
  return widenFrom(output, model.element, Placement::Back);
}

Tensor makeResult(const LinearModel &model, int64_t m, Placement placement) {
  return narrowTo(makeFloats({m, model.n}, placement), model.element,
                  placement);
}

class LinearGpu : public ::testing::TestWithParam<LinearModel> {};

TEST_P(LinearGpu, MatchesF64ForAnyNumberOfRows) {
  ATTN_SKIP_WITHOUT_OPENCL();
  const LinearModel &model = GetParam();
  auto kernel = CompiledKernel::compile(model.text(), "opencl");
  ASSERT_TRUE(kernel);
  bool isF32 = model.element == "f32";
  double tolerance = isF32 ? 2e-5 : model.element == "f16" ? 4e-3 : 3e-2;
  for (int64_t m : {0, 1, 2, 7, 17, 64, 67, 131}) {
    SCOPED_TRACE("M = " + std::to_string(m));
    int64_t stride = isF32 ? model.k + 13 : model.k;
    LinearCase data(model, m, Placement::Back, stride);
    Tensor stored = makeResult(model, m, Placement::Back);
    ASSERT_EQ(kernel->run(data.arguments(model, Placement::Back, stored)), 0);
    Tensor output = resultOf(model, stored);
    std::vector<double> expected = data.reference(model);
    for (int64_t i = 0; i < m * model.n; ++i)
      ASSERT_NEAR(output.as<float>()[i], expected[i], tolerance)
          << "row " << i / model.n << " column " << i % model.n;
    for (int64_t row = 0; row < m; row += m > 7 ? 13 : 1) {
      LinearCase alone(model, 1, Placement::Front, model.k);
      alone.input = takeRow(data.input, row, Placement::Front);
      alone.residual = takeRow(data.residual, row, Placement::Front);
      Tensor single = makeResult(model, 1, Placement::Front);
      ASSERT_EQ(kernel->run(alone.arguments(model, Placement::Front, single)),
                0);
      int64_t bytes = model.n * stored.type.bytes();
      ASSERT_EQ(std::memcmp(single.as<uint8_t>(),
                            stored.as<uint8_t>() + row * bytes, bytes),
                0)
          << "row " << row << " alone has other bits than in a batch";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, LinearGpu,
    ::testing::Values(
        // Whole panels and steps; tails of both; less than a panel and a step.
        LinearModel{128, 64, 64, whole},
        LinearModel{101, 67, 64, whole, Epilogue::BiasGelu},
        LinearModel{5, 1, 64, whole, Epilogue::BiasResidual},
        LinearModel{70, 0, 64, whole, Epilogue::BiasGelu},
        // Other blocks of threads: fewer columns than threads load at a time,
        // tiles that are no multiple of the threads, one thread below another.
        LinearModel{37, 50, 16,
                    "#attn.gpu_linear_schedule<x = 16, y = 8, mr = 2, nr = 1, "
                    "kc = 8>",
                    Epilogue::BiasResidual},
        LinearModel{53, 47, 12,
                    "#attn.gpu_linear_schedule<x = 4, y = 5, mr = 3, nr = 3, "
                    "kc = 7>",
                    Epilogue::BiasGelu},
        LinearModel{40, 33, 32,
                    "#attn.gpu_linear_schedule<x = 8, y = 1, mr = 5, nr = 4, "
                    "kc = 32>"},
        // Norms.
        LinearModel{101, 67, 64, whole, Epilogue::BiasResidual, Norm::Layer},
        LinearModel{130, 48, 64, whole, Epilogue::None, Norm::Rms},
        LinearModel{7, 12, 64, whole, Epilogue::None, Norm::Layer},
        // Numbers of 16 bits.
        LinearModel{101, 67, 64, whole, Epilogue::BiasResidual, Norm::None,
                    "f16"},
        LinearModel{101, 67, 64, whole, Epilogue::BiasGelu, Norm::None, "bf16"},
        LinearModel{72, 40, 64, whole, Epilogue::BiasResidual, Norm::Layer,
                    "f16"}));

/// A NaN or an infinity stays in its row, and what is past the end of K adds
/// nothing to it.
TEST(LinearGpuNumbers, KeepNaNInItsRow) {
  ATTN_SKIP_WITHOUT_OPENCL();
  LinearModel model{70, 19, 64, whole};
  auto kernel = CompiledKernel::compile(model.text(), "opencl");
  ASSERT_TRUE(kernel);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (float poison : {std::nanf(""), infinity}) {
    LinearCase data(model, 3, Placement::Back, model.k);
    data.input.as<float>()[model.k + 18] = poison;
    for (int64_t n = 0; n < model.n; ++n)
      data.weight.as<float>()[n * model.k + 18] = 1.0f;
    Tensor output = makeFloats({3, model.n}, Placement::Back);
    ASSERT_EQ(kernel->run(data.arguments(model, Placement::Back, output)), 0);
    for (int64_t n = 0; n < model.n; ++n) {
      ASSERT_TRUE(std::isfinite(output.as<float>()[n]));
      float value = output.as<float>()[model.n + n];
      ASSERT_TRUE(std::isnan(poison) ? std::isnan(value) : value == infinity);
      ASSERT_TRUE(std::isfinite(output.as<float>()[2 * model.n + n]));
    }
  }
}

/// The formula that the schedule is chosen by is what a block takes.
TEST(LinearGpuMemory, FollowsItsFormula) {
  for (attn::GpuLinearBlocks blocks :
       {attn::GpuLinearBlocks{16, 16, 4, 4, 16}, {8, 4, 3, 5, 12}}) {
    LinearModel model{
        131, 100, blocks.panel(),
        llvm::formatv("#attn.gpu_linear_schedule<x = {0}, y = {1}, mr = {2}, "
                      "nr = {3}, kc = {4}>",
                      blocks.x, blocks.y, blocks.mr, blocks.nr, blocks.kc)};
    auto kernel = CompiledKernel::compile(model.text(), "cuda");
    ASSERT_TRUE(kernel);
    llvm::StringRef text = kernel->stmt;
    text = text.split("allocate allocgroup__input_tile").second;
    text = text.split("[float32 * ").second.split(']').first;
    EXPECT_EQ(4 * std::stoll(text.str()), attn::gpuLinearSharedBytes(blocks));
  }
}

TEST(LinearGpuErrors, AskForPanelsAndASchedule) {
  LinearModel model{96, 64, 64, whole};
  std::string text = model.text(), other = text;
  other.replace(other.find("nr = 4"), 6, "nr = 2");
  EXPECT_EQ(compileError(other, "opencl"),
            "'attn.fused_linear' op expected panels of x * nr = 32 columns "
            "(because the kernel's schedule says so), got 64");
  other = text;
  size_t begin = other.find("attributes"), end = other.find("{\n");
  other.erase(begin, end - begin);
  EXPECT_EQ(
      compileError(other, "opencl"),
      "'attn.kernel' op expected a schedule #attn.gpu_linear_schedule (because "
      "the thread blocks of attn.fused_linear are read from it), got none: run "
      "attn-schedule");
}

} // namespace
