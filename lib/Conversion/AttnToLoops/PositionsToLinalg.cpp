//===- PositionsToLinalg.cpp - embeddings, positions, pooling --*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What reads rows by number. The host has refused ids outside a table and
// sequences longer than one; here a number only must not lead outside.
//
//===----------------------------------------------------------------------===//

#include "RowNorms.h"
#include "attn/Conversion/AttnToLoops/AttnToLoops.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace attn;

/// table[row, column], with the nearest row that the table has.
static Value readRow(ScalarBuilder &scalars, Value table, Value row,
                     Value column) {
  OpBuilder &builder = scalars.builder;
  Value rows = getValueOrCreateConstantIndexOp(
      builder, scalars.loc,
      tensor::getMixedSize(builder, scalars.loc, table, 0));
  Value last = scalars.subtract(rows, scalars.index(1));
  Value least =
      arith::MaxSIOp::create(builder, scalars.loc, row, scalars.index(0));
  return tensor::ExtractOp::create(
      builder, scalars.loc, table,
      ValueRange{scalars.minimum(least, last), column});
}

namespace {

struct LowerEmbedding final : OpConversionPattern<EmbeddingOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(EmbeddingOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LinalgBuilder build(rewriter, op.getLoc());
    Type element = getElementTypeOrSelf(op.getType());
    SmallVector<OpFoldResult> sizes = build.sizesOf(adaptor.getIds());
    unsigned rank = sizes.size();
    sizes.push_back(build.sizesOf(adaptor.getTable()).back());
    Value result = build.generic(
        rank + 1,
        {{adaptor.getIds(), llvm::to_vector(llvm::seq<unsigned>(rank))}},
        {build.empty(sizes, element),
         llvm::to_vector(llvm::seq<unsigned>(rank + 1))},
        [&](ScalarBuilder &scalars, ValueRange in) {
          Value id =
              arith::IndexCastOp::create(scalars.builder, scalars.loc,
                                         scalars.builder.getIndexType(), in[0]);
          return readRow(scalars, adaptor.getTable(), id, scalars.loop(rank));
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct LowerLearnedPositions final : OpConversionPattern<LearnedPositionsOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(LearnedPositionsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LinalgBuilder build(rewriter, op.getLoc());
    Type element = getElementTypeOrSelf(op.getType());
    Type type = getComputeType(element);
    Value result = build.map(
        adaptor.getInput(), build.sizesOf(adaptor.getInput()), element,
        [&](ScalarBuilder &scalars, ValueRange in) {
          Value row =
              scalars.add(scalars.loop(1),
                          scalars.index(static_cast<int64_t>(op.getFirst())));
          Value vector =
              readRow(scalars, adaptor.getTable(), row, scalars.loop(2));
          Value sum = scalars.add(scalars.convert(in[0], type),
                                  scalars.convert(vector, type));
          return scalars.convert(sum, element);
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// Angles in f64, whatever the element type is: a position may be large.
struct LowerSinusoidal final : OpConversionPattern<SinusoidalOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(SinusoidalOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LinalgBuilder build(rewriter, op.getLoc());
    auto tensor = cast<RankedTensorType>(op.getType());
    Type element = tensor.getElementType(), type = getComputeType(element);
    Type f64 = rewriter.getF64Type();
    int64_t channels = tensor.getDimSize(2);
    bool isInterleaved = op.getForm() == SinusoidForm::Interleaved;
    Value result = build.map(
        adaptor.getInput(), build.sizesOf(adaptor.getInput()), element,
        [&](ScalarBuilder &scalars, ValueRange in) {
          OpBuilder &builder = scalars.builder;
          Location loc = scalars.loc;
          Value divisor = scalars.index(isInterleaved ? 2 : channels / 2);
          Value channel = scalars.loop(2);
          Value quotient =
              arith::DivUIOp::create(builder, loc, channel, divisor);
          Value rest = arith::RemUIOp::create(builder, loc, channel, divisor);
          Value pair = isInterleaved ? quotient : rest;
          Value part = isInterleaved ? rest : quotient;
          Value exponent =
              scalars.multiply(toFloat(scalars, pair),
                               scalars.number(f64, -2.0 / double(channels)));
          Value base = scalars.number(f64, op.getBase().convertToDouble());
          Value frequency = math::PowFOp::create(builder, loc, base, exponent);
          Value angle =
              scalars.multiply(toFloat(scalars, scalars.loop(1)), frequency);
          Value isSine = arith::CmpIOp::create(
              builder, loc, arith::CmpIPredicate::eq, part, scalars.index(0));
          Value wave =
              scalars.select(isSine, math::SinOp::create(builder, loc, angle),
                             math::CosOp::create(builder, loc, angle));
          Value sum = scalars.add(scalars.convert(in[0], type),
                                  scalars.convert(wave, type));
          return scalars.convert(sum, element);
        });
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  static Value toFloat(ScalarBuilder &scalars, Value index) {
    Value bits = arith::IndexCastOp::create(
        scalars.builder, scalars.loc, scalars.builder.getI64Type(), index);
    return arith::SIToFPOp::create(scalars.builder, scalars.loc,
                                   scalars.builder.getF64Type(), bits);
  }
};

struct LowerPool final : OpConversionPattern<PoolOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(PoolOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LinalgBuilder build(rewriter, op.getLoc());
    rewriter.replaceOp(op, op.getKind() == PoolKind::Cls
                               ? firstPosition(build, adaptor.getInput())
                               : mean(build, op, adaptor));
    return success();
  }

private:
  /// A sequence without positions has no vector: NaN.
  static Value firstPosition(LinalgBuilder &build, Value input) {
    Type element = getElementTypeOrSelf(input.getType());
    SmallVector<OpFoldResult> sizes = build.sizesOf(input);
    ScalarBuilder outside = build.scalars();
    Value length =
        getValueOrCreateConstantIndexOp(outside.builder, outside.loc, sizes[1]);
    return build.map(
        {}, {sizes[0], sizes[2]}, element,
        [&](ScalarBuilder &scalars, ValueRange) -> Value {
          Value first = scalars.index(0);
          SmallVector<Value> indices{scalars.loop(0), first, scalars.loop(1)};
          auto copy = scf::IfOp::create(
              scalars.builder, scalars.loc, scalars.isLess(first, length),
              [&](OpBuilder &builder, Location loc) {
                Value value =
                    tensor::ExtractOp::create(builder, loc, input, indices);
                scf::YieldOp::create(builder, loc, value);
              },
              [&](OpBuilder &builder, Location loc) {
                ScalarBuilder at{builder, loc};
                scf::YieldOp::create(
                    builder, loc,
                    at.number(element,
                              std::numeric_limits<double>::quiet_NaN()));
              });
          return copy.getResult(0);
        });
  }

  /// The mean of the positions that the mask shows. What it hides is not
  /// multiplied by 0 but left out.
  static Value mean(LinalgBuilder &build, PoolOp op, OpAdaptor adaptor) {
    Type element = getElementTypeOrSelf(op.getType());
    Type type = getComputeType(element);
    SmallVector<OpFoldResult> sizes = build.sizesOf(adaptor.getInput());
    Value zero = build.scalars().number(type, 0.0);
    auto isShown = [&](ScalarBuilder &scalars, Value bits) -> Value {
      if (!bits)
        return arith::ConstantIntOp::create(scalars.builder, scalars.loc, 1, 1);
      Value none = arith::ConstantOp::create(
          scalars.builder, scalars.loc,
          scalars.builder.getIntegerAttr(bits.getType(), 0));
      return arith::CmpIOp::create(scalars.builder, scalars.loc,
                                   arith::CmpIPredicate::ne, bits, none);
    };
    enum Loop : unsigned { Batch, Position, Channel, NumLoops };
    SmallVector<LoopOperand> inputs{
        {adaptor.getInput(), {Batch, Position, Channel}}};
    if (op.getMask())
      inputs.push_back({adaptor.getMask(), {Batch, Position}});
    Value sums = build.generic(
        NumLoops, inputs,
        {build.fill({sizes[0], sizes[2]}, zero), {Batch, Channel}},
        [&](ScalarBuilder &scalars, ValueRange in) {
          Value shown = isShown(scalars, op.getMask() ? in[1] : Value());
          Value sum = scalars.add(in.back(), scalars.convert(in[0], type));
          return scalars.select(shown, sum, in.back());
        });
    // Counted per channel: a row of the input gives the loop its length.
    Value counts = build.generic(
        NumLoops, inputs,
        {build.fill({sizes[0], sizes[2]}, zero), {Batch, Channel}},
        [&](ScalarBuilder &scalars, ValueRange in) {
          Value shown = isShown(scalars, op.getMask() ? in[1] : Value());
          Value next = scalars.add(in.back(), scalars.number(type, 1.0));
          return scalars.select(shown, next, in.back());
        });
    return build.map(
        {sums, counts}, {sizes[0], sizes[2]}, element,
        [&](ScalarBuilder &scalars, ValueRange in) {
          Value count = scalars.maximum(in[1], scalars.number(type, 1e-9));
          return scalars.convert(scalars.divide(in[0], count), element);
        });
  }
};

} // namespace

void attn::populatePositionsToLinalgPatterns(RewritePatternSet &patterns) {
  patterns
      .add<LowerEmbedding, LowerLearnedPositions, LowerPool, LowerSinusoidal>(
          patterns.getContext());
}
