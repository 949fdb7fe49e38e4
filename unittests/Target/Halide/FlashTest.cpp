//===- FlashTest.cpp - attention kernels run and are edited ---------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "FlashModel.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace attn::testing;
using ::testing::HasSubstr;
using ::testing::Not;

namespace {

/// The first occurrence of `from` at or after `start` becomes `to`.
std::string edit(std::string text, const std::string &from,
                 const std::string &to, size_t start = 0) {
  size_t at = text.find(from, start);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string editAll(std::string text, const std::string &from,
                    const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

size_t count(const std::string &text, const std::string &what) {
  size_t number = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at)
    ++number;
  return number;
}

/// Tells the reference of a causal model the sizes of a run.
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

constexpr float notANumber = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

class FlashTest : public ::testing::Test {
protected:
  /// Whether a module compiles, to what `run` uses from then on.
  bool compile(const std::string &module,
               const std::string &target = "x86-64-v3") {
    kernel = CompiledKernel::compile(module, target);
    return kernel != nullptr;
  }

  /// Runs and compares with the reference of the model.
  void run(const FlashModel &model, int64_t batch, int64_t n, int64_t m,
           Placement placement = Placement::Back, int64_t padding = 0) {
    FlashCase(model, batch, n, m, placement, padding).check(*kernel);
  }

  /// The same for a causal model.
  void runCausal(FlashModel &model, int64_t batch, int64_t n, int64_t m,
                 Placement placement = Placement::Back, int64_t padding = 0) {
    setCausal(model, n, m);
    run(model, batch, n, m, placement, padding);
  }

  std::unique_ptr<CompiledKernel> kernel;
};

void expectRefused(const std::string &module, const std::string &message) {
  EXPECT_THAT(compileError(module), HasSubstr(message));
}

} // namespace

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

TEST_F(FlashTest, SizesAroundTiles) {
  FlashModel model;
  model.heads = 4; // Two query heads share a key head.
  ASSERT_TRUE(compile(model.tiled()));
  for (Placement placement : {Placement::Front, Placement::Back})
    for (int64_t n : {0, 1, 8, 9, 16, 17, 23, 24, 25, 40, 53})
      for (int64_t m : {0, 1, 3, 127, 128, 129, 257})
        run(model, /*batch=*/n == 25 ? 3 : 1, n, m, placement,
            /*padding=*/n == 53 ? 5 : 0);
}

TEST_F(FlashTest, HeadSizes) {
  for (auto [headSize, valueSize] :
       {std::pair<int64_t, int64_t>{1, 1}, {3, 40}, {65, 7}, {128, 64}}) {
    FlashModel model = FlashModel::causal(headSize);
    model.valueSize = valueSize;
    ASSERT_TRUE(compile(model.tiled()));
    for (Placement placement : {Placement::Front, Placement::Back})
      runCausal(model, 2, 30, 150, placement, /*padding=*/1);
  }
}

TEST_F(FlashTest, OtherTargets) {
  FlashModel model = FlashModel::causal(32);
  model.layout = attn::Layout::BHSD;
  for (const char *target : {"x86-64-v2", "arm64", "x86-64-v4"}) {
    ASSERT_TRUE(compile(model.tiled(target), target)) << target;
    if (target == std::string("arm64") || (target == std::string("x86-64-v4") &&
                                           !__builtin_cpu_supports("avx512dq")))
      continue;
    runCausal(model, 1, 70, 200);
  }
}

TEST_F(FlashTest, SequenceFirst) {
  FlashModel model = FlashModel::causal(12);
  model.layout = attn::Layout::SBHD;
  model.heads = 4;
  ASSERT_TRUE(compile(model.tiled()));
  for (auto [n, m] : {std::pair<int64_t, int64_t>{60, 20}, {150, 150}, {1, 9}})
    for (Placement placement : {Placement::Front, Placement::Back})
      runCausal(model, 3, n, m, placement, /*padding=*/n == 1 ? 5 : 0);
}

//===----------------------------------------------------------------------===//
// What is hidden
//===----------------------------------------------------------------------===//

TEST_F(FlashTest, CausalRowsThatSeeNothing) {
  FlashModel model = FlashModel::causal(8);
  ASSERT_TRUE(compile(model.tiled()));
  // With bottom-right alignment the first n - m rows see no key.
  for (auto [n, m] : {std::pair<int64_t, int64_t>{60, 20},
                      {20, 60},
                      {200, 200},
                      {1, 1},
                      {5, 0},
                      {300, 131}})
    runCausal(model, 2, n, m);
}

TEST_F(FlashTest, HiddenNaNChangesNothing) {
  FlashModel model = FlashModel::causal(8);
  ASSERT_TRUE(compile(model.tiled()));
  const int64_t n = 200;
  setCausal(model, n, n);
  FlashCase run(model, 1, n, n, Placement::Back);
  // Row i sees key 150 from i = 150 on: NaN there and nowhere else.
  run.at(run.key, 0, 150, 0, 3) = notANumber;
  run.at(run.value, 0, 150, 1, 5) = notANumber;
  run.at(run.value, 0, 170, 1, 2) = infinity;
  run.at(run.query, 0, 40, 1, 0) = notANumber;
  run.check(*kernel);
}

TEST_F(FlashTest, KeyPadding) {
  FlashModel model;
  setCapture(model, "tensor<?x?xi64>");
  model.mask = R"(
      %word = tensor.extract %x0[%b, %j] : tensor<?x?xi64>
      %zero = arith.constant 0 : i64
      %visible = arith.cmpi ne, %word, %zero : i64
      attn.yield %visible : i1)";
  ASSERT_TRUE(compile(model.tiled()));
  for (int64_t m : {1, 31, 128, 300}) {
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
    run.check(*kernel, {mask});
  }
}

