//===- CostModelTest.cpp - operations and bytes of kernels -----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Formulas of dims, and the counts of modules of the fused level against those
// made by hand.
//
//===----------------------------------------------------------------------===//
#include "attn/Analysis/CostModel.h"
#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace attn;
using llvm::formatv;
using testing::ElementsAre;
using testing::SizeIs;

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

TEST(SizePolynomial, PrintsAsAnExpression) {
  SizePolynomial b = SizePolynomial::dim("b"), s = SizePolynomial::dim("s");
  EXPECT_EQ(SizePolynomial().str(), "0");
  EXPECT_EQ((b * s * s * 2 + s * 3 + b + 7).str(), "2*b*s*s + b + 3*s + 7");
  EXPECT_EQ((b * -1 + s * -2).str(), "-b - 2*s");
  EXPECT_EQ((s + -1).str(), "s - 1");
  EXPECT_EQ(SizePolynomial(123456789012.0).str(), "123456789012");
}

TEST(SizePolynomial, CollectsEqualTerms) {
  SizePolynomial b = SizePolynomial::dim("b"), s = SizePolynomial::dim("s");
  EXPECT_EQ(b * s + s * b, SizePolynomial(2) * b * s);
  EXPECT_EQ((b + s) * (b + s * -1), b * b + s * s * -1);
  EXPECT_EQ(b + b * -1, SizePolynomial());
  EXPECT_EQ((b + 1) * 0, SizePolynomial());
  EXPECT_FALSE(b == s);
}

TEST(SizePolynomial, PrintsHalves) {
  SizePolynomial n = SizePolynomial::dim("n");
  EXPECT_EQ((n * n * 0.5 + n * -0.5).str(), "0.5*n*n - 0.5*n");
}

TEST(SizePolynomial, ReplacesAndSplits) {
  SizePolynomial n = SizePolynomial::dim("n"), m = SizePolynomial::dim("m");
  EXPECT_EQ((n * n + m).substitute([&](llvm::StringRef dim) {
    return dim == "n" ? m + 1 : SizePolynomial(5);
  }),
            m * m + m * 2 + 6);
  auto [left, right] = (n * 2 + m * -3 + -4).splitBySign();
  EXPECT_EQ(left.str(), "2*n");
  EXPECT_EQ(right.str(), "3*m + 4");
  EXPECT_TRUE((n + m * -1).hasNegativeFactor());
  EXPECT_FALSE((n + m).hasNegativeFactor());
}

TEST(SizePolynomial, HasAValueIfItsDimsHave) {
  SizePolynomial size = SizePolynomial::dim("b") * 3 + 4;
  EXPECT_EQ(size.constant(), std::nullopt);
  EXPECT_EQ(SizePolynomial(4).constant(), 4.0);
  EXPECT_EQ(size.evaluate({{"b", 5}, {"c", 7}}), 19.0);
  EXPECT_EQ(size.evaluate({{"c", 7}}), std::nullopt);
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

namespace {

struct CostModel : testing::Test {
  mlir::MLIRContext context;

  CostModel() {
    context.loadDialect<AttnDialect, mlir::affine::AffineDialect,
                        mlir::func::FuncDialect, mlir::linalg::LinalgDialect,
                        mlir::scf::SCFDialect>();
  }

  /// `name: calls, flops, bytes` of each kernel.
  std::vector<std::string> count(const std::string &text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      return {"cannot parse"};
    std::vector<std::string> lines;
    cost = estimateCost(*module);
    lines.reserve(cost.kernels.size());
    for (const KernelCost &kernel : cost.kernels)
      lines.push_back(kernel.kernel + ": " + describe(kernel.cost));
    return lines;
  }

  static std::string describe(const Cost &cost) {
    auto text = [](const std::optional<SizePolynomial> &count) {
      return count ? count->str() : std::string("?");
    };
    return std::to_string(cost.calls) + ", " + text(cost.flops) + ", " +
           text(cost.bytes);
  }

  ModelCost cost;
};

const char linear[] = R"mlir(
  attn.kernel @linear_0(%x: tensor<?x4xf32>, %w: tensor<8x4xf32>) -> tensor<?x8xf32> {
    %y = attn.fused_linear %x, %w : tensor<?x4xf32>, tensor<8x4xf32> -> tensor<?x8xf32>
    attn.yield %y : tensor<?x8xf32>
  }
)mlir";

} // namespace

