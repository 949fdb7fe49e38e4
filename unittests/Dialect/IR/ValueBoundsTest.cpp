//===- ValueBoundsTest.cpp - sizes compared without rewriting ---*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// No tool prints what ValueBoundsOpInterface knows, so it is asked here.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attn;

namespace {

class ValueBounds : public testing::Test {
protected:
  ValueBounds() { context.loadDialect<AttnDialect, func::FuncDialect>(); }

  void parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    function = *module->getOps<func::FuncOp>().begin();
  }

  /// The operation of a kind in the function.
  template <typename OpTy> OpTy get() {
    OpTy found;
    function.walk([&](OpTy op) { found = op; });
    return found;
  }

  bool areEqual(Value a, int64_t dimA, Value b, int64_t dimB) {
    FailureOr<bool> equal = ValueBoundsConstraintSet::areEqual(
        ValueBoundsConstraintSet::Variable(a, dimA),
        ValueBoundsConstraintSet::Variable(b, dimB));
    return succeeded(equal) && *equal;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
};

} // namespace

TEST_F(ValueBounds, sizesOfAttentionLeadToTheArguments) {
  parse(R"mlir(
    func.func @main(%x: tensor<?x?x12xf32>, %y: tensor<?x?x12xf32>) -> tensor<?x?x12xf32> {
      %q = attn.split_heads %x heads(4) layout(bhsd) : tensor<?x?x12xf32> -> tensor<?x4x?x3xf32>
      %k = attn.split_heads %y heads(4) layout(bhsd) : tensor<?x?x12xf32> -> tensor<?x4x?x3xf32>
      %s = attn.scores %q, %k layout(bhsd) : tensor<?x4x?x3xf32>, tensor<?x4x?x3xf32> -> tensor<?x4x?x?xf32>
      %p, %lse = attn.softmax %s : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xf32>, tensor<?x4x?xf32>
      %o = attn.mix %p, %k layout(bhsd) : tensor<?x4x?x?xf32>, tensor<?x4x?x3xf32> -> tensor<?x4x?x3xf32>
      %z = attn.merge_heads %o layout(bhsd) : tensor<?x4x?x3xf32> -> tensor<?x?x12xf32>
      return %z : tensor<?x?x12xf32>
    })mlir");
  Value x = function.getArgument(0), y = function.getArgument(1);
  SoftmaxOp softmax = get<SoftmaxOp>();
  EXPECT_TRUE(areEqual(get<MergeHeadsOp>().getResult(), 1, x, 1));
  EXPECT_TRUE(areEqual(softmax.getResult(), 3, y, 1));
  EXPECT_TRUE(areEqual(softmax.getLse(), 2, x, 1));
  EXPECT_TRUE(areEqual(softmax.getLse(), 0, x, 0));
  // Queries and keys may differ in number.
  EXPECT_FALSE(areEqual(softmax.getResult(), 3, x, 1));
}

TEST_F(ValueBounds, sizesOfFusedOperationsLeadToTheArguments) {
  parse(R"mlir(
    func.func @main(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x4x8xf32>, %x: tensor<?x8xf32>, %w: tensor<4x8xf32>, %c: f32) {
      %o, %lse = attn.attention %q, %k, %k scale(%c : f32) layout(bshd)
          : tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32> -> tensor<?x?x4x8xf32>, tensor<?x4x?xf32>
      %y = attn.fused_linear %x, %w : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
      return
    })mlir");
  AttentionOp attention = get<AttentionOp>();
  EXPECT_TRUE(areEqual(attention.getResult(), 1, function.getArgument(0), 1));
  EXPECT_TRUE(areEqual(attention.getLse(), 2, function.getArgument(0), 1));
  EXPECT_FALSE(areEqual(attention.getResult(), 1, function.getArgument(1), 1));
  EXPECT_TRUE(areEqual(get<FusedLinearOp>().getResult(), 0,
                       function.getArgument(2), 0));
}

TEST_F(ValueBounds, dimsHaveTheirRange) {
  parse(R"mlir(
    attn.dim @sequence range(1, 512)
    func.func @main() -> index {
      %0 = attn.dim_size @sequence
      return %0 : index
    })mlir");
  Value size = get<DimSizeOp>();
  auto bound = [&](presburger::BoundType type) -> int64_t {
    FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(
        type, ValueBoundsConstraintSet::Variable(size),
        /*stopCondition=*/nullptr, /*closedUB=*/true);
    return succeeded(bound) ? *bound : -1;
  };
  EXPECT_EQ(bound(presburger::BoundType::LB), 1);
  EXPECT_EQ(bound(presburger::BoundType::UB), 512);
}