/// Bounds of the loops that depend on a loaded number: how many keys batch row
/// b sees, or where its diagonal lies.
TEST_F(FlashTest, LengthsAndOffsets) {
  for (bool offset : {false, true}) {
    FlashModel model;
    model.lse = true;
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
    ASSERT_TRUE(compile(model.tiled()));
    for (int64_t m : {1, 130, 400}) {
      std::vector<int64_t> numbers = {0, 1, -3, 64, 65, 128, 129, m, m + 5, -m};
      if (!offset)
        numbers.push_back(int64_t(1) << 40); // All keys.
      int64_t batch = numbers.size();
      Tensor tensor = makeTensor(halide_type_of<int64_t>(), {batch},
                                 Placement::Back, 0, alignof(int64_t));
      std::copy(numbers.begin(), numbers.end(), tensor.as<int64_t>());
      model.visible = [=](int64_t b, int64_t, int64_t i, int64_t j) {
        return offset ? j <= i + numbers[b] : j < numbers[b];
      };
      for (Placement placement : {Placement::Front, Placement::Back}) {
        FlashCase run(model, batch, 30, m, placement);
        run.check(*kernel, {tensor});
      }
    }
  }
}

TEST_F(FlashTest, ScoreRegion) {
  FlashModel model;
  model.lse = true;
  setCapture(model, "tensor<?x?xf32>");
  model.score = R"(
      %cap = arith.constant 3.0 : f32
      %0 = arith.divf %s, %cap : f32
      %1 = math.tanh %0 : f32
      %2 = arith.mulf %1, %cap : f32
      %3 = tensor.extract %x0[%i, %j] : tensor<?x?xf32>
      %4 = arith.addf %2, %3 : f32
      attn.yield %4 : f32)";
  ASSERT_TRUE(compile(model.tiled()));
  const int64_t n = 30, m = 140;
  Tensor bias = makeFloats({n, m}, Placement::Back);
  fillRandom(bias, 7);
  // The way frameworks write a mask: a row of the lowest number is uniform.
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
  run.check(*kernel, {bias}, 1e-5);
}

