//===- RowwiseTest.cpp - compiled row-wise kernels against f64 -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Row lengths below, at and past whole vectors (of a device, its threads), 1
// and primes; any number of rows; tensors at guard pages; one and two threads.
// All on a CPU and on an OpenCL device.
//
//===----------------------------------------------------------------------===//
#include "KernelRunner.h"

#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace attn::testing;
using llvm::formatv;

namespace {

const halide_type_t i64(halide_type_int, 64), i1(halide_type_uint, 8);
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr Placement placements[] = {Placement::Front, Placement::Back};

/// Runs on one and on two threads; both must give the same bits.
void runBoth(const CompiledKernel &kernel, std::vector<Tensor> arguments,
             Placement placement) {
  ASSERT_EQ(kernel.run(arguments), 0);
  Tensor first = arguments.back();
  Tensor second = makeTensor(first.type, first.shape, placement);
  arguments.back() = second;
  ASSERT_EQ(kernel.run(arguments, 2), 0);
  ASSERT_EQ(std::memcmp(first.as<uint8_t>(), second.as<uint8_t>(),
                        first.size() * first.type.bytes()),
            0)
      << "two threads give other bits than one";
}

/// Runs each row of the first argument alone; its result must be the bits that
/// `batch` has for it.
void runAlone(const CompiledKernel &kernel, std::vector<Tensor> arguments,
              const Tensor &batch) {
  Tensor x = arguments.front();
  int64_t columns = x.shape.back();
  for (int64_t row = 0; row < x.size() / columns; ++row) {
    arguments.front() = makeFloats({1, 1, columns}, Placement::Back);
    std::memcpy(arguments.front().as<float>(), x.as<float>() + row * columns,
                columns * sizeof(float));
    for (size_t i = 1; i < arguments.size(); ++i)
      if (arguments[i].shape.size() > 1) { // A result: one row.
        std::vector<int64_t> shape = arguments[i].shape;
        shape[0] = shape[1] = 1;
        arguments[i] = makeFloats(shape, Placement::Back);
      }
    ASSERT_EQ(kernel.run(arguments), 0);
    size_t result = arguments.size() - 1;
    while (arguments[result].shape != std::vector<int64_t>{1, 1, columns})
      --result;
    ASSERT_EQ(std::memcmp(arguments[result].as<float>(),
                          batch.as<float>() + row * columns,
                          columns * sizeof(float)),
              0)
        << "row " << row << " alone has other bits than in a batch";
  }
}

/// A test on the target `target()`.
template <typename Parameter>
class OnTarget : public ::testing::TestWithParam<Parameter> {
protected:
  void SetUp() override {
    if (target() == "opencl")
      ATTN_SKIP_WITHOUT_OPENCL();
  }
  virtual std::string target() const = 0;
  std::unique_ptr<CompiledKernel> compile(const std::string &text) const {
    return CompiledKernel::compile(text, target());
  }
};

struct RowCase {
  const char *target;
  int64_t length;
};

class RowLength : public OnTarget<RowCase> {
protected:
  std::string target() const override { return GetParam().target; }
};

std::vector<RowCase> casesOf(const char *target,
                             const std::vector<int64_t> &lengths) {
  std::vector<RowCase> cases;
  cases.reserve(lengths.size());
  for (int64_t length : lengths)
    cases.push_back({target, length});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Lengths, RowLength,
                         ::testing::ValuesIn(casesOf(
                             "x86-64-v3", {1, 7, 8, 13, 32, 33, 67, 384, -1})));
INSTANTIATE_TEST_SUITE_P(LengthsOnDevice, RowLength,
                         ::testing::ValuesIn(casesOf("opencl",
                                                     {1, 33, 64, 131, -1})));

class Rowwise : public OnTarget<const char *> {
protected:
  std::string target() const override { return GetParam(); }
};
class Generic : public Rowwise {};
INSTANTIATE_TEST_SUITE_P(Targets, Rowwise,
                         ::testing::Values("x86-64-v3", "opencl"));
INSTANTIATE_TEST_SUITE_P(Targets, Generic,
                         ::testing::Values("x86-64-v3", "opencl"));

/// A row length of -1 means one that is known at run time.
std::string rowType(int64_t d, const char *lead = "?x?") {
  return formatv("tensor<{0}x{1}xf32>", lead, d < 0 ? "?" : std::to_string(d));
}

TEST_P(RowLength, LayerNorm) {
  int64_t d = GetParam().length;
  std::string type = rowType(d), row = rowType(d, "").replace(7, 1, "");
  std::string text = formatv(
      "attn.kernel @norm_0(%x: {0}, %g: {1}, %b: {1}) -> {0} {{\n"
      "  %y = attn.layer_norm %x, %g, %b epsilon(1.0e-5) : {0}, {1}, {1}\n"
      "  attn.yield %y : {0}\n}",
      type, row);
  auto kernel = compile(text);
  ASSERT_TRUE(kernel);
  d = d < 0 ? 45 : d;
  for (int64_t rows : {0, 1, 3, 4, 9})
    for (Placement placement : placements) {
      Tensor x = makeFloats({2, rows, d}, placement);
      Tensor g = makeFloats({d}, placement), b = makeFloats({d}, placement);
      Tensor y = makeFloats({2, rows, d}, placement);
      fillRandom(x, 1, 3.0f);
      fillRandom(g, 2);
      fillRandom(b, 3);
      runBoth(*kernel, {x, g, b, y}, placement);
      runAlone(*kernel, {x, g, b, y}, y);
      for (int64_t r = 0; r < 2 * rows; ++r) {
        const float *in = x.as<float>() + r * d;
        double mean = 0, variance = 0;
        for (int64_t n = 0; n < d; ++n)
          mean += double(in[n]) / d;
        for (int64_t n = 0; n < d; ++n)
          variance += std::pow(in[n] - mean, 2) / d;
        for (int64_t n = 0; n < d; ++n)
          ASSERT_NEAR(y.as<float>()[r * d + n],
                      (in[n] - mean) / std::sqrt(variance + 1e-5) *
                              g.as<float>()[n] +
                          b.as<float>()[n],
                      2e-5)
              << "row " << r << " of " << rows << ", column " << n;
      }
    }
}

TEST_P(RowLength, RmsNorm) {
  int64_t d = GetParam().length;
  std::string type = rowType(d), row = rowType(d, "").replace(7, 1, "");
  auto kernel =
      compile(formatv("attn.kernel @norm_0(%x: {0}, %g: {1}) -> {0} {{\n"
                      "  %y = attn.rms_norm %x, %g epsilon(1.0e-5) : {0}, {1}\n"
                      "  attn.yield %y : {0}\n}",
                      type, row));
  ASSERT_TRUE(kernel);
  d = d < 0 ? 45 : d;
  for (int64_t rows : {0, 1, 3, 4, 9})
    for (Placement placement : placements) {
      Tensor x = makeFloats({2, rows, d}, placement);
      Tensor g = makeFloats({d}, placement);
      Tensor y = makeFloats({2, rows, d}, placement);
      fillRandom(x, 1, 3.0f);
      fillRandom(g, 2);
      runBoth(*kernel, {x, g, y}, placement);
      runAlone(*kernel, {x, g, y}, y);
      for (int64_t r = 0; r < 2 * rows; ++r) {
        const float *in = x.as<float>() + r * d;
        double squares = 0;
        for (int64_t n = 0; n < d; ++n)
          squares += std::pow(in[n], 2) / d;
        for (int64_t n = 0; n < d; ++n)
          ASSERT_NEAR(y.as<float>()[r * d + n],
                      in[n] / std::sqrt(squares + 1e-5) * g.as<float>()[n],
                      5e-6)
              << "row " << r << " of " << rows << ", column " << n;
      }
    }
}

/// Rows whose exponentials are kept, the longest of them, and longer ones: the
/// same bits for the columns that they have in common.
TEST_P(Rowwise, SoftmaxOfLongRows) {
  std::string type = rowType(-1, "?");
  auto kernel = compile(formatv("attn.kernel @softmax_0(%x: {0}) -> {0} {{\n"
                                "  %y = attn.softmax %x : {0} -> {0}\n"
                                "  attn.yield %y : {0}\n}",
                                type));
  ASSERT_TRUE(kernel);
  for (int64_t d : {1023, 1024, 1025, 10001})
    for (int64_t rows : {1, 5})
      for (Placement placement : placements) {
        Tensor x = makeFloats({rows, d}, placement);
        Tensor y = makeFloats({rows, d}, placement);
        fillRandom(x, 1, 8.0f);
        x.as<float>()[d - 1] = -infinity;
        runBoth(*kernel, {x, y}, placement);
        for (int64_t r = 0; r < rows; ++r) {
          const float *in = x.as<float>() + r * d;
          double sum = 0, highest = *std::max_element(in, in + d);
          for (int64_t n = 0; n < d; ++n)
            sum += std::exp(in[n] - highest);
          for (int64_t n = 0; n < d; ++n) {
            double expected = std::exp(in[n] - highest) / sum;
            // Differences of up to 16, rounded, and a sum of 1,250 roundings.
            ASSERT_NEAR(y.as<float>()[r * d + n], expected, 5e-6 * expected)
                << "row " << r << ", column " << n << " of " << d;
          }
        }
      }
}

TEST_P(RowLength, SoftmaxWithLogSumExp) {
  int64_t d = GetParam().length;
  std::string type = rowType(d);
  std::string text =
      formatv("attn.kernel @softmax_0(%x: {0}) -> ({0}, tensor<?x?xf32>) {{\n"
              "  %y, %l = attn.softmax %x : {0} -> {0}, tensor<?x?xf32>\n"
              "  attn.yield %y, %l : {0}, tensor<?x?xf32>\n}",
              type);
  auto kernel = compile(text);
  ASSERT_TRUE(kernel);
  d = d < 0 ? 45 : d;
  for (int64_t rows : {0, 1, 4, 7})
    for (Placement placement : placements) {
      Tensor x = makeFloats({2, rows, d}, placement);
      Tensor y = makeFloats({2, rows, d}, placement);
      Tensor lse = makeFloats({2, rows}, placement);
      fillRandom(x, 1, 20.0f);
      for (int64_t i = 0; i < x.size(); i += 3)
        x.as<float>()[i] = -infinity;
      for (int64_t n = 0; rows && n < d; ++n) // A row that sees nothing.
        x.as<float>()[n] = -infinity;
      runBoth(*kernel, {x, y, lse}, placement);
      runAlone(*kernel, {x, y, lse}, y);
      for (int64_t r = 0; r < 2 * rows; ++r) {
        const float *in = x.as<float>() + r * d;
        double sum = 0, highest = -1e300;
        for (int64_t n = 0; n < d; ++n)
          highest = std::max<double>(highest, in[n]);
        for (int64_t n = 0; n < d; ++n)
          sum += std::isinf(in[n]) ? 0 : std::exp(in[n] - highest);
        for (int64_t n = 0; n < d; ++n)
          ASSERT_NEAR(y.as<float>()[r * d + n],
                      std::isinf(in[n]) ? 0.0 : std::exp(in[n] - highest) / sum,
                      1e-6);
        float expected = sum ? float(highest + std::log(sum)) : -infinity;
        if (sum)
          ASSERT_NEAR(lse.as<float>()[r], expected, 4e-6);
        else
          ASSERT_EQ(lse.as<float>()[r], expected);
      }
    }
}

TEST_P(RowLength, SoftmaxOfANaN) {
  int64_t d = GetParam().length;
  std::string type = rowType(d, "?");
  auto kernel = compile(formatv("attn.kernel @softmax_0(%x: {0}) -> {0} {{\n"
                                "  %y = attn.softmax %x : {0} -> {0}\n"
                                "  attn.yield %y : {0}\n}",
                                type));
  ASSERT_TRUE(kernel);
  d = d < 0 ? 45 : d;
  for (float poison : {std::numeric_limits<float>::quiet_NaN(), infinity})
    for (int64_t position = 0; position < d; position += 5) {
      Tensor x = makeFloats({3, d}, Placement::Back);
      Tensor y = makeFloats({3, d}, Placement::Back);
      fillRandom(x, 1);
      x.as<float>()[d + position] = poison;
      ASSERT_EQ(kernel->run({x, y}), 0);
      for (int64_t n = 0; n < d; ++n) {
        ASSERT_FALSE(std::isnan(y.as<float>()[n]));
        ASSERT_TRUE(std::isnan(y.as<float>()[d + n])) << n;
        ASSERT_FALSE(std::isnan(y.as<float>()[2 * d + n]));
      }
    }
}

TEST_P(RowLength, EmbeddingWithPositionsAndNorm) {
  int64_t d = GetParam().length;
  if (d < 0)
    return;
  std::string text = formatv(
      "attn.kernel @embed_norm_0(%ids: tensor<?x?xi64>, %t: tensor<30x{0}xf32>,"
      " %p: tensor<16x{0}xf32>, %g: tensor<{0}xf32>, %b: tensor<{0}xf32>)"
      " -> tensor<?x?x{0}xf32> {{\n"
      "  %0 = attn.embedding %ids, %t : tensor<?x?xi64>, tensor<30x{0}xf32> -> "
      "tensor<?x?x{0}xf32>\n"
      "  %1 = attn.learned_positions %0, %p first(2) : tensor<?x?x{0}xf32>, "
      "tensor<16x{0}xf32>\n"
      "  %2 = attn.layer_norm %1, %g, %b epsilon(1.0e-12) : "
      "tensor<?x?x{0}xf32>, tensor<{0}xf32>, tensor<{0}xf32>\n"
      "  attn.yield %2 : tensor<?x?x{0}xf32>\n}",
      d);
  auto kernel = compile(text);
  ASSERT_TRUE(kernel);
  for (Placement placement : placements) {
    Tensor ids = makeTensor(i64, {3, 5}, placement);
    Tensor table = makeFloats({30, d}, placement);
    Tensor positions = makeFloats({16, d}, placement);
    Tensor g = makeFloats({d}, placement), b = makeFloats({d}, placement);
    Tensor y = makeFloats({3, 5, d}, placement);
    fillRandom(table, 1);
    fillRandom(positions, 2);
    fillRandom(g, 3);
    fillRandom(b, 4);
    for (int64_t i = 0; i < 15; ++i)
      ids.as<int64_t>()[i] = (i * 7) % 30;
    // The host reports such an id; the kernel must not follow it.
    ids.as<int64_t>()[14] = int64_t(1) << 40;
    runBoth(*kernel, {ids, table, positions, g, b, y}, placement);
    for (int64_t r = 0; r < 14; ++r) {
      std::vector<double> row(d);
      double mean = 0, variance = 0;
      for (int64_t n = 0; n < d; ++n) {
        row[n] = double(table.as<float>()[ids.as<int64_t>()[r] * d + n]) +
                 positions.as<float>()[(r % 5 + 2) * d + n];
        mean += row[n] / d;
      }
      for (double value : row)
        variance += std::pow(value - mean, 2) / d;
      for (int64_t n = 0; n < d; ++n)
        ASSERT_NEAR(y.as<float>()[r * d + n],
                    (row[n] - mean) / std::sqrt(variance + 1e-12) *
                            g.as<float>()[n] +
                        b.as<float>()[n],
                    d == 1 ? 2 : 5e-5);
    }
  }
}

TEST_P(RowLength, MeanPoolIgnoresWhatTheMaskHides) {
  int64_t d = GetParam().length;
  std::string type = rowType(d), pooled = rowType(d, "?");
  std::string text = formatv(
      "attn.kernel @pool_0(%x: {0}, %m: tensor<?x?xi64>) -> {1} {{\n"
      "  %0 = attn.pool %x mask(%m : tensor<?x?xi64>)<mean> : {0} -> {1}\n"
      "  %1 = attn.l2_normalize %0 epsilon(1.0e-12) : {1}\n"
      "  attn.yield %1 : {1}\n}",
      type, pooled);
  auto kernel = compile(text);
  ASSERT_TRUE(kernel);
  d = d < 0 ? 45 : d;
  int64_t s = 6;
  for (int64_t batch : {0, 1, 2, 5})
    for (Placement placement : placements) {
      Tensor x = makeFloats({batch, s, d}, placement);
      Tensor mask = makeTensor(i64, {batch, s}, placement);
      Tensor y = makeFloats({batch, d}, placement);
      fillRandom(x, 1);
      for (int64_t i = 0; i < batch * s; ++i) {
        mask.as<int64_t>()[i] = i % 3 != 1;
        if (i % 3 == 1)
          for (int64_t n = 0; n < d; ++n)
            x.as<float>()[i * d + n] = std::nanf("");
      }
      runBoth(*kernel, {x, mask, y}, placement);
      for (int64_t b = 0; b < batch; ++b) {
        std::vector<double> row(d, 0.0);
        double weights = 0, squares = 0;
        for (int64_t i = b * s; i < (b + 1) * s; ++i)
          if (mask.as<int64_t>()[i]) {
            weights += 1;
            for (int64_t n = 0; n < d; ++n)
              row[n] += x.as<float>()[i * d + n];
          }
        for (double &value : row) {
          value /= weights;
          squares += value * value;
        }
        for (int64_t n = 0; n < d; ++n)
          ASSERT_NEAR(y.as<float>()[b * d + n], row[n] / std::sqrt(squares),
                      2e-6);
      }
    }
}

TEST_P(Rowwise, Sinusoids) {
  for (const char *form : {"interleaved", "halves"}) {
    int64_t d = 22;
    auto kernel =
        compile(formatv("attn.kernel @rowwise_0(%x: tensor<?x?x22xf32>) -> "
                        "tensor<?x?x22xf32> {{\n"
                        "  %0 = attn.sinusoidal %x<{0}> : tensor<?x?x22xf32>\n"
                        "  attn.yield %0 : tensor<?x?x22xf32>\n}",
                        form));
    ASSERT_TRUE(kernel);
    int64_t s = 5000;
    Tensor x = makeFloats({1, s, d}, Placement::Back);
    Tensor y = makeFloats({1, s, d}, Placement::Back);
    std::memset(x.as<float>(), 0, x.size() * 4);
    runBoth(*kernel, {x, y}, Placement::Back);
    bool interleaved = form[0] == 'i';
    for (int64_t i = 0; i < s; ++i)
      for (int64_t n = 0; n < d; ++n) {
        int64_t pair = interleaved ? n / 2 : n % (d / 2);
        bool cosine = interleaved ? n % 2 : n >= d / 2;
        double angle = i * std::pow(10000.0, -2.0 * pair / d);
        ASSERT_NEAR(y.as<float>()[i * d + n],
                    cosine ? std::cos(angle) : std::sin(angle), 3e-7)
            << form << " position " << i << " channel " << n;
      }
  }
}

TEST_P(Rowwise, ElementwiseGroupOfSeveralResults) {
  auto kernel = compile(R"mlir(
attn.kernel @rowwise_0(%a: tensor<?x13xf32>, %b: tensor<?x13xf32>)
    -> (tensor<?x13xf32>, tensor<?x13xi1>) {
  %c = arith.constant dense<0.5> : tensor<13xf32>
  %half = arith.constant dense<0.5> : tensor<1x13xf32>
  %0 = arith.addf %a, %b : tensor<?x13xf32>
  %1 = attn.relu %0 : tensor<?x13xf32>
  %2 = arith.cmpf olt, %a, %b : tensor<?x13xf32>
  attn.yield %1, %2 : tensor<?x13xf32>, tensor<?x13xi1>
})mlir");
  ASSERT_TRUE(kernel);
  for (int64_t rows : {0, 1, 5})
    for (Placement placement : placements) {
      Tensor a = makeFloats({rows, 13}, placement);
      Tensor b = makeFloats({rows, 13}, placement);
      Tensor y = makeFloats({rows, 13}, placement);
      Tensor less = makeTensor(i1, {rows, 13}, placement);
      fillRandom(a, 1);
      fillRandom(b, 2);
      if (rows)
        a.as<float>()[3] = std::nanf("");
      runBoth(*kernel, {a, b, y, less}, placement);
      for (int64_t i = 0; i < rows * 13; ++i) {
        float x = a.as<float>()[i], z = b.as<float>()[i];
        if (std::isnan(x)) {
          EXPECT_TRUE(std::isnan(y.as<float>()[i]));
          continue;
        }
        ASSERT_EQ(y.as<float>()[i], std::max(x + z, 0.0f));
        ASSERT_EQ(less.as<uint8_t>()[i], x < z);
      }
    }
}

TEST_P(Rowwise, NormOfOneVector) {
  auto kernel = compile(R"mlir(
attn.kernel @norm_0(%x: tensor<37xf32>, %g: tensor<37xf32>, %b: tensor<37xf32>)
    -> tensor<37xf32> {
  %y = attn.layer_norm %x, %g, %b epsilon(1.0e-5) : tensor<37xf32>, tensor<37xf32>, tensor<37xf32>
  attn.yield %y : tensor<37xf32>
})mlir");
  ASSERT_TRUE(kernel);
  Tensor x = makeFloats({37}, Placement::Back), y = x, g = x, b = x;
  for (Tensor *tensor : {&y, &g, &b})
    *tensor = makeFloats({37}, Placement::Back);
  fillRandom(x, 1);
  fillRandom(g, 2);
  fillRandom(b, 3);
  runBoth(*kernel, {x, g, b, y}, Placement::Back);
  double mean = 0, variance = 0;
  for (int64_t n = 0; n < 37; ++n)
    mean += x.as<float>()[n] / 37.0;
  for (int64_t n = 0; n < 37; ++n)
    variance += std::pow(x.as<float>()[n] - mean, 2) / 37;
  for (int64_t n = 0; n < 37; ++n)
    ASSERT_NEAR(y.as<float>()[n],
                (x.as<float>()[n] - mean) / std::sqrt(variance + 1e-5) *
                        g.as<float>()[n] +
                    b.as<float>()[n],
                2e-6);
}

TEST_P(Generic, MixesElementTypesAndBroadcasts) {
  // Where the mask (B, S) shows a position: x + bias, else the position number.
  auto kernel = compile(R"mlir(
#bsd = affine_map<(b, s, d) -> (b, s, d)>
#bs = affine_map<(b, s, d) -> (b, s)>
#d = affine_map<(b, s, d) -> (d)>
attn.kernel @generic_0(%x: tensor<?x?x11xf32>, %m: tensor<?x?xi1>, %w: tensor<11xi32>)
    -> tensor<?x?x11xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x11xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x11xf32>
  %e = tensor.empty(%b, %s) : tensor<?x?x11xf32>
  %y = linalg.generic {indexing_maps = [#bsd, #bs, #d, #bsd],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %m, %w : tensor<?x?x11xf32>, tensor<?x?xi1>, tensor<11xi32>)
      outs(%e : tensor<?x?x11xf32>) {
  ^bb0(%a: f32, %shown: i1, %bias: i32, %o: f32):
    %f = arith.sitofp %bias : i32 to f32
    %sum = arith.addf %a, %f : f32
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i64
    %position = arith.sitofp %j : i64 to f32
    %r = arith.select %shown, %sum, %position : f32
    linalg.yield %r : f32
  } -> tensor<?x?x11xf32>
  attn.yield %y : tensor<?x?x11xf32>
})mlir");
  ASSERT_TRUE(kernel);
  for (Placement placement : placements) {
    Tensor x = makeFloats({2, 5, 11}, placement);
    Tensor mask = makeTensor(i1, {2, 5}, placement);
    Tensor bias =
        makeTensor(halide_type_t(halide_type_int, 32), {11}, placement);
    Tensor y = makeFloats({2, 5, 11}, placement);
    fillRandom(x, 1);
    for (int64_t i = 0; i < 10; ++i)
      mask.as<uint8_t>()[i] = i % 3 != 0;
    for (int32_t i = 0; i < 11; ++i)
      bias.as<int32_t>()[i] = i - 5;
    runBoth(*kernel, {x, mask, bias, y}, placement);
    for (int64_t r = 0; r < 10; ++r)
      for (int64_t d = 0; d < 11; ++d)
        ASSERT_EQ(y.as<float>()[r * 11 + d],
                  r % 3 ? x.as<float>()[r * 11 + d] + float(d - 5)
                        : float(r % 5));
  }
}

TEST_P(Generic, TransposesReducesAndBroadcasts) {
  auto transpose = compile(R"mlir(
attn.kernel @generic_0(%x: tensor<?x?x3x5xf32>) -> tensor<?x3x?x5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x3x5xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x3x5xf32>
  %e = tensor.empty(%b, %s) : tensor<?x3x?x5xf32>
  %y = linalg.transpose ins(%x : tensor<?x?x3x5xf32>) outs(%e : tensor<?x3x?x5xf32>) permutation = [0, 2, 1, 3]
  attn.yield %y : tensor<?x3x?x5xf32>
})mlir");
  auto sum = compile(R"mlir(
#in = affine_map<(d0, d1) -> (d0, d1)>
#out = affine_map<(d0, d1) -> (d0)>
attn.kernel @generic_0(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i32
    %w = arith.sitofp %k : i32 to f32
    %p = arith.mulf %a, %w : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  attn.yield %y : tensor<?xf32>
})mlir");
  ASSERT_TRUE(transpose && sum);
  for (Placement placement : placements) {
    Tensor x = makeFloats({2, 4, 3, 5}, placement);
    Tensor y = makeFloats({2, 3, 4, 5}, placement);
    fillRandom(x, 1);
    runBoth(*transpose, {x, y}, placement);
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t s = 0; s < 4; ++s)
        for (int64_t h = 0; h < 3; ++h)
          for (int64_t d = 0; d < 5; ++d)
            ASSERT_EQ(y.as<float>()[((b * 3 + h) * 4 + s) * 5 + d],
                      x.as<float>()[((b * 4 + s) * 3 + h) * 5 + d]);
    Tensor rows = makeFloats({19, 7}, placement);
    Tensor sums = makeFloats({19}, placement);
    fillRandom(rows, 2);
    runBoth(*sum, {rows, sums}, placement);
    for (int64_t r = 0; r < 19; ++r) {
      double expected = 0;
      for (int64_t c = 0; c < 7; ++c)
        expected += double(rows.as<float>()[r * 7 + c]) * c;
      ASSERT_NEAR(sums.as<float>()[r], expected, 2e-6);
    }
  }
}

