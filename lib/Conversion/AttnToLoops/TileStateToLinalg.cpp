//===- TileStateToLinalg.cpp - running maximum, sum and mix ----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The state that is carried from tile to tile. A weight of 0 means hidden; the
// weight of a pair that is seen is at least the least normal number, so that
// nothing is lost that a value may still show.
//
//===----------------------------------------------------------------------===//

#include "TileValue.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>

using namespace mlir;
using namespace attn;

/// The least normal number of a float type.
static Value leastNormal(ScalarBuilder &scalars, Type type) {
  APFloat least =
      APFloat::getSmallestNormalized(cast<FloatType>(type).getFloatSemantics());
  return arith::ConstantOp::create(scalars.builder, scalars.loc,
                                   FloatAttr::get(type, least));
}

/// 2^((a - b) * scale)
static Value power(ScalarBuilder &scalars, Value a, Value b,
                   const APFloat &scale) {
  Value factor = arith::ConstantOp::create(scalars.builder, scalars.loc,
                                           FloatAttr::get(a.getType(), scale));
  Value exponent = scalars.multiply(scalars.subtract(a, b), factor);
  return math::Exp2Op::create(scalars.builder, scalars.loc, exponent);
}

namespace {

struct LowerFill final : OpConversionPattern<TileFillOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(TileFillOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LinalgBuilder build(rewriter, op.getLoc());
    auto type = cast<TileType>(op.getResult().getType());
    TileValue tile;
    // Written as an f32, whatever the tile holds.
    Value value = build.scalars().number(type.getElementType(),
                                         op.getValue().convertToDouble());
    tile.tensor = build.fill(
        getAsIndexOpFoldResult(rewriter.getContext(), type.getShape()), value);
    if (type.getShape().size() == 2) {
      tile.rows = build.scalars().index(type.getShape()[0]);
      tile.columns = build.scalars().index(type.getShape()[1]);
    }
    rewriter.replaceOpWithMultiple(op, {tile.values()});
    return success();
  }
};

/// A hidden pair is -inf, the neutral element.
struct LowerMax final : OpConversionPattern<TileMaxOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(TileMaxOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LinalgBuilder build(rewriter, op.getLoc());
    TileValue scores(adaptor.getScores());
    rewriter.replaceOp(
        op, build.generic(2, {{scores.tensor, {0, 1}}},
                          {adaptor.getCarry().front(), {0}},
                          [&](ScalarBuilder &scalars, ValueRange in) {
                            return scalars.maximum(in[1], in[0]);
                          }));
    return success();
  }
};

struct LowerExp final : OpConversionPattern<TileExpOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(TileExpOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LinalgBuilder build(rewriter, op.getLoc());
    TileValue scores(adaptor.getScores());
    Type type = scores.element();
    TileValue weights = scores;
    weights.tensor = build.generic(
        2, {{scores.tensor, {0, 1}}, {adaptor.getMaximum().front(), {0}}},
        {build.empty(scores.sizes(rewriter), type), {0, 1}},
        [&](ScalarBuilder &scalars, ValueRange in) {
          Value isHidden = scalars.compare(arith::CmpFPredicate::OEQ, in[0],
                                           scalars.minusInfinity(type));
          Value weight =
              scalars.maximum(power(scalars, in[0], in[1], op.getScale()),
                              leastNormal(scalars, type));
          return scalars.select(isHidden, scalars.number(type, 0.0), weight);
        });
    rewriter.replaceOpWithMultiple(op, {weights.values()});
    return success();
  }
};

struct LowerRescale final : OpConversionPattern<TileRescaleOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(TileRescaleOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LinalgBuilder build(rewriter, op.getLoc());
    TileValue input(adaptor.getInput());
    Type type = input.element();
    SmallVector<OpFoldResult> sizes = input.sizes(rewriter);
    SmallVector<unsigned> loops =
        llvm::to_vector(llvm::seq<unsigned>(sizes.size()));
    TileValue result = input;
    result.tensor = build.generic(
        sizes.size(),
        {{input.tensor, loops},
         {adaptor.getBefore().front(), {0}},
         {adaptor.getAfter().front(), {0}}},
        {build.empty(sizes, type), loops},
        [&](ScalarBuilder &scalars, ValueRange in) {
          Value isEqual =
              scalars.compare(arith::CmpFPredicate::OEQ, in[1], in[2]);
          Value factor =
              scalars.select(isEqual, scalars.number(type, 1.0),
                             power(scalars, in[1], in[2], op.getScale()));
          return scalars.multiply(in[0], factor);
        });
    rewriter.replaceOpWithMultiple(op, {result.values()});
    return success();
  }
};

