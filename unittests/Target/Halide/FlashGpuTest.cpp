//===- FlashGpuTest.cpp - attention kernels run on a device ---------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each key tile has at most 64 keys: what a block keeps from one tile to the
// next is wrong only where there are several.
//
//===----------------------------------------------------------------------===//
#include "FlashModel.h"

#include "llvm/Support/FormatVariadic.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace attn::testing;
using ::testing::HasSubstr;

namespace {

constexpr float notANumber = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

void setCausal(FlashModel &model, int64_t n, int64_t m) {
  model.visible = [=](int64_t, int64_t, int64_t i, int64_t j) {
    return j <= i + m - n;
  };
}

/// A tensor that the regions read as %x0.
void setCapture(FlashModel &model, const std::string &type) {
  model.arguments = "%capture: " + type;
  model.captures = "%capture";
  model.captureTypes = type;
}

class FlashGpuTest : public ::testing::Test {
protected:
  void SetUp() override { ATTN_SKIP_WITHOUT_OPENCL(); }
  void TearDown() override {
    RecordProperty("largest_error", llvm::formatv("{0:e1}", error).str());
  }

  bool compile(const FlashModel &model, const std::string &target = "opencl") {
    kernel = CompiledKernel::compile(model.tiled(target), target);
    return kernel != nullptr;
  }

  void check(FlashCase &run, const std::vector<Tensor> &more = {},
             double tolerance = 3e-6) {
    run.check(*kernel, more, tolerance);
    error = std::max(error, run.error);
  }

  void run(const FlashModel &model, int64_t batch, int64_t n, int64_t m,
           int64_t padding = 0, double tolerance = 3e-6) {
    FlashCase run(model, batch, n, m, Placement::Back, padding);
    check(run, {}, tolerance);
  }

  void runCausal(FlashModel &model, int64_t batch, int64_t n, int64_t m,
                 int64_t padding = 0, double tolerance = 3e-6) {
    setCausal(model, n, m);
    run(model, batch, n, m, padding, tolerance);
  }

  /// Runs on the device and on the CPU, for what the reference does not know.
  void compareWithCpu(const FlashModel &model, int64_t batch, int64_t n,
                      int64_t m, const std::vector<Tensor> &more = {},
                      double tolerance = 3e-6) {
    auto onCpu = CompiledKernel::compile(model.tiled());
    ASSERT_TRUE(onCpu && compile(model));
    FlashCase a(model, batch, n, m, Placement::Back);
    FlashCase b(model, batch, n, m, Placement::Back);
    for (auto [run, compiled] :
         {std::pair(&a, onCpu.get()), std::pair(&b, kernel.get())}) {
      std::vector<Tensor> arguments = {run->query, run->key, run->value};
      arguments.insert(arguments.end(), more.begin(), more.end());
      arguments.push_back(run->result);
      ASSERT_EQ(compiled->run(arguments), 0);
    }
    for (int64_t i = 0; i < a.result.size(); ++i) {
      double expected = a.result.as<float>()[i], got = b.result.as<float>()[i];
      double difference =
          std::abs(expected - got) / std::max(1.0, std::abs(expected));
      ASSERT_LE(difference, tolerance) << "element " << i << ": " << got;
      error = std::max(error, difference);
    }
  }

  std::unique_ptr<CompiledKernel> kernel;
  double error = 0;
};

} // namespace

TEST_F(FlashGpuTest, SizesAroundTiles) {
  FlashModel model;
  model.heads = 4; // Two query heads share a key head.
  ASSERT_TRUE(compile(model));
  for (int64_t n : {0, 1, 31, 32, 33, 67})
    for (int64_t m : {0, 1, 31, 32, 33, 97})
      run(model, /*batch=*/n == 33 ? 3 : 1, n, m, /*padding=*/n == 67 ? 5 : 0);
}

