//===- LinearTest.cpp - compiled linear layers against f64 -----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each shape runs with every number of rows around the register tile and the
// row block, with tensors that end and start at pages that fault, with strided
// input rows, on one and on two threads; and each row once alone. All outputs
// start as NaN.
//
//===----------------------------------------------------------------------===//
#include "LinearModel.h"

#include "attn/Analysis/ScheduleModel.h"

#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cstring>

using namespace attn::testing;
using llvm::formatv;

namespace {

/// A model with the register tile and cache blocks of a CPU.
struct Shape {
  int64_t n, k, vector, mr, nr, kc, mb;
  Epilogue epilogue;
  Norm norm;
  std::string target = "x86-64-v3";

  LinearModel model() const {
    return {n,
            k,
            nr,
            formatv("#attn.linear_schedule<vector = {0}, mr = {1}, nr = {2}, "
                    "kc = {3}, mb = {4}>",
                    vector, mr, nr, kc, mb),
            epilogue,
            norm};
  }
};

class Linear : public ::testing::TestWithParam<Shape> {};

TEST_P(Linear, MatchesF64ForAnyNumberOfRows) {
  const Shape &s = GetParam();
  LinearModel model = s.model();
  if (s.target == "x86-64-v4" && !__builtin_cpu_supports("avx512vl"))
    GTEST_SKIP() << "this CPU has no AVX-512";
  auto kernel = CompiledKernel::compile(model.text(), s.target);
  ASSERT_TRUE(kernel);
  for (int64_t m : {0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 67})
    for (Placement placement : {Placement::Front, Placement::Back}) {
      SCOPED_TRACE(formatv("M = {0}, {1}", m,
                           placement == Placement::Front ? "front" : "back")
                       .str());
      int64_t stride = placement == Placement::Front ? s.k : s.k + 13;
      LinearCase data(model, m, placement, stride);
      Tensor output = makeFloats({m, s.n}, placement);
      ASSERT_EQ(kernel->run(data.arguments(model, placement, output)), 0);
      std::vector<double> expected = data.reference(model);
      for (int64_t i = 0; i < m * s.n; ++i)
        ASSERT_NEAR(output.as<float>()[i], expected[i], 2e-5)
            << "row " << i / s.n << " column " << i % s.n;

      Tensor second = makeFloats({m, s.n}, placement);
      ASSERT_EQ(kernel->run(data.arguments(model, placement, second), 2), 0);
      ASSERT_EQ(std::memcmp(output.as<float>(), second.as<float>(),
                            m * s.n * sizeof(float)),
                0)
          << "two threads give other bits than one";

      if (m > 17)
        continue;
      for (int64_t row = 0; row < m; ++row) {
        LinearCase alone(model, 1, placement, s.k);
        alone.input = takeRow(data.input, row, placement);
        alone.residual = takeRow(data.residual, row, placement);
        Tensor single = makeFloats({1, s.n}, placement);
        ASSERT_EQ(kernel->run(alone.arguments(model, placement, single)), 0);
        ASSERT_EQ(std::memcmp(single.as<float>(),
                              output.as<float>() + row * s.n,
                              s.n * sizeof(float)),
                  0)
            << "row " << row << " alone has other bits than in a batch";
      }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Linear,
    ::testing::Values(
        // One block of K: whole panels, a partial panel, fewer columns than a
        // vector, odd and prime K.
        Shape{96, 64, 8, 4, 24, 0, 16, Epilogue::BiasGelu, Norm::None},
        Shape{101, 67, 8, 4, 24, 0, 32, Epilogue::BiasResidual, Norm::None},
        Shape{5, 1, 8, 4, 24, 0, 16, Epilogue::None, Norm::None},
        Shape{48, 37, 8, 4, 16, 0, 512, Epilogue::BiasGelu, Norm::None},
        // K blocked: divisors, a rest, an odd rest.
        Shape{96, 256, 8, 4, 24, 64, 16, Epilogue::BiasGelu, Norm::None},
        Shape{131, 202, 8, 4, 24, 64, 32, Epilogue::BiasResidual, Norm::None},
        Shape{250, 193, 8, 4, 24, 32, 8, Epilogue::None, Norm::None},
        Shape{143, 178, 8, 4, 16, 88, 56, Epilogue::BiasResidual, Norm::Layer},
        // One column in the last vector.
        Shape{161, 32, 8, 2, 8, 0, 4, Epilogue::BiasGelu, Norm::None},
        // Layer norm.
        Shape{96, 64, 8, 4, 24, 0, 16, Epilogue::BiasResidual, Norm::Layer},
        Shape{77, 131, 8, 4, 24, 32, 16, Epilogue::BiasResidual, Norm::Layer},
        Shape{7, 12, 8, 4, 24, 0, 512, Epilogue::None, Norm::Layer},
        // RMS norm.
        Shape{96, 64, 8, 4, 24, 0, 16, Epilogue::BiasResidual, Norm::Rms},
        Shape{77, 131, 8, 4, 24, 32, 16, Epilogue::None, Norm::Rms},
        // So many blocks of rows that they are tasks.
        Shape{96, 64, 8, 4, 24, 0, 4, Epilogue::BiasResidual, Norm::Layer},
        Shape{77, 131, 8, 4, 24, 32, 8, Epilogue::BiasResidual, Norm::Rms},
        // Other tiles and targets.
        Shape{70, 55, 8, 3, 32, 0, 15, Epilogue::BiasGelu, Norm::None},
        Shape{130, 96, 16, 6, 64, 0, 24, Epilogue::BiasGelu, Norm::None,
              "x86-64-v4"},
        Shape{130, 97, 16, 6, 64, 32, 24, Epilogue::BiasResidual, Norm::Layer,
              "x86-64-v4"},
        Shape{50, 100, 4, 4, 8, 0, 16, Epilogue::BiasGelu, Norm::None,
              "x86-64-v2"},
        Shape{50, 100, 4, 4, 8, 32, 16, Epilogue::BiasResidual, Norm::Layer,
              "x86-64-v2"}));

/// The loops of an assembly text that hold at least `count` instructions whose
/// name starts with `mnemonic`.
std::vector<std::string> findLoops(llvm::StringRef assembly,
                                   llvm::StringRef mnemonic, size_t count) {
  std::vector<std::string> loops;
  std::string label, body;
  size_t found = 0;
  llvm::SmallVector<llvm::StringRef> lines;
  assembly.split(lines, '\n');
  for (llvm::StringRef line : lines) {
    llvm::StringRef text = line.trim();
    if (text.starts_with(".L") && text.contains(':')) {
      label = text.split(':').first.str();
      body.clear();
      found = 0;
      continue;
    }
    body += line.str() + "\n";
    found += text.starts_with(mnemonic);
    bool jumpsBack = !label.empty() &&
                     (text.starts_with("j") || text.starts_with("b")) &&
                     text.ends_with(label);
    if (jumpsBack && found >= count)
      loops.push_back(body);
  }
  return loops;
}

class LinearTile : public ::testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(Targets, LinearTile,
                         ::testing::Values("x86-64-v2", "x86-64-v3",
                                           "x86-64-v4", "arm64"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(LinearTile, StaysInRegisters) {
  const attn::TargetInfo &target = *attn::lookupTarget(GetParam());
  for (int64_t inputs : {768, 3072}) {
    attn::LinearBlocks blocks = attn::chooseLinearBlocks(target, inputs, 768);
    Shape s{768,       inputs,    target.f32Lanes(), blocks.mr,  blocks.nr,
            blocks.kc, blocks.mb, Epilogue::None,    Norm::None, GetParam()};
    auto kernel = CompiledKernel::compile(s.model().text(), s.target);
    ASSERT_TRUE(kernel);
    EXPECT_LT(kernel->compileSeconds, 30); // 3 on an idle machine.
    llvm::StringRef add = !target.fusedMultiplyAdd ? "addps"
                          : target.name == "arm64" ? "fmla"
                                                   : "vfmadd";
    size_t sums = blocks.mr * (blocks.nr / target.f32Lanes());
    std::vector<std::string> loops = findLoops(kernel->assembly, add, sums);
    ASSERT_FALSE(loops.empty()) << kernel->assembly;
    for (const std::string &loop : loops)
      EXPECT_EQ(loop.find(target.name == "arm64" ? "[sp" : "(%rsp"),
                std::string::npos)
          << "mr = " << blocks.mr << ", nr = " << blocks.nr
          << ", kc = " << blocks.kc << ":\n"
          << loop;
  }
}

TEST(LinearErrors, AskForPanelsAndASchedule) {
  Shape s{96, 64, 8, 4, 24, 0, 16, Epilogue::None, Norm::None};
  std::string text = s.model().text();
  std::string other = text;
  other.replace(other.find("nr = 24"), 7, "nr = 16");
  EXPECT_EQ(
      compileError(other),
      "'attn.fused_linear' op expected panels of nr = 16 columns (because "
      "the kernel's schedule says so), got 24");
  other = text;
  size_t begin = other.find("attributes"), end = other.find("{\n");
  other.erase(begin, end - begin);
  EXPECT_EQ(
      compileError(other),
      "'attn.kernel' op expected a schedule #attn.linear_schedule (because "
      "the register tile of attn.fused_linear is read from it), got none: "
      "run attn-schedule");
}

} // namespace
