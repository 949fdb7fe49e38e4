//===- ElementwiseToLinalg.cpp - the same, element by element --*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An element-wise operation on tensors is the same operation on scalars inside
// a linalg.generic. Activations of the attn dialect are arithmetic on scalars.
//
//===----------------------------------------------------------------------===//

#include "LinalgBuilder.h"
#include "SafeScalars.h"
#include "attn/Conversion/AttnToLoops/AttnToLoops.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/DialectConversion.h"
#include <cmath>

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
    Value result = build.map(
        tensors, build.sizesOf(tensors.front()), element,
        [&](ScalarBuilder &scalars, ValueRange in) {
          SmallVector<Value> arguments;
          for (Value operand : operands) {
            bool isTensor = isa<RankedTensorType>(operand.getType());
            arguments.push_back(isTensor ? in.front() : operand);
            in = isTensor ? in.drop_front() : in;
          }
          return scalars.builder
              .create(op->getLoc(), op->getName().getIdentifier(), arguments,
                      element, op->getAttrs())
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
    rewriter.replaceOp(
        op, build.fill(getAsIndexOpFoldResult(rewriter.getContext(),
                                              type.getShape()),
                       value));
    return success();
  }
};

/// NaN stays NaN.
struct LowerRelu final : OpConversionPattern<ReluOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(ReluOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isa<FloatType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "on tensors");
    ScalarBuilder scalars{rewriter, op.getLoc()};
    Value x = adaptor.getInput();
    Value zero = scalars.number(x.getType(), 0.0);
    rewriter.replaceOp(
        op, scalars.select(
                scalars.compare(arith::CmpFPredicate::UGT, x, zero), x, zero));
    return success();
  }
};

struct LowerGelu final : OpConversionPattern<GeluOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(GeluOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isa<FloatType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "on tensors");
    Location loc = op.getLoc();
    ScalarBuilder scalars{rewriter, loc};
    Type type = op.getType().isF64() ? op.getType() : rewriter.getF32Type();
    auto number = [&](double value) { return scalars.number(type, value); };
    Value x = scalars.convert(adaptor.getInput(), type), step;
    if (op.getForm() == GeluForm::Erf) {
      step = math::ErfOp::create(rewriter, loc,
                                 scalars.multiply(x, number(M_SQRT1_2)));
    } else {
      Value cube = scalars.multiply(scalars.multiply(x, x), x);
      Value sum = scalars.add(x, scalars.multiply(cube, number(0.044715)));
      step = math::TanhOp::create(
          rewriter, loc, scalars.multiply(sum, number(std::sqrt(2 / M_PI))));
    }
    Value half = scalars.multiply(x, number(0.5));
    Value result = scalars.multiply(half, scalars.add(number(1.0), step));
    rewriter.replaceOp(op, scalars.convert(result, op.getType()));
    return success();
  }
};

} // namespace

void attn::populateElementwiseToLinalgPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerElementwise, LowerGelu, LowerRelu, LowerSplat>(
      patterns.getContext());
}
