//===- ElementwiseToLinalg.cpp - the same, element by element --*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An element-wise operation on tensors is the same operation on scalars inside
// a linalg.generic.
//
//===----------------------------------------------------------------------===//

#include "LinalgBuilder.h"
#include "SafeScalars.h"
#include "attn/Conversion/AttnToLoops/AttnToLoops.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace attn;

namespace {

struct LowerElementwise final : ConversionPattern {
  explicit LowerElementwise(MLIRContext *context)
      : ConversionPattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isElementwiseOnTensors(op))
      return rewriter.notifyMatchFailure(op, "not element-wise on tensors");
    LinalgBuilder build(rewriter, op->getLoc());
    SmallVector<Value> tensors;
    for (Value operand : operands)
      if (isa<RankedTensorType>(operand.getType()))
        tensors.push_back(operand);
    Type element = getElementTypeOrSelf(op->getResult(0).getType());
    Value result =
        build.map(tensors, build.sizesOf(tensors.front()), element,
                  [&](ScalarBuilder &scalars, ValueRange in) {
                    SmallVector<Value> arguments;
                    for (Value operand : operands) {
                      bool isTensor = isa<RankedTensorType>(operand.getType());
                      arguments.push_back(isTensor ? in.front() : operand);
                      in = isTensor ? in.drop_front() : in;
                    }
                    return scalars.builder
                        .create(op->getLoc(), op->getName().getIdentifier(),
                                arguments, element, op->getAttrs())
                        ->getResult(0);
                  });
    // Sizes may be static on one side only.
    if (result.getType() != op->getResult(0).getType())
      result = tensor::CastOp::create(rewriter, op->getLoc(),
                                      op->getResult(0).getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// One value in a loop needs no data.
struct LowerSplat final : OpConversionPattern<arith::ConstantOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto elements = dyn_cast<SplatElementsAttr>(op.getValue());
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!elements || !type)
      return rewriter.notifyMatchFailure(op, "not one value for a tensor");
    LinalgBuilder build(rewriter, op.getLoc());
    Value value = arith::ConstantOp::create(
        rewriter, op.getLoc(),
        cast<TypedAttr>(elements.getSplatValue<Attribute>()));
    rewriter.replaceOp(op,
                       build.fill(getAsIndexOpFoldResult(rewriter.getContext(),
                                                         type.getShape()),
                                  value));
    return success();
  }
};

} // namespace

void attn::populateElementwiseToLinalgPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerElementwise, LowerSplat>(patterns.getContext());
  populateActivationPatterns(patterns);
}
