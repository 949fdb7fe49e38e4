//===- RowNorms.cpp - operations along the last dimension ------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Sums along rows in the compute type, deviations first and squares after, as
// the operations say.
//
//===----------------------------------------------------------------------===//

#include "RowNorms.h"
#include "attn/Conversion/AttnToLoops/AttnToLoops.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace attn;

static SmallVector<unsigned> firstLoops(unsigned count) {
  return llvm::to_vector(llvm::seq<unsigned>(count));
}

/// One number a row: `start`, or that of the row where it is a tensor, and then
/// `body` of each element and the number so far.
static Value reduceRows(LinalgBuilder &build, Value input, Value start,
                        LinalgBuilder::Body body) {
  SmallVector<OpFoldResult> sizes = build.sizesOf(input);
  unsigned rank = sizes.size();
  sizes.pop_back();
  if (!isa<RankedTensorType>(start.getType()))
    start = build.fill(sizes, start);
  return build.generic(rank, {{input, firstLoops(rank)}},
                       {start, firstLoops(rank - 1)}, body);
}

/// `body` of each element and the numbers of its row.
static Value mapRows(LinalgBuilder &build, Value input, ArrayRef<Value> perRow,
                     LinalgBuilder::Body body) {
  SmallVector<OpFoldResult> sizes = build.sizesOf(input);
  unsigned rank = sizes.size();
  SmallVector<LoopOperand> inputs{{input, firstLoops(rank)}};
  for (Value row : perRow)
    inputs.push_back({row, firstLoops(rank - 1)});
  return build.generic(
      rank, inputs,
      {build.empty(sizes, getElementTypeOrSelf(input.getType())),
       firstLoops(rank)},
      body);
}

Value attn::convertElements(LinalgBuilder &build, Value tensor, Type element) {
  if (getElementTypeOrSelf(tensor.getType()) == element)
    return tensor;
  return build.map(tensor, build.sizesOf(tensor), element,
                   [&](ScalarBuilder &scalars, ValueRange in) {
                     return scalars.convert(in[0], element);
                   });
}

/// The size of a row as a float, whether it is static or not.
static Value rowLength(LinalgBuilder &build, ScalarBuilder scalars,
                       Value tensor, Type type) {
  Value size = getValueOrCreateConstantIndexOp(scalars.builder, scalars.loc,
                                               build.sizesOf(tensor).back());
  Value bits = arith::IndexCastOp::create(scalars.builder, scalars.loc,
                                          scalars.builder.getI64Type(), size);
  return arith::SIToFPOp::create(scalars.builder, scalars.loc, type, bits);
}

/// The sum of each row's squares.
static Value sumSquares(LinalgBuilder &build, Value input, Value zero) {
  return reduceRows(build, input, zero,
                    [](ScalarBuilder &scalars, ValueRange in) {
                      return scalars.add(in[1], scalars.multiply(in[0], in[0]));
                    });
}

/// sqrt(squares / length + epsilon)
static Value deviationOf(ScalarBuilder &scalars, Value squares, Value length,
                         double epsilon) {
  Value mean = scalars.add(scalars.divide(squares, length),
                           scalars.number(squares.getType(), epsilon));
  return math::SqrtOp::create(scalars.builder, scalars.loc, mean);
}

Value attn::buildRmsNorm(LinalgBuilder &build, Value input, Value gamma,
                         double epsilon) {
  Type type = getElementTypeOrSelf(input.getType());
  ScalarBuilder outside = build.scalars();
  Value length = rowLength(build, outside, input, type);
  Value squares = sumSquares(build, input, outside.number(type, 0.0));
  SmallVector<OpFoldResult> sizes = build.sizesOf(input);
  unsigned rank = sizes.size();
  return build.generic(
      rank,
      {{input, firstLoops(rank)},
       {squares, firstLoops(rank - 1)},
       {gamma, {rank - 1}}},
      {build.empty(sizes, type), firstLoops(rank)},
      [&](ScalarBuilder &scalars, ValueRange in) {
        Value normal =
            scalars.divide(in[0], deviationOf(scalars, in[1], length, epsilon));
        return scalars.multiply(normal, scalars.convert(in[2], type));
      });
}

Value attn::buildLayerNorm(LinalgBuilder &build, Value input, Value gamma,
                           Value beta, double epsilon) {
  Type type = getElementTypeOrSelf(input.getType());
  ScalarBuilder outside = build.scalars();
  Value zero = outside.number(type, 0.0);
  Value length = rowLength(build, outside, input, type);
  Value sum =
      reduceRows(build, input, zero, [](ScalarBuilder &scalars, ValueRange in) {
        return scalars.add(in[1], in[0]);
      });
  Value centred =
      mapRows(build, input, sum, [&](ScalarBuilder &scalars, ValueRange in) {
        Value mean = scalars.divide(in[1], length);
        return scalars.subtract(in[0], mean);
      });
  Value squares = sumSquares(build, centred, zero);
  SmallVector<OpFoldResult> sizes = build.sizesOf(input);
  unsigned rank = sizes.size();
  return build.generic(
      rank,
      {{centred, firstLoops(rank)},
       {squares, firstLoops(rank - 1)},
       {gamma, {rank - 1}},
       {beta, {rank - 1}}},
      {build.empty(sizes, type), firstLoops(rank)},
      [&](ScalarBuilder &scalars, ValueRange in) {
        Value normal =
            scalars.divide(in[0], deviationOf(scalars, in[1], length, epsilon));
        return scalars.add(
            scalars.multiply(normal, scalars.convert(in[2], type)),
            scalars.convert(in[3], type));
      });
}