TEST_F(CostModel, AddsTheCallsOfAKernel) {
  // On the rows of a sequence, and on one row of each.
  EXPECT_THAT(count(std::string(linear) + R"mlir(
  attn.dim @b range(1, 8)
  func.func @f(%x: tensor<?x?x4xf32> {attn.dims = ["b", "s", ""]}, %w: tensor<8x4xf32>) {
    %b = attn.dim_size @b
    %c1 = arith.constant 1 : index
    %s = tensor.dim %x, %c1 : tensor<?x?x4xf32>
    %n = arith.muli %b, %s : index
    %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x4xf32> into tensor<?x4xf32>
    %e = tensor.empty(%n) : tensor<?x8xf32>
    %y = attn.call @linear_0 ins(%rows, %w : tensor<?x4xf32>, tensor<8x4xf32>)
        outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
    %first = tensor.extract_slice %x[0, 0, 0] [%b, 1, 4] [1, 1, 1] : tensor<?x?x4xf32> to tensor<?x4xf32>
    %e2 = tensor.empty(%b) : tensor<?x8xf32>
    %z = attn.call @linear_0 ins(%first, %w : tensor<?x4xf32>, tensor<8x4xf32>)
        outs(%e2 : tensor<?x8xf32>) -> tensor<?x8xf32>
    return
  })mlir"),
              ElementsAre("linear_0: 2, 64*b*s + 64*b, 48*b*s + 48*b + 256"));
  EXPECT_EQ(describe(cost.total()), "2, 64*b*s + 64*b, 48*b*s + 48*b + 256");
}

TEST_F(CostModel, KnowsDimsOfOneValue) {
  EXPECT_THAT(count(std::string(linear) + R"mlir(
  attn.dim @n range(10, 10)
  func.func @f(%x: tensor<?x4xf32> {attn.dims = ["n", ""]}, %w: tensor<8x4xf32>, %e: tensor<?x8xf32> {attn.dims = ["n", ""]}) {
    %y = attn.call @linear_0 ins(%x, %w : tensor<?x4xf32>, tensor<8x4xf32>)
        outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
    return
  })mlir"),
              ElementsAre("linear_0: 1, 640, 608"));
}