TEST_F(FlashGpuTest, HeadSizes) {
  for (auto [headSize, valueSize] : {std::pair<int64_t, int64_t>{3, 40},
                                     {64, 64},
                                     {65, 7},
                                     {128, 128},
                                     {192, 128}}) {
    FlashModel model;
    model.headSize = headSize;
    model.valueSize = valueSize;
    ASSERT_TRUE(compile(model));
    run(model, 2, 35, 71, /*padding=*/1);
  }
}

/// Sizes that Halide knows must not make it conclude more than is true.
TEST_F(FlashGpuTest, StaticSizes) {
  for (bool lse : {false, true}) {
    FlashModel model = FlashModel::causal(64);
    model.lse = lse;
    model.batch = 2;
    model.queries = 40; // Two tiles, of which one is short.
    model.keys = 70;
    ASSERT_TRUE(compile(model));
    runCausal(model, 2, 40, 70);
  }
}

TEST_F(FlashGpuTest, CausalRowsThatSeeNothing) {
  FlashModel model = FlashModel::causal(8);
  model.lse = false;
  ASSERT_TRUE(compile(model));
  for (auto [n, m] : {std::pair<int64_t, int64_t>{60, 20},
                      {20, 60},
                      {100, 100},
                      {1, 1},
                      {5, 0},
                      {130, 67}})
    runCausal(model, 2, n, m);
}

TEST_F(FlashGpuTest, LogSumExp) {
  FlashModel model = FlashModel::causal(8);
  ASSERT_TRUE(compile(model));
  for (auto [n, m] : {std::pair<int64_t, int64_t>{60, 20}, {33, 97}, {5, 0}})
    runCausal(model, 2, n, m);
}

TEST_F(FlashGpuTest, HiddenNaNChangesNothing) {
  FlashModel model = FlashModel::causal(8);
  model.lse = false;
  ASSERT_TRUE(compile(model));
  const int64_t n = 100;
  setCausal(model, n, n);
  FlashCase run(model, 1, n, n, Placement::Back);
  run.at(run.key, 0, 50, 0, 3) = notANumber;
  run.at(run.value, 0, 50, 1, 5) = notANumber;
  run.at(run.value, 0, 70, 1, 2) = infinity;
  run.at(run.query, 0, 40, 1, 0) = notANumber;
  check(run);
}

TEST_F(FlashGpuTest, KeyPadding) {
  FlashModel model;
  setCapture(model, "tensor<?x?xi64>");
  model.mask = R"(
      %word = tensor.extract %x0[%b, %j] : tensor<?x?xi64>
      %zero = arith.constant 0 : i64
      %visible = arith.cmpi ne, %word, %zero : i64
      attn.yield %visible : i1)";
  ASSERT_TRUE(compile(model));
  for (int64_t m : {1, 31, 100}) {
    // The last batch row sees nothing at all; hidden keys hold NaN.
    Tensor mask = makeTensor(halide_type_of<int64_t>(), {3, m}, Placement::Back,
                             0, alignof(int64_t));
    FlashCase run(model, 3, 29, m, Placement::Back);
    for (int64_t b = 0; b < 3; ++b)
      for (int64_t j = 0; j < m; ++j) {
        bool seen = b != 2 && (j % (2 + b) != 1) && j < m - 3 * b;
        mask.as<int64_t>()[b * m + j] = seen;
        if (!seen)
          for (int64_t h = 0; h < 2; ++h) {
            run.at(run.key, b, j, h, j % 8) = notANumber;
            run.at(run.value, b, j, h, (j + 1) % 8) =
                j % 3 ? notANumber : -infinity;
          }
      }
    model.visible = [=](int64_t b, int64_t, int64_t, int64_t j) {
      return mask.as<int64_t>()[b * m + j] != 0;
    };
    check(run, {mask});
  }
}