namespace {

struct LowerLayerNorm final : OpConversionPattern<LayerNormOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(LayerNormOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LinalgBuilder build(rewriter, op.getLoc());
    Type element = getElementTypeOrSelf(op.getType());
    Value wide =
        convertElements(build, adaptor.getInput(), getComputeType(element));
    Value result =
        buildLayerNorm(build, wide, adaptor.getGamma(), adaptor.getBeta(),
                       op.getEpsilon().convertToDouble());
    rewriter.replaceOp(op, convertElements(build, result, element));
    return success();
  }
};

struct LowerRmsNorm final : OpConversionPattern<RmsNormOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(RmsNormOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LinalgBuilder build(rewriter, op.getLoc());
    Type element = getElementTypeOrSelf(op.getType());
    Value wide =
        convertElements(build, adaptor.getInput(), getComputeType(element));
    Value result = buildRmsNorm(build, wide, adaptor.getGamma(),
                                op.getEpsilon().convertToDouble());
    rewriter.replaceOp(op, convertElements(build, result, element));
    return success();
  }
};

struct LowerL2Normalize final : OpConversionPattern<L2NormalizeOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(L2NormalizeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LinalgBuilder build(rewriter, op.getLoc());
    Type element = getElementTypeOrSelf(op.getType());
    Type type = getComputeType(element);
    Value wide = convertElements(build, adaptor.getInput(), type);
    Value squares = sumSquares(build, wide, build.scalars().number(type, 0.0));
    Value result = mapRows(
        build, wide, squares, [&](ScalarBuilder &scalars, ValueRange in) {
          Value length =
              math::SqrtOp::create(scalars.builder, scalars.loc, in[1]);
          // A NaN is not less.
          Value least = scalars.number(type, op.getEpsilon().convertToDouble());
          Value isShort =
              scalars.compare(arith::CmpFPredicate::OLT, length, least);
          return scalars.divide(in[0], scalars.select(isShort, least, length));
        });
    rewriter.replaceOp(op, convertElements(build, result, element));
    return success();
  }
};

/// A score of -inf is hidden; a row of them has weights of 0.
struct LowerSoftmax final : OpConversionPattern<SoftmaxOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(SoftmaxOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LinalgBuilder build(rewriter, op.getLoc());
    Type element = getElementTypeOrSelf(op.getInput().getType());
    Type type = getComputeType(element);
    ScalarBuilder outside = build.scalars();
    Value wide = convertElements(build, adaptor.getInput(), type);
    Value sinks;
    if (adaptor.getSinks())
      sinks = sinkOfRows(build, wide, adaptor.getSinks());
    Value maxima =
        reduceRows(build, wide, sinks ? sinks : outside.minusInfinity(type),
                   [](ScalarBuilder &scalars, ValueRange in) {
                     return scalars.maximum(in[1], in[0]);
                   });
    auto weigh = [&](ScalarBuilder &scalars, ValueRange in) {
      Value isHidden = scalars.compare(arith::CmpFPredicate::OEQ, in[0],
                                       scalars.minusInfinity(type));
      Value weight = math::ExpOp::create(scalars.builder, scalars.loc,
                                         scalars.subtract(in[0], in[1]));
      return scalars.select(isHidden, scalars.number(type, 0.0), weight);
    };
    Value weights = mapRows(build, wide, maxima, weigh);
    Value start = outside.number(type, 0.0);
    if (sinks)
      start = build.map({sinks, maxima}, build.sizesOf(sinks), type, weigh);
    Value sums = reduceRows(build, weights, start,
                            [](ScalarBuilder &scalars, ValueRange in) {
                              return scalars.add(in[1], in[0]);
                            });
    Value result = mapRows(
        build, weights, sums, [&](ScalarBuilder &scalars, ValueRange in) {
          Value zero = scalars.number(type, 0.0);
          Value isHidden =
              scalars.compare(arith::CmpFPredicate::OEQ, in[0], zero);
          return scalars.select(isHidden, zero, scalars.divide(in[0], in[1]));
        });
    SmallVector<Value> results{convertElements(build, result, element)};
    if (op.getLse())
      results.push_back(logSumExp(build, maxima, sums, op));
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  /// The sink of each row of (B, H, N, M), that of its head.
  static Value sinkOfRows(LinalgBuilder &build, Value scores, Value sinks) {
    SmallVector<OpFoldResult> sizes = build.sizesOf(scores);
    sizes.pop_back();
    Type type = getElementTypeOrSelf(scores.getType());
    return build.generic(3, {{sinks, {1}}},
                         {build.empty(sizes, type), firstLoops(3)},
                         [&](ScalarBuilder &scalars, ValueRange in) {
                           return scalars.convert(in[0], type);
                         });
  }

  static Value logSumExp(LinalgBuilder &build, Value maxima, Value sums,
                         SoftmaxOp op) {
    Type type = getElementTypeOrSelf(maxima.getType());
    Value lse = build.map(
        {maxima, sums}, build.sizesOf(maxima), type,
        [&](ScalarBuilder &scalars, ValueRange in) {
          Value nothing = scalars.minusInfinity(type);
          Value isEmpty =
              scalars.compare(arith::CmpFPredicate::OEQ, in[0], nothing);
          Value log = math::LogOp::create(scalars.builder, scalars.loc, in[1]);
          return scalars.select(isEmpty, nothing, scalars.add(in[0], log));
        });
    return convertElements(build, lse,
                           getElementTypeOrSelf(op.getLse().getType()));
  }
};

} // namespace

void attn::populateRowNormsToLinalgPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerL2Normalize, LowerLayerNorm, LowerRmsNorm, LowerSoftmax>(
      patterns.getContext());
}