struct LowerSum final : OpConversionPattern<TileSumOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(TileSumOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LinalgBuilder build(rewriter, op.getLoc());
    TileValue weights(adaptor.getWeights());
    rewriter.replaceOp(
        op, build.generic(2, {{weights.tensor, {0, 1}}},
                          {adaptor.getCarry().front(), {0}},
                          [&](ScalarBuilder &scalars, ValueRange in) {
                            return scalars.add(in[1], in[0]);
                          }));
    return success();
  }
};

/// A sum of 0 is a row that sees nothing; a sum of NaN is not.
struct LowerFinish final : OpConversionPattern<TileFinishOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(TileFinishOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LinalgBuilder build(rewriter, op.getLoc());
    TileValue accumulator(adaptor.getAccumulator());
    Value sum = adaptor.getSum().front();
    Value maximum = adaptor.getMaximum().front();
    Type type = accumulator.element();
    auto isEmpty = [&](ScalarBuilder &scalars, Value total) {
      return scalars.compare(arith::CmpFPredicate::OEQ, total,
                             scalars.number(type, 0.0));
    };

    auto resultType = cast<RankedTensorType>(op.getResult().getType());
    SmallVector<OpFoldResult> sizes = accumulator.sizes(rewriter);
    Value rows = build.generic(
        2, {{accumulator.tensor, {0, 1}}, {sum, {0}}},
        {build.empty(sizes, resultType.getElementType()), {0, 1}},
        [&](ScalarBuilder &scalars, ValueRange in) {
          Value mixed =
              scalars.select(isEmpty(scalars, in[1]), scalars.number(type, 0.0),
                             scalars.divide(in[0], in[1]));
          return scalars.convert(mixed, resultType.getElementType());
        });
    Value valid = build.scalars().minimum(
        adaptor.getRows().front(),
        build.scalars().index(op.getSum().getType().getShape()[0]));
    SmallVector<SmallVector<Value>> results;
    results.push_back(
        {firstRows(rewriter, op.getLoc(), rows, valid, resultType)});
    if (!op.getLse()) {
      rewriter.replaceOpWithMultiple(op, std::move(results));
      return success();
    }

    auto lseType = cast<RankedTensorType>(op.getLse().getType());
    Value lse = build.generic(
        1, {{sum, {0}}, {maximum, {0}}},
        {build.empty(sizes.front(), lseType.getElementType()), {0}},
        [&](ScalarBuilder &scalars, ValueRange in) {
          // The maximum was scaled to base 2.
          Value log = math::LogOp::create(scalars.builder, op.getLoc(), in[0]);
          double toNatural = op.getScale().convertToDouble() * M_LN2;
          Value natural =
              scalars.multiply(in[1], scalars.number(type, toNatural));
          Value value = scalars.select(isEmpty(scalars, in[0]),
                                       scalars.minusInfinity(type),
                                       scalars.add(natural, log));
          return scalars.convert(value, lseType.getElementType());
        });
    results.push_back({firstRows(rewriter, op.getLoc(), lse, valid, lseType)});
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

private:
  /// The first rows of a tensor, as many as `type` says, or `rows`.
  static Value firstRows(OpBuilder &builder, Location loc, Value tensor,
                         Value rows, RankedTensorType type) {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(builder, loc, tensor);
    sizes.front() = type.isDynamicDim(0)
                        ? OpFoldResult(rows)
                        : builder.getIndexAttr(type.getDimSize(0));
    SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
    return tensor::ExtractSliceOp::create(builder, loc, type, tensor, offsets,
                                          sizes, strides);
  }
};

} // namespace

void attn::populateTileStatePatterns(const TypeConverter &converter,
                                     RewritePatternSet &patterns) {
  patterns
      .add<LowerExp, LowerFill, LowerFinish, LowerMax, LowerRescale, LowerSum>(
          converter, patterns.getContext());
}