TEST_F(FlashGpuTest, LengthsAndOffsets) {
  for (bool offset : {false, true}) {
    FlashModel model;
    setCapture(model, "tensor<?xi64>");
    model.mask = offset ? R"(
      %word = tensor.extract %x0[%b] : tensor<?xi64>
      %shift = arith.index_cast %word : i64 to index
      %last = arith.addi %i, %shift : index
      %visible = arith.cmpi sle, %j, %last : index
      attn.yield %visible : i1)"
                        : R"(
      %word = tensor.extract %x0[%b] : tensor<?xi64>
      %length = arith.index_cast %word : i64 to index
      %visible = arith.cmpi slt, %j, %length : index
      attn.yield %visible : i1)";
    ASSERT_TRUE(compile(model));
    for (int64_t m : {1, 130}) {
      std::vector<int64_t> numbers = {0, 1, m / 2, m, -40};
      int64_t batch = numbers.size();
      Tensor tensor = makeTensor(halide_type_of<int64_t>(), {batch},
                                 Placement::Back, 0, alignof(int64_t));
      std::copy(numbers.begin(), numbers.end(), tensor.as<int64_t>());
      model.visible = [=](int64_t b, int64_t, int64_t i, int64_t j) {
        return offset ? j <= i + numbers[b] : j < numbers[b];
      };
      FlashCase run(model, batch, 30, m, Placement::Back);
      check(run, {tensor});
    }
  }
}

TEST_F(FlashGpuTest, ScoreRegion) {
  FlashModel model;
  setCapture(model, "tensor<?x?xf32>");
  model.score = R"(
      %cap = arith.constant 3.0 : f32
      %0 = arith.divf %s, %cap : f32
      %1 = math.tanh %0 : f32
      %2 = arith.mulf %1, %cap : f32
      %3 = tensor.extract %x0[%i, %j] : tensor<?x?xf32>
      %4 = arith.addf %2, %3 : f32
      attn.yield %4 : f32)";
  ASSERT_TRUE(compile(model));
  const int64_t n = 30, m = 140;
  Tensor bias = makeFloats({n, m}, Placement::Back);
  fillRandom(bias, 7);
  for (int64_t j = 0; j < m; ++j) {
    bias.as<float>()[3 * m + j] = std::numeric_limits<float>::lowest();
    if (j % 3)
      bias.as<float>()[5 * m + j] = std::numeric_limits<float>::lowest();
  }
  model.changed = [&](double s, int64_t, int64_t, int64_t i, int64_t j) {
    double capped = 3.0 * std::tanh(s / 3.0);
    double b = bias.as<float>()[i * m + j];
    return b < -1e38 ? b : capped + b; // As f32 adds them.
  };
  FlashCase run(model, 1, n, m, Placement::Back);
  check(run, {bias}, 1e-5);
}

TEST_F(FlashGpuTest, Sinks) {
  FlashModel model = FlashModel::causal(8);
  model.lse = false;
  model.sinks = {0.0f, 0.0f};
  ASSERT_TRUE(compile(model));
  for (auto [first, second] : {std::pair<float, float>{0.3f, -2.7f},
                               {60.0f, -200.0f},
                               {-infinity, 1e30f},
                               {infinity, 1.0f},
                               {notANumber, -1.0f}}) {
    model.sinks = {first, second};
    for (auto [n, m] :
         {std::pair<int64_t, int64_t>{60, 20}, {67, 67}, {1, 130}, {3, 0}})
      runCausal(model, 2, n, m);
  }
}

TEST_F(FlashGpuTest, SixteenBits) {
  for (const char *element : {"f16", "bf16"}) {
    FlashModel model;
    model.element = element;
    model.headSize = model.valueSize = 64;
    ASSERT_TRUE(compile(model));
    run(model, 1, 33, 97, 0, element == std::string("f16") ? 1e-3 : 8e-3);
  }
}

TEST_F(FlashGpuTest, FewQueries) {
  for (int64_t queries : {1, 4}) {
    FlashModel model;
    model.headSize = model.valueSize = 64;
    model.queries = queries;
    ASSERT_TRUE(compile(model));
    for (int64_t m : {0, 1, 63, 64, 200})
      run(model, 2, queries, m);
  }
}

