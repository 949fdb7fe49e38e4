//===- Activations.cpp - activations of scalars as arithmetic --*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Halide kernels have their own forms of these functions; a loop uses libm, in
// the compute type.
//
//===----------------------------------------------------------------------===//

#include "LinalgBuilder.h"
#include "attn/Conversion/AttnToLoops/AttnToLoops.h"
#include "mlir/IR/PatternMatch.h"
#include <cmath>

using namespace mlir;
using namespace attn;

namespace {

/// NaN stays NaN.
struct LowerRelu final : OpRewritePattern<ReluOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(ReluOp op,
                                PatternRewriter &rewriter) const override {
    if (!isa<FloatType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "on tensors");
    ScalarBuilder scalars{rewriter, op.getLoc()};
    Value x = op.getInput();
    Value zero = scalars.number(x.getType(), 0.0);
    Value isShown = scalars.compare(arith::CmpFPredicate::UGT, x, zero);
    rewriter.replaceOp(op, scalars.select(isShown, x, zero));
    return success();
  }
};

struct LowerGelu final : OpRewritePattern<GeluOp> {
  using Base::Base;

  LogicalResult matchAndRewrite(GeluOp op,
                                PatternRewriter &rewriter) const override {
    if (!isa<FloatType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "on tensors");
    Location loc = op.getLoc();
    ScalarBuilder scalars{rewriter, loc};
    Type type = getComputeType(op.getType());
    auto number = [&](double value) { return scalars.number(type, value); };
    Value x = scalars.convert(op.getInput(), type), step;
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

void attn::populateActivationPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerGelu, LowerRelu>(patterns.getContext());
}