TEST_P(Generic, PacksATensorOfRunTime) {
  auto kernel = compile(R"mlir(
attn.kernel @generic_0(%w: tensor<29x6xf32>) -> tensor<4x6x8xf32> {
  %y = attn.pack %w panel(8) : tensor<29x6xf32> -> tensor<4x6x8xf32>
  attn.yield %y : tensor<4x6x8xf32>
})mlir");
  ASSERT_TRUE(kernel);
  for (Placement placement : placements) {
    Tensor w = makeFloats({29, 6}, placement);
    fillRandom(w, 1);
    Tensor y = makeFloats({4, 6, 8}, placement);
    runBoth(*kernel, {w, y}, placement);
    Tensor expected = packPanels(w, 8, placement);
    ASSERT_EQ(std::memcmp(y.as<float>(), expected.as<float>(), y.size() * 4),
              0);
  }
}

TEST(GenericErrors, RejectMapsThatAreNoPermutation) {
  EXPECT_EQ(
      compileError(R"mlir(
#in = affine_map<(d0) -> (d0 + 1)>
#out = affine_map<(d0) -> (d0)>
attn.kernel @generic_0(%x: tensor<5xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel"]}
      ins(%x : tensor<5xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  attn.yield %y : tensor<4xf32>
})mlir"),
      "'linalg.generic' op not supported by the Halide target: expected "
      "indexing maps that are projected permutations (because each index "
      "must be one loop), got affine_map<(d0) -> (d0 + 1)> for operand 0");
}

} // namespace
