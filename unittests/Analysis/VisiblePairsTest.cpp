//===- VisiblePairsTest.cpp - how many pairs a mask leaves -----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Formulas against counting, pair by pair, at sizes inside and at the edge of
// their conditions.
//
//===----------------------------------------------------------------------===//
#include "attn/Analysis/VisiblePairs.h"
#include "attn/Analysis/MaskAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace attn;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// n queries and m keys, or n of both.
const SizePolynomial n = SizePolynomial::dim("n"), m = SizePolynomial::dim("m");

struct VisiblePairsTest : testing::Test {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;

  VisiblePairsTest() {
    context.loadDialect<AttnDialect, mlir::arith::ArithDialect,
                        mlir::func::FuncDialect, mlir::math::MathDialect,
                        mlir::tensor::TensorDialect>();
  }

  /// Attention with a mask region of these operations, analyzed.
  AttentionOp attention(const std::string &body) {
    const std::string tensor = "tensor<1x?x1x8xf32>";
    std::string text = "func.func @f(%q: " + tensor + ", %k: " + tensor +
                       ", %ids: tensor<?xindex>) {\n"
                       "  %c = arith.constant 1.0 : f32\n"
                       "  %r = attn.attention %q, %k, %k scale(%c : f32) "
                       "capture(%ids : tensor<?xindex>) layout(bshd) mask {\n"
                       "  ^bb0(%b: index, %h: index, %i: index, %j: index, %l: "
                       "tensor<?xindex>):\n" +
                       body + "    attn.yield %v : i1\n  } : " + tensor + ", " +
                       tensor + ", " + tensor + " -> " + tensor +
                       "\n  return\n}";
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    AttentionOp found;
    if (module)
      module->walk([&](AttentionOp op) { found = op; });
    if (found)
      found.setKeyRangesAttr(analyzeMask(found).ranges);
    return found;
  }

  static VisiblePairs count(AttentionOp op, const SizePolynomial &keys,
                            int64_t queries, int64_t keyCount) {
    return countVisiblePairs(op, n, keys, {{"n", queries}, {"m", keyCount}},
                             {{"n", {1, 100000}}, {"m", {1, 100000}}});
  }
};

/// Pairs that a predicate shows.
template <typename Predicate>
double countPairs(int64_t queries, int64_t keys, Predicate isVisible) {
  double pairs = 0;
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = 0; j < keys; ++j)
      pairs += isVisible(i, j);
  return pairs;
}

const char causal[] = "    %v = arith.cmpi sle, %j, %i : index\n";

const char window[] = R"(
    %w = arith.constant 5 : index
    %d = arith.subi %i, %j : index
    %near = arith.cmpi slt, %d, %w : index
    %before = arith.cmpi sle, %j, %i : index
    %v = arith.andi %near, %before : i1
)";

const char bothSides[] = R"(
    %w = arith.constant 3 : index
    %d = arith.subi %i, %j : index
    %e = math.absi %d : index
    %v = arith.cmpi sle, %e, %w : index
)";

} // namespace

TEST_F(VisiblePairsTest, CountsATriangle) {
  VisiblePairs pairs = count(attention(causal), n, 100, 100);
  ASSERT_TRUE(pairs.formula.has_value());
  EXPECT_EQ(pairs.formula->str(), "0.5*n*n + 0.5*n");
  EXPECT_THAT(pairs.conditions, IsEmpty());
  EXPECT_EQ(pairs.number, 5050.0);
  EXPECT_FALSE(pairs.isLimit);
}

TEST_F(VisiblePairsTest, SaysWhereATriangleIsCutOff) {
  // More keys than queries: a triangle. More queries than keys: a triangle and
  // a rectangle.
  VisiblePairs wide = count(attention(causal), m, 7, 20);
  ASSERT_TRUE(wide.formula.has_value());
  EXPECT_EQ(wide.formula->str(), "0.5*n*n + 0.5*n");
  EXPECT_THAT(wide.conditions, ElementsAre("m >= n"));
  VisiblePairs tall = count(attention(causal), m, 20, 7);
  ASSERT_TRUE(tall.formula.has_value());
  EXPECT_EQ(tall.formula->str(), "-0.5*m*m + m*n + 0.5*m");
  auto isVisible = [](int64_t i, int64_t j) { return j <= i; };
  for (int64_t queries : {8, 9, 30})
    EXPECT_EQ(tall.formula->evaluate({{"n", queries}, {"m", 7}}),
              countPairs(queries, 7, isVisible));
  EXPECT_EQ(tall.number, countPairs(20, 7, isVisible));
}