TEST_F(FlashGpuTest, LargeHeads) {
  FlashModel model;
  model.headSize = 576;
  model.valueSize = 512;
  ASSERT_TRUE(compile(model));
  run(model, 1, 9, 21);
}

TEST_F(FlashGpuTest, OtherLayouts) {
  for (attn::Layout layout : {attn::Layout::BHSD, attn::Layout::SBHD}) {
    FlashModel model = FlashModel::causal(12);
    model.layout = layout;
    model.heads = 4;
    ASSERT_TRUE(compile(model));
    runCausal(model, 3, 45, 70, /*padding=*/5);
  }
}

/// A window has masked tiles at both ends and full ones between them.
TEST_F(FlashGpuTest, Windows) {
  FlashModel model;
  model.lse = true;
  model.mask = R"(
      %c50 = arith.constant 50 : index
      %first = arith.subi %i, %c50 : index
      %notOld = arith.cmpi sge, %j, %first : index
      %notNew = arith.cmpi sle, %j, %i : index
      %visible = arith.andi %notOld, %notNew : i1
      attn.yield %visible : i1)";
  model.visible = [](int64_t, int64_t, int64_t i, int64_t j) {
    return j >= i - 50 && j <= i;
  };
  ASSERT_TRUE(compile(model));
  run(model, 1, 200, 200);
  run(model, 1, 10, 200);
}

/// Whether a tile is visited is asked of two tensors.
TEST_F(FlashGpuTest, Segments) {
  FlashModel model;
  setCapture(model, "tensor<?x?xi64>");
  model.mask = R"(
      %a = tensor.extract %x0[%b, %i] : tensor<?x?xi64>
      %c = tensor.extract %x0[%b, %j] : tensor<?x?xi64>
      %visible = arith.cmpi eq, %a, %c : i64
      attn.yield %visible : i1)";
  ASSERT_TRUE(compile(model));
  const int64_t n = 150;
  Tensor segments = makeTensor(halide_type_of<int64_t>(), {2, n},
                               Placement::Back, 0, alignof(int64_t));
  for (int64_t i = 0; i < 2 * n; ++i)
    segments.as<int64_t>()[i] = i % n / 40;
  model.visible = [=](int64_t b, int64_t, int64_t i, int64_t j) {
    return segments.as<int64_t>()[b * n + i] ==
           segments.as<int64_t>()[b * n + j];
  };
  FlashCase run(model, 2, n, n, Placement::Back);
  check(run, {segments});
  // Keys are read under the test only.
  const std::string &text = kernel->stmt;
  size_t test = text.find("produce tileAny0_0");
  size_t condition = text.find("for (once", test);
  size_t keys = text.find("produce wideKeys0", test);
  ASSERT_NE(keys, std::string::npos);
  EXPECT_LT(condition, keys);
}

TEST_F(FlashGpuTest, CombineAndValueRegions) {
  FlashModel model;
  setCapture(model, "tensor<8xf32>");
  model.combine = R"(
      %0 = arith.addf %x, %y : f32
      %1 = math.tanh %0 : f32
      %2 = tensor.extract %x0[%d] : tensor<8xf32>
      %3 = arith.mulf %1, %2 : f32
      attn.yield %3 : f32)";
  model.value = R"(
      %0 = tensor.extract %x0[%d] : tensor<8xf32>
      %1 = arith.addf %x, %0 : f32
      attn.yield %1 : f32)";
  model.mask = R"(
      %visible = arith.cmpi sle, %j, %i : index
      attn.yield %visible : i1)";
  Tensor weights = makeFloats({8}, Placement::Back);
  fillRandom(weights, 9);
  compareWithCpu(model, 2, 45, 70, {weights}, 1e-5);
}

TEST_F(FlashGpuTest, SinksWithScoreRegion) {
  FlashModel model = FlashModel::causal(8);
  model.score = R"(
      %half = arith.constant 0.5 : f32
      %0 = arith.mulf %s, %half : f32
      attn.yield %0 : f32)";
  model.changed = [](double s, int64_t, int64_t, int64_t, int64_t) {
    return 0.5 * s;
  };
  model.sinks = {0.3f, -2.7f};
  ASSERT_TRUE(compile(model));
  runCausal(model, 2, 67, 67);
  runCausal(model, 1, 3, 0);
}