/// Sinks with both ways of counting exponents, rows that see nothing, and keys
/// that weigh more and less than the sink.
TEST_F(FlashTest, Sinks) {
  for (bool scoreRegion : {false, true}) {
    FlashModel model = FlashModel::causal(8);
    if (scoreRegion) {
      model.score = R"(
      %half = arith.constant 0.5 : f32
      %0 = arith.mulf %s, %half : f32
      attn.yield %0 : f32)";
      model.changed = [](double s, int64_t, int64_t, int64_t, int64_t) {
        return 0.5 * s;
      };
    }
    model.sinks = {0.0f, 0.0f};
    ASSERT_TRUE(compile(model.tiled()));
    for (auto [first, second] : {std::pair<float, float>{0.3f, -2.7f},
                                 {60.0f, -200.0f},
                                 {-infinity, 1e30f},
                                 {infinity, 1.0f},
                                 {notANumber, -1.0f}}) {
      model.sinks = {first, second};
      for (auto [n, m] :
           {std::pair<int64_t, int64_t>{60, 20}, {150, 150}, {1, 300}, {3, 0}})
        runCausal(model, 2, n, m);
    }
  }
}

/// With equal scores of 0 and values of 1 the result is m / (m + e^sink).
TEST_F(FlashTest, SinkInClosedForm) {
  FlashModel model;
  model.lse = true;
  model.sinks = {2.5f, -1.25f};
  ASSERT_TRUE(compile(model.tiled()));
  for (int64_t m : {0, 4, 131}) {
    FlashCase run(model, 1, 4, m, Placement::Back);
    std::fill_n(run.query.as<float>(), run.query.size(), 0.0f);
    std::fill_n(run.value.as<float>(), run.value.size(), 1.0f);
    run.check(*kernel);
    for (int64_t h = 0; h < 2; ++h) {
      double weight = std::exp(model.sinks[h]);
      EXPECT_NEAR(run.at(run.result, 0, 3, h, 7), m / (m + weight), 1e-6);
      EXPECT_NEAR(run.lse.as<float>()[h * 4 + 3], std::log(m + weight), 2e-6);
    }
  }
}

TEST_F(FlashTest, ThreadsAndBatchesGiveTheSameBits) {
  FlashModel model = FlashModel::causal(16);
  ASSERT_TRUE(compile(model.tiled()));
  setCausal(model, 100, 170);
  FlashCase three(model, 3, 100, 170, Placement::Back);
  three.check(*kernel, {}, 3e-6, /*threads=*/3);
  FlashCase one(model, 1, 100, 170, Placement::Back);
  auto copy = [](Tensor &to, const Tensor &from) {
    std::copy_n(from.as<float>() + 2 * from.strides[0], from.strides[0],
                to.as<float>());
  };
  copy(one.query, three.query);
  copy(one.key, three.key);
  copy(one.value, three.value);
  one.check(*kernel);
  EXPECT_EQ(memcmp(one.result.as<float>(),
                   three.result.as<float>() + 2 * three.result.strides[0],
                   three.result.strides[0] * sizeof(float)),
            0);
}

//===----------------------------------------------------------------------===//
// The tiled text is the source
//===----------------------------------------------------------------------===//

TEST_F(FlashTest, NoScoreTensorAndNoHeap) {
  FlashModel model = FlashModel::causal(8);
  ASSERT_TRUE(compile(model.tiled()));
  // A tile of scores on the stack: 24 x 64, whatever n and m are.
  EXPECT_THAT(kernel->stmt, HasSubstr("[float32 * 1536] in Stack"));
  runCausal(model, 1, 2000, 2000);
  EXPECT_EQ(CompiledKernel::largestAllocation(), 0u);
}

TEST_F(FlashTest, TileSizeChangesTheLoops) {
  FlashModel model = FlashModel::causal(8);
  std::string text = model.tiled();
  // Key tiles of 32 instead of 64: types, steps, affine maps.
  std::string edited = editAll(text, "x64x", "x32x");
  edited = editAll(edited, "<64x", "<32x");
  edited = editAll(edited, "constant 64", "constant 32");
  edited = editAll(edited, "floordiv 64) * 64", "floordiv 32) * 32");
  edited = editAll(edited, "+ d1, 64)", "+ d1, 32)");
  ASSERT_TRUE(compile(edited));
  EXPECT_THAT(kernel->stmt, HasSubstr("[float32 * 768] in Stack"));
  EXPECT_THAT(kernel->stmt, Not(HasSubstr("[float32 * 1536]")));
  runCausal(model, 1, 200, 200);
}