TEST_F(CostModel, CountsAttentionInBothLayouts) {
  // A tensor of heads x channels: its type, and the names of its dims.
  auto type = [](bool swaps, const char *heads, const char *channels) {
    return formatv(swaps ? "tensor<?x{0}x?x{1}xf16>"
                         : "tensor<?x?x{0}x{1}xf16>",
                   heads, channels)
        .str();
  };
  auto dims = [](bool swaps, const char *length) {
    return formatv(swaps ? R"({{attn.dims = ["b", "", "{0}", ""]})"
                         : R"({{attn.dims = ["b", "{0}", "", ""]})",
                   length)
        .str();
  };
  for (bool swaps : {false, true}) {
    std::string text = formatv(
        R"mlir(
  attn.kernel @attention_0(%q: {0}, %k: {1}, %v: {2}, %c: f32) -> {3} {{
    %r = attn.attention %q, %k, %v scale(%c : f32) layout({4}) : {0}, {1}, {2} -> {3}
    attn.yield %r : {3}
  }
  func.func @f(%q: {0} {5}, %k: {1} {6}, %v: {2} {6}, %e: {3} {5}) {{
    %c = arith.constant 1.0 : f32
    %r = attn.call @attention_0 ins(%q, %k, %v, %c : {0}, {1}, {2}, f32) outs(%e : {3}) -> {3}
    return
  })mlir",
        type(swaps, "4", "8"), type(swaps, "2", "8"), type(swaps, "2", "6"),
        type(swaps, "4", "6"), swaps ? "bhsd" : "bshd", dims(swaps, "n"),
        dims(swaps, "m"));
    EXPECT_THAT(count(text),
                ElementsAre("attention_0: 1, 112*b*m*n, 56*b*m + 112*b*n"))
        << text;
  }
}

TEST_F(CostModel, CountsSumsOfProductsInGenericKernels) {
  EXPECT_THAT(count(R"mlir(
  #a = affine_map<(m, n, k) -> (m, k)>
  #b = affine_map<(m, n, k) -> (k, n)>
  #c = affine_map<(m, n, k) -> (m, n)>
  #x = affine_map<(m, n) -> (m, n)>
  #y = affine_map<(m, n) -> (m)>
  attn.kernel @generic_0(%a: tensor<?x4xf32>, %b: tensor<4x?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
    %e = tensor.empty(%m, %n) : tensor<?x?xf32>
    %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<?x4xf32>, tensor<4x?xf32>) outs(%e : tensor<?x?xf32>) {
    ^bb0(%l: f32, %r: f32, %o: f32):
      %0 = arith.mulf %l, %r : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<?x?xf32>
    attn.yield %r : tensor<?x?xf32>
  }
  // A sum without products, and products without a sum.
  attn.kernel @generic_1(%a: tensor<?x4xf32>, %m: index) -> tensor<?xf32> {
    %e = tensor.empty(%m) : tensor<?xf32>
    %s = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<?x4xf32>) outs(%a : tensor<?x4xf32>) {
    ^bb0(%l: f32, %o: f32):
      %0 = arith.mulf %l, %l : f32
      linalg.yield %0 : f32
    } -> tensor<?x4xf32>
    %r = linalg.generic {indexing_maps = [#x, #y], iterator_types = ["parallel", "reduction"]}
        ins(%s : tensor<?x4xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%l: f32, %o: f32):
      %0 = arith.addf %o, %l : f32
      linalg.yield %0 : f32
    } -> tensor<?xf32>
    attn.yield %r : tensor<?xf32>
  }
  func.func @f(%a: tensor<?x4xf32> {attn.dims = ["m", ""]}, %b: tensor<4x?xf32> {attn.dims = ["", "n"]},
               %e: tensor<?x?xf32> {attn.dims = ["m", "n"]}, %g: tensor<?xf32> {attn.dims = ["m"]}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = tensor.dim %a, %c0 : tensor<?x4xf32>
    %n = tensor.dim %b, %c1 : tensor<4x?xf32>
    %r = attn.call @generic_0 ins(%a, %b, %m, %n : tensor<?x4xf32>, tensor<4x?xf32>, index, index)
        outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
    %s = attn.call @generic_1 ins(%a, %m : tensor<?x4xf32>, index) outs(%g : tensor<?xf32>) -> tensor<?xf32>
    return
  })mlir"),
              ElementsAre("generic_0: 1, 8*m*n, 4*m*n + 16*m + 16*n",
                          "generic_1: 1, 0, 20*m"));
}

TEST_F(CostModel, CountsTheRowsOfATableThatIdsSelect) {
  EXPECT_THAT(count(R"mlir(
  attn.kernel @embed_0(%ids: tensor<?xi64>, %t: tensor<1000x8xf32>) -> tensor<?x8xf32> {
    %y = attn.embedding %ids, %t : tensor<?xi64>, tensor<1000x8xf32> -> tensor<?x8xf32>
    attn.yield %y : tensor<?x8xf32>
  }
  func.func @f(%ids: tensor<?xi64> {attn.dims = ["n"]}, %t: tensor<1000x8xf32>, %e: tensor<?x8xf32> {attn.dims = ["n", ""]}) {
    %y = attn.call @embed_0 ins(%ids, %t : tensor<?xi64>, tensor<1000x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
    return
  })mlir"),
              ElementsAre("embed_0: 1, 0, 72*n"));
}

TEST_F(CostModel, CountsThePositionsThatThereAre) {
  // 3 x n vectors of 8 read and written, and n of the 512 positions.
  EXPECT_THAT(count(R"mlir(
  attn.kernel @positions_0(%x: tensor<3x?x8xf32>, %t: tensor<512x8xf32>) -> tensor<3x?x8xf32> {
    %y = attn.learned_positions %x, %t : tensor<3x?x8xf32>, tensor<512x8xf32>
    attn.yield %y : tensor<3x?x8xf32>
  }
  func.func @f(%x: tensor<3x?x8xf32> {attn.dims = ["", "n", ""]}, %t: tensor<512x8xf32>, %e: tensor<3x?x8xf32> {attn.dims = ["", "n", ""]}) {
    %y = attn.call @positions_0 ins(%x, %t : tensor<3x?x8xf32>, tensor<512x8xf32>) outs(%e : tensor<3x?x8xf32>) -> tensor<3x?x8xf32>
    return
  })mlir"),
              ElementsAre("positions_0: 1, 0, 224*n"));
}

TEST_F(CostModel, TellsCallsOfDifferentSizesApart) {
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(std::string(linear) + R"mlir(
  attn.weight @w value<dense<1.0> : tensor<8x4xf32>> : tensor<8x4xf32>
  func.func @f(%x: tensor<?x4xf32> {attn.dims = ["n", ""]}, %e: tensor<?x8xf32> {attn.dims = ["n", ""]},
               %z: tensor<?x4xf32> {attn.dims = ["m", ""]}, %g: tensor<?x8xf32> {attn.dims = ["m", ""]}) {
    %w = attn.weight_ref @w : tensor<8x4xf32>
    %0 = attn.call @linear_0 ins(%x, %w : tensor<?x4xf32>, tensor<8x4xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
    %1 = attn.call @linear_0 ins(%z, %w : tensor<?x4xf32>, tensor<8x4xf32>) outs(%g : tensor<?x8xf32>) -> tensor<?x8xf32>
    %2 = attn.call @linear_0 ins(%x, %w : tensor<?x4xf32>, tensor<8x4xf32>) outs(%0 : tensor<?x8xf32>) -> tensor<?x8xf32>
    return
  })mlir",
                                              &context);
  ASSERT_TRUE(module);
  std::vector<CallCost> calls = estimateCalls(*module);
  ASSERT_THAT(calls, SizeIs(2));
  EXPECT_EQ(calls[0].calls, 2);
  EXPECT_EQ(calls[0].flops->str(), "64*n");
  EXPECT_EQ(calls[0].bytes->str(), "48*n + 128");
  EXPECT_EQ(calls[0].weightBytes->str(), "128");
  EXPECT_EQ(calls[1].calls, 1);
  EXPECT_EQ(calls[1].flops->str(), "64*m");
}

TEST_F(CostModel, ReadsATensorThatIsPassedTwiceOnce) {
  EXPECT_THAT(count(R"mlir(
  attn.kernel @rowwise_0(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
    %z = arith.andi %x, %y : tensor<4xi1>
    attn.yield %z : tensor<4xi1>
  }
  func.func @f(%x: tensor<4xi1>, %e: tensor<4xi1>) {
    %y = attn.call @rowwise_0 ins(%x, %x : tensor<4xi1>, tensor<4xi1>) outs(%e : tensor<4xi1>) -> tensor<4xi1>
    return
  })mlir"),
              ElementsAre("rowwise_0: 1, 0, 8"));
}

//===----------------------------------------------------------------------===//
// What is not known
//===----------------------------------------------------------------------===//

/// A linear layer on as many rows as `size` says; it may use %b, a dim.
static std::string withRows(const std::string &size) {
  return std::string(linear) + R"mlir(
  attn.dim @b range(1, 8)
  func.func @f(%w: tensor<8x4xf32>) {
    %b = attn.dim_size @b
    %c7 = arith.constant 7 : index
    %c2 = arith.constant 2 : index
)mlir" + size +
         R"mlir(
    %x = tensor.empty(%n) : tensor<?x4xf32>
    %e = tensor.empty(%n) : tensor<?x8xf32>
    %y = attn.call @linear_0 ins(%x, %w : tensor<?x4xf32>, tensor<8x4xf32>)
        outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
    return
  })mlir";
}

