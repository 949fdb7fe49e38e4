//===- LinearToLinalg.cpp - linear layers as contractions ------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The product in the compute type, then the epilogue, then the norm of each
// row, and only then the element type. A packed weight is read where its
// element lies: nothing is unpacked.
//
//===----------------------------------------------------------------------===//

#include "RowNorms.h"
#include "attn/Conversion/AttnToLoops/AttnToLoops.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace attn;

/// Element (row, column) of a weight, plain or in panels.
static Value readWeight(ScalarBuilder &scalars, Value weight, Value row,
                        Value column) {
  auto type = cast<RankedTensorType>(weight.getType());
  SmallVector<Value> indices{row, column};
  if (type.getRank() == 3) {
    Value panel = scalars.index(type.getDimSize(2));
    indices = {
        arith::DivUIOp::create(scalars.builder, scalars.loc, row, panel),
        column,
        arith::RemUIOp::create(scalars.builder, scalars.loc, row, panel)};
  }
  return tensor::ExtractOp::create(scalars.builder, scalars.loc, weight,
                                   indices);
}

namespace {

struct LowerFusedLinear final : OpConversionPattern<FusedLinearOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(FusedLinearOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LinalgBuilder build(rewriter, op.getLoc());
    Value input = adaptor.getInput(), weight = adaptor.getWeight();
    Type element = op.getResult().getType().getElementType();
    Type compute = getComputeType(element);
    SmallVector<OpFoldResult> sizes = build.sizesOf(input);
    sizes[1] = rewriter.getIndexAttr(op.getResult().getType().getDimSize(1));

    enum Loop : unsigned { Row, Column, Channel, NumLoops };
    Value result = build.generic(
        NumLoops, {{input, {Row, Channel}}},
        {build.fill(sizes, build.scalars().number(compute, 0.0)),
         {Row, Column}},
        [&](ScalarBuilder &scalars, ValueRange in) {
          Value factor = readWeight(scalars, weight, scalars.loop(Column),
                                    scalars.loop(Channel));
          Value product = scalars.multiply(scalars.convert(in[0], compute),
                                           scalars.convert(factor, compute));
          return scalars.add(in[1], product);
        });
    if (!op.getEpilogue().empty())
      result = build.map(result, sizes, compute,
                         [&](ScalarBuilder &scalars, ValueRange in) {
                           return scalars.inlineFormula(
                               op.getEpilogue(),
                               {in[0], scalars.loop(Row), scalars.loop(Column)},
                               adaptor.getCaptures());
                         });
    if (op.getBeta())
      result =
          buildLayerNorm(build, result, adaptor.getGamma(), adaptor.getBeta(),
                         op.getEpsilon()->convertToDouble());
    else if (op.getGamma())
      result = buildRmsNorm(build, result, adaptor.getGamma(),
                            op.getEpsilon()->convertToDouble());
    rewriter.replaceOp(op, convertElements(build, result, element));
    return success();
  }
};

/// Panels of columns, zero past the last one.
struct LowerPack final : OpConversionPattern<PackOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(PackOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LinalgBuilder build(rewriter, op.getLoc());
    auto type = cast<RankedTensorType>(op.getType());
    auto weightType = cast<RankedTensorType>(op.getWeight().getType());
    Value result = build.map(
        {}, getAsIndexOpFoldResult(rewriter.getContext(), type.getShape()),
        type.getElementType(), [&](ScalarBuilder &scalars, ValueRange) {
          Value panel = scalars.index(type.getDimSize(2));
          Value first = arith::MulIOp::create(scalars.builder, op.getLoc(),
                                              scalars.loop(0), panel);
          Value row = scalars.add(first, scalars.loop(2));
          Value rows = scalars.index(weightType.getDimSize(0));
          Value last = scalars.index(weightType.getDimSize(0) - 1);
          Value value = readWeight(scalars, adaptor.getWeight(),
                                   scalars.minimum(row, last), scalars.loop(1));
          return scalars.select(scalars.isLess(row, rows), value,
                                scalars.number(type.getElementType(), 0.0));
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void attn::populateLinearToLinalgPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerFusedLinear, LowerPack>(patterns.getContext());
}