TEST_F(FlashTest, RemovedMaskShowsThePartialTile) {
  FlashModel model = FlashModel::causal(8);
  std::string text = model.tiled();
  size_t begin = text.find("attn.tile_mask");
  ASSERT_NE(begin, std::string::npos);
  begin = text.rfind('%', begin); // The result's name.
  size_t end = text.find('\n', text.find("} :", begin));
  std::string name = text.substr(begin, text.find(' ', begin) - begin);
  size_t operand = text.find('%', text.find("tile_mask", begin));
  std::string scores = text.substr(operand, text.find(' ', operand) - operand);
  std::string edited = text.substr(0, begin) + text.substr(end);
  edited =
      edit(edited, "tile_max " + name + ",", "tile_max " + scores + ",", begin);
  edited =
      edit(edited, "tile_exp " + name + ",", "tile_exp " + scores + ",", begin);
  ASSERT_TRUE(compile(edited));
  // A tile of 24 queries now sees what its last row sees.
  const int64_t n = 60;
  model.visible = [=](int64_t, int64_t, int64_t i, int64_t j) {
    return j < std::min<int64_t>(n, (i / 24 + 1) * 24);
  };
  run(model, 1, n, n);
}

TEST_F(FlashTest, ConstantOfTileExpChangesTheBase) {
  FlashModel model;
  model.lse = false;
  std::string text = model.tiled();
  ASSERT_EQ(count(text, "attn.tile_exp"), 2u);
  // In tile_exp only; with one tile of keys there is nothing to rescale.
  size_t full = text.find("attn.tile_exp");
  size_t tail = text.find("attn.tile_exp", full + 1);
  std::string edited = edit(text, "scale(1.442695)", "scale(1.0)", tail);
  ASSERT_TRUE(compile(edited));
  model.exponent = 1.0;
  run(model, 1, 40, 100);

  // Everywhere: a softmax to base 2, for any number of tiles.
  ASSERT_TRUE(compile(editAll(text, "scale(1.442695)", "scale(1.0)")));
  run(model, 1, 40, 300);
}

TEST_F(FlashTest, FullTilesHaveNoMask) {
  // The predicate is a load, so that its traces are easy to find.
  FlashModel model = FlashModel::causal(8);
  ASSERT_TRUE(compile(model.tiled()));
  size_t full = kernel->stmt.find("produce visible0");
  size_t end = kernel->stmt.find("produce weights0", full);
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(count(kernel->stmt.substr(full, end - full), "select("), 0u);
  size_t partial = kernel->stmt.find("produce visible1");
  size_t partialEnd = kernel->stmt.find("produce weights1", partial);
  ASSERT_NE(partialEnd, std::string::npos);
  EXPECT_NE(
      count(kernel->stmt.substr(partial, partialEnd - partial), "select("), 0u);
}

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

TEST_F(FlashTest, RefusedSchedules) {
  FlashModel model;
  std::string text = model.tiled();
  expectRefused(edit(text, "value_unroll = 4", "value_unroll = 2"),
                "expected value_unroll of at least 4 (because a block of "
                "the state holds two factors, maximum and sum), got 2");
  expectRefused(edit(text, "key_unroll = 4", "key_unroll = 3"),
                "expected the rows of the key tile to be a multiple of "
                "key_unroll = 3, got 128");
  expectRefused(edit(text, "vector = 8", "vector = 16"),
                "expected the rows of the query tile to be a multiple of "
                "vector = 16, got 24");
  expectRefused(edit(text, "vector = 8", "vector = 6"),
                "expected a vector of a power of two of lanes, at least "
                "2, got 6");
}

TEST_F(FlashTest, RefusedOperations) {
  FlashModel model;
  model.score = R"(
      %0 = math.atan %s : f32
      attn.yield %0 : f32)";
  EXPECT_EQ(compileError(model.tiled()),
            "'math.atan' op not supported by the Halide target");
}