TEST_F(FlashGpuTest, Vulkan) {
  if (const char *reason = whyNoVulkan())
    GTEST_SKIP() << reason;
  FlashModel model = FlashModel::causal(64);
  model.lse = false;
  ASSERT_TRUE(compile(model, "vulkan"));
  for (int64_t n : {1, 31, 70})
    runCausal(model, 2, n, 97);
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

TEST(FlashGpuLimits, SharedMemoryAndThreads) {
  FlashModel model;
  model.headSize = model.valueSize = 128;
  // Tiles of a device with more of it.
  std::string text = model.tiled("cuda-sm_80");
  EXPECT_EQ(compileError(text, "cuda-sm_80"), "");
  EXPECT_THAT(compileError(text, "cuda"),
              HasSubstr("expected at most 32768 bytes of shared memory a block "
                        "(the limit of cuda), got 33024: choose smaller "
                        "tiles"));
}

/// What Halide's SPIR-V does without saying so.
TEST(FlashGpuLimits, Vulkan) {
  FlashModel model = FlashModel::causal(64);
  EXPECT_THAT(compileError(model.tiled("vulkan"), "vulkan"),
              HasSubstr("expected at most 64 bytes of numbers as arguments of "
                        "the device code (because those that follow read as 0 "
                        "on Vulkan), got "));
  model.lse = false;
  EXPECT_EQ(compileError(model.tiled("vulkan"), "vulkan"), "");
  model.element = "f16";
  EXPECT_THAT(compileError(model.tiled("vulkan"), "vulkan"),
              HasSubstr("expected elements of 32 bits (because not each device "
                        "of Vulkan has others), got "));
}

/// Of what lives across the tiles nothing lies where another function lies.
TEST(FlashGpuLimits, QueriesAreNotOverlaid) {
  FlashModel model = FlashModel::causal(64);
  for (const char *target : {"opencl", "cuda-sm_80"}) {
    auto kernel = CompiledKernel::compile(model.tiled(target), target);
    ASSERT_TRUE(kernel);
    EXPECT_THAT(kernel->stmt, ::testing::ContainsRegex(
                                  "allocgroup__query(\\$[0-9]+)?\\.[0-9]+"
                                  "__"));
  }
}

TEST(FlashGpuLimits, RefusedThreads) {
  FlashModel model;
  std::string text = model.tiled("opencl");
  auto with = [&](const std::string &from, const std::string &to) {
    std::string edited = text;
    size_t at = edited.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return edited.replace(at, from.size(), to);
  };
  EXPECT_THAT(compileError(with("y = 16", "y = 24"), "opencl"),
              HasSubstr("expected the rows of the query tile to be a multiple "
                        "of y = 24, got 64"));
  EXPECT_THAT(compileError(with("x = 16", "x = 24"), "opencl"),
              HasSubstr("expected the rows of the key tile to be a multiple of "
                        "x = 24, got 32"));
  EXPECT_THAT(compileError(with("x = 16", "x = 32"), "opencl"),
              HasSubstr("expected at most 256 threads a block (the limit of "
                        "opencl), got 512: choose fewer threads in the "
                        "schedule"));
}

TEST(FlashGpuLimits, SchedulesOfOtherTargets) {
  FlashModel model;
  EXPECT_THAT(compileError(model.tiled("x86-64-v3"), "opencl"),
              HasSubstr("expected #attn.gpu_attention_schedule (because of the "
                        "target opencl), got #attn.flash_schedule<"));
  EXPECT_THAT(compileError(model.tiled("opencl"), "x86-64-v3"),
              HasSubstr("expected a schedule of a CPU (because of the target "
                        "x86-64-v3), got #attn.gpu_attention_schedule<"));
}