TEST_F(VisiblePairsTest, CountsAWindow) {
  VisiblePairs pairs = count(attention(window), n, 64, 64);
  ASSERT_TRUE(pairs.formula.has_value());
  // 1 + 2 + 3 + 4 + 5 + 5 + ...
  EXPECT_EQ(pairs.formula->str(), "5*n - 10");
  auto isVisible = [](int64_t i, int64_t j) { return j <= i && i - j < 5; };
  for (int64_t size : {4, 5, 6, 100})
    EXPECT_EQ(pairs.formula->evaluate({{"n", size}}),
              countPairs(size, size, isVisible));
  EXPECT_THAT(pairs.conditions, ElementsAre("n >= 5"));
  // A sequence that is shorter is a triangle.
  VisiblePairs small = count(attention(window), n, 3, 3);
  ASSERT_TRUE(small.formula.has_value());
  EXPECT_EQ(small.formula->str(), "0.5*n*n + 0.5*n");
  EXPECT_EQ(small.number, 6.0);
}

TEST_F(VisiblePairsTest, CountsAWindowOnBothSides) {
  VisiblePairs pairs = count(attention(bothSides), n, 64, 64);
  ASSERT_TRUE(pairs.formula.has_value());
  EXPECT_EQ(pairs.formula->str(), "7*n - 12");
  auto isVisible = [](int64_t i, int64_t j) { return std::abs(i - j) <= 3; };
  for (int64_t size : {6, 7, 64})
    EXPECT_EQ(pairs.formula->evaluate({{"n", size}}),
              countPairs(size, size, isVisible));
}

TEST_F(VisiblePairsTest, CountsPairsWhereThereIsNoFormula) {
  // Every third pair, and two ranges of keys.
  VisiblePairs stripes = count(attention(R"(
    %c3 = arith.constant 3 : index
    %c0 = arith.constant 0 : index
    %s = arith.addi %i, %j : index
    %r = arith.remsi %s, %c3 : index
    %v = arith.cmpi eq, %r, %c0 : index
)"),
                               n, 20, 20);
  EXPECT_FALSE(stripes.formula.has_value());
  EXPECT_EQ(stripes.number, countPairs(20, 20, [](int64_t i, int64_t j) {
              return (i + j) % 3 == 0;
            }));
  VisiblePairs sink = count(attention(R"(
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %d = arith.subi %i, %j : index
    %e = math.absi %d : index
    %near = arith.cmpi sle, %e, %c4 : index
    %first = arith.cmpi slt, %j, %c2 : index
    %v = arith.ori %near, %first : i1
)"),
                            n, 30, 30);
  EXPECT_FALSE(sink.formula.has_value());
  EXPECT_EQ(sink.number, countPairs(30, 30, [](int64_t i, int64_t j) {
              return std::abs(i - j) <= 4 || j < 2;
            }));
  EXPECT_FALSE(sink.isLimit);
}

TEST_F(VisiblePairsTest, SaysWhereThereAreTooManyPairs) {
  VisiblePairs pairs = count(attention(R"(
    %c3 = arith.constant 3 : index
    %c0 = arith.constant 0 : index
    %s = arith.addi %i, %j : index
    %r = arith.remsi %s, %c3 : index
    %v = arith.cmpi eq, %r, %c0 : index
)"),
                             n, 50000, 50000);
  EXPECT_EQ(pairs.number, 2.5e9);
  EXPECT_TRUE(pairs.isTooLarge);
}

TEST_F(VisiblePairsTest, IsALimitWhereDataDecides) {
  // Lengths hide more than the triangle does, but a run says how much.
  VisiblePairs pairs = count(attention(R"(
    %length = tensor.extract %l[%b] : tensor<?xindex>
    %inside = arith.cmpi slt, %j, %length : index
    %before = arith.cmpi sle, %j, %i : index
    %v = arith.andi %inside, %before : i1
)"),
                             n, 10, 10);
  ASSERT_TRUE(pairs.formula.has_value());
  EXPECT_EQ(pairs.formula->str(), "0.5*n*n + 0.5*n");
  EXPECT_TRUE(pairs.isLimit);
}

TEST_F(VisiblePairsTest, CountsAllPairsWithoutRanges) {
  AttentionOp op = attention(causal);
  op.removeKeyRangesAttr();
  VisiblePairs pairs = count(op, m, 10, 20);
  EXPECT_EQ(pairs.formula->str(), "m*n");
  EXPECT_EQ(pairs.number, 200.0);
  EXPECT_TRUE(pairs.isLimit);
}

TEST_F(VisiblePairsTest, HidesEverythingWhereNoRangeIsLeft) {
  // Keys at least 4 behind: the first queries see none.
  VisiblePairs pairs = count(attention(R"(
    %c4 = arith.constant 4 : index
    %d = arith.subi %i, %j : index
    %v = arith.cmpi sge, %d, %c4 : index
)"),
                             n, 50, 50);
  ASSERT_TRUE(pairs.formula.has_value());
  auto isVisible = [](int64_t i, int64_t j) { return i - j >= 4; };
  for (int64_t size : {5, 6, 50})
    EXPECT_EQ(pairs.formula->evaluate({{"n", size}}),
              countPairs(size, size, isVisible));
}