TEST_F(FlashTest, RefusedLoops) {
  FlashModel model;
  std::string text = model.tiled();
  // Row 0 of a query tile that is not the tile's number times its rows.
  expectRefused(edit(text, "(d0 * 24)", "(d0 * 16)"),
                "expected row 0 of the query tile to be the tile's number "
                "times 24 (because the tile has 24 rows), got another "
                "expression");
  // The weights of the old maximum.
  size_t exp = text.find("attn.tile_exp");
  size_t comma = text.find(',', exp);
  size_t space = text.find(' ', comma + 2);
  size_t max = text.find("attn.tile_max");
  size_t carry = text.find(',', max) + 2;
  std::string old = text.substr(carry, text.find(' ', carry) - carry);
  std::string edited = text;
  edited.replace(comma + 2, space - comma - 2, old);
  expectRefused(edited,
                "expected the maximum that includes this tile, the result "
                "of attn.tile_max, got another value");
}

TEST_F(FlashTest, RefusedSchedulesOfOtherKinds) {
  FlashModel model;
  std::string text = model.tiled();
  size_t begin = text.find(" attributes {schedule");
  ASSERT_NE(begin, std::string::npos);
  std::string none =
      text.substr(0, begin) + text.substr(text.find('}', begin) + 1);
  expectRefused(none, "expected #attn.flash_schedule, #attn.decode_schedule or "
                      "#attn.matrix_schedule (because of what the kernel "
                      "computes), got no such "
                      "schedule");
}

TEST_F(FlashTest, RefusedStores) {
  FlashModel model;
  std::string text = model.tiled();
  size_t insert = text.find("tensor.parallel_insert_slice");
  ASSERT_NE(insert, std::string::npos);
  std::string none =
      text.substr(0, insert) + text.substr(text.find('\n', insert));
  expectRefused(none, "expected its result to be stored by "
                      "a tensor.parallel_insert_slice");
  // [batch, row, head, channel]: without the head nothing is indexed by it.
  size_t open = text.find('[', insert);
  size_t row = text.find(',', open);
  size_t head = text.find(',', row + 1);
  size_t channel = text.find(',', head + 1);
  std::string fixed = text;
  fixed.replace(head + 2, channel - head - 2, "0");
  expectRefused(fixed,
                "expected one counter for query tiles and one for each "
                "other dimension of the result, got 2 counters that index "
                "no dimension");
}

TEST_F(FlashTest, RefusedCounters) {
  FlashModel model;
  std::string text = edit(model.tiled(), ") in (", ") = (0, 0, 0) to (");
  text = edit(text, ") shared_outs", ") step (1, 2, 1) shared_outs");
  expectRefused(text, "expected lower bounds 0 and steps 1 (because a tile "
                      "number is multiplied by the tile's rows)");
}

TEST_F(FlashTest, RefusedTensorsAndBounds) {
  FlashModel model;
  std::string text = model.tiled();
  size_t empty = text.find("tensor.empty");
  ASSERT_NE(empty, std::string::npos);
  size_t name = text.rfind('%', empty);
  std::string init = text.substr(name, text.find(' ', name) - name);
  expectRefused(editAll(text, "tile_load %arg2", "tile_load " + init),
                "not supported by the Halide target: the tensor is not an "
                "argument of the kernel");

  // A bound that branches.
  size_t forall = text.rfind('\n', text.find("scf.forall"));
  std::string branch = text;
  branch.insert(forall, R"(
    %yes = arith.constant true
    %bound = scf.if %yes -> (index) {
      scf.yield %c1 : index
    } else {
      scf.yield %c1 : index
    })");
  size_t to = branch.find(" to %", branch.find("scf.for %")) + 4;
  branch.replace(to, branch.find(' ', to) - to, "%bound");
  expectRefused(branch, "not supported by the Halide target: a value of type "
                        "'index' that is not known when the kernel starts");
}

TEST_F(FlashTest, RefusedDimensionNumber) {
  FlashModel model;
  setCapture(model, "tensor<?x?xf32>");
  model.score = R"(
      %size = tensor.dim %x0, %i : tensor<?x?xf32>
      %0 = arith.index_cast %size : index to i32
      %1 = arith.sitofp %0 : i32 to f32
      %2 = arith.addf %s, %1 : f32
      attn.yield %2 : f32)";
  expectRefused(model.tiled(),
                "not supported by the Halide target: the number of the "
                "dimension is not a valid constant");
}