TEST_F(CostModel, FoldsOperationsOnConstants) {
  EXPECT_THAT(count(withRows("%n = arith.divui %c7, %c2 : index")),
              ElementsAre("linear_0: 1, 192, 272"));
  EXPECT_THAT(count(withRows("%n = arith.addi %b, %c2 : index")),
              ElementsAre("linear_0: 1, 64*b + 128, 48*b + 224"));
}

TEST_F(CostModel, DoesNotKnowOtherSizes) {
  EXPECT_THAT(count(withRows("%n = arith.divui %b, %c2 : index")),
              ElementsAre("linear_0: 1, ?, ?"));
  EXPECT_THAT(count(withRows("%n = arith.divui %c7, %b : index")),
              ElementsAre("linear_0: 1, ?, ?"));
  EXPECT_EQ(describe(cost.total()), "1, ?, ?");
}

TEST_F(CostModel, StopsWhereFormulasGrow) {
  // b to the power of 2^60.
  std::string power = "%n0 = arith.muli %b, %b : index\n";
  for (int i = 1; i < 60; ++i)
    power += formatv("%n{0} = arith.muli %n{1}, %n{1} : index\n", i, i - 1);
  EXPECT_THAT(count(withRows(power + "%n = arith.addi %n59, %b : index")),
              ElementsAre("linear_0: 1, ?, ?"));
}

TEST_F(CostModel, DoesNotCountTiledLoops) {
  EXPECT_THAT(count(R"mlir(
  module @variant {
    attn.kernel @attention_0(%x: tensor<4xf32>) -> tensor<4xf32> {
      %r = scf.forall (%i) in (4) shared_outs(%o = %x) -> (tensor<4xf32>) {
      }
      attn.yield %r : tensor<4xf32>
    }
    func.func private @helper()
    func.func @f(%x: tensor<4xf32>) {
      %y = attn.call @attention_0 ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
      return
    }
  })mlir"),
              ElementsAre("attention_0: 1, ?, 32"));
}

TEST_F(CostModel, CountsNothingWithoutAPublicFunction) {
  EXPECT_THAT(count("func.func private @f()"), SizeIs(0));
  EXPECT_EQ(describe(cost.total()), "0, 0, 0");
}
