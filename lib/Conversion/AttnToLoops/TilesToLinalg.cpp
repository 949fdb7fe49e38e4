//===- TilesToLinalg.cpp - tiles of scores as tensors ----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// From tensors to the scores of a tile. A tile goes with the numbers of its
// rows and columns that hold something; every score past them is -inf, which is
// what a hidden pair is from here on.
//
//===----------------------------------------------------------------------===//

#include "TileValue.h"
#include "attn/Conversion/AttnToLoops/AttnToLoops.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

void attn::addTileConversions(TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([](TileType tile, SmallVectorImpl<Type> &types) {
    types.push_back(
        RankedTensorType::get(tile.getShape(), tile.getElementType()));
    if (tile.getShape().size() == 2)
      types.append(2, IndexType::get(tile.getContext()));
    return success();
  });
}

SmallVector<OpFoldResult> TileValue::sizes(OpBuilder &builder) const {
  return getAsIndexOpFoldResult(
      builder.getContext(),
      cast<RankedTensorType>(tensor.getType()).getShape());
}

Type TileValue::element() const {
  return getElementTypeOrSelf(tensor.getType());
}

/// Whether the position in loops `row` and `column` is inside a tile.
static Value isInside(ScalarBuilder &scalars, const TileValue &tile,
                      unsigned row, unsigned column) {
  return scalars.both(scalars.isLess(scalars.loop(row), tile.rows),
                      scalars.isLess(scalars.loop(column), tile.columns));
}

/// b, h, i and j at the position in loops `row` and `column`.
static SmallVector<Value> positionsAt(ScalarBuilder &scalars, ValueRange first,
                                      unsigned row, unsigned column) {
  SmallVector<Value> positions(first);
  positions[2] = scalars.add(positions[2], scalars.loop(row));
  positions[3] = scalars.add(positions[3], scalars.loop(column));
  return positions;
}

/// Operands of operations other than tiles are one value each.
static SmallVector<Value> single(ArrayRef<ValueRange> operands) {
  return llvm::map_to_vector(operands,
                             [](ValueRange values) { return values.front(); });
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

/// A copy, with zeros past the edges of the tensor.
struct LowerLoad final : OpConversionPattern<TileLoadOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(TileLoadOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LinalgBuilder build(rewriter, op.getLoc());
    ScalarBuilder outside = build.scalars();
    Value tensor = adaptor.getTensor().front();
    SmallVector<Value> first = single(adaptor.getIndices());
    auto inside = [&](int64_t dim, Value limit) {
      Value size = tensor::DimOp::create(rewriter, op.getLoc(), tensor, dim);
      return outside.minimum(limit, outside.subtract(size, first[dim]));
    };
    TileType type = op.getResult().getType();
    int64_t rowDim = op.getDims()[0], columnDim = op.getDims()[1];
    TileValue tile;
    tile.rows =
        inside(rowDim, outside.minimum(adaptor.getRows().front(),
                                       outside.index(type.getShape()[0])));
    tile.columns = inside(columnDim, outside.index(type.getShape()[1]));

    Type element = type.getElementType();
    tile.tensor = build.map(
        {}, getAsIndexOpFoldResult(rewriter.getContext(), type.getShape()),
        element, [&](ScalarBuilder &scalars, ValueRange) -> Value {
          Value isRead = isInside(scalars, tile, 0, 1);
          SmallVector<Value> indices = first;
          indices[rowDim] = scalars.add(first[rowDim], scalars.loop(0));
          indices[columnDim] = scalars.add(first[columnDim], scalars.loop(1));
          auto copy = scf::IfOp::create(
              scalars.builder, op.getLoc(), isRead,
              [&](OpBuilder &builder, Location loc) {
                ScalarBuilder at{builder, loc};
                Value value =
                    tensor::ExtractOp::create(builder, loc, tensor, indices);
                scf::YieldOp::create(builder, loc, at.convert(value, element));
              },
              [&](OpBuilder &builder, Location loc) {
                ScalarBuilder at{builder, loc};
                scf::YieldOp::create(builder, loc, at.number(element, 0.0));
              });
          return copy.getResult(0);
        });
    rewriter.replaceOpWithMultiple(op, {tile.values()});
    return success();
  }
};

/// scale * sum over channels; -inf past the edges.
struct LowerScores final : OpConversionPattern<TileScoresOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(TileScoresOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LinalgBuilder build(rewriter, op.getLoc());
    TileValue query(adaptor.getQuery()), key(adaptor.getKey());
    TileValue scores;
    scores.rows = query.rows;
    scores.columns = key.rows;
    Type element = op.getResult().getType().getElementType();
    SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(
        rewriter.getContext(), op.getResult().getType().getShape());
    SmallVector<Value> first = single(adaptor.getPosition());
    SmallVector<Value> captures = single(adaptor.getCaptures());

    enum Loop : unsigned { Row, Column, Channel, NumLoops };
    Value sum = build.generic(
        NumLoops,
        {{query.tensor, {Row, Channel}}, {key.tensor, {Column, Channel}}},
        {build.fill(sizes, build.scalars().number(element, 0.0)),
         {Row, Column}},
        [&](ScalarBuilder &scalars, ValueRange in) {
          if (op.getCombine().empty())
            return scalars.add(in[2], scalars.multiply(in[0], in[1]));
          SmallVector<Value> arguments{in[0], in[1]};
          llvm::append_range(arguments,
                             positionsAt(scalars, first, Row, Column));
          arguments.push_back(scalars.loop(Channel));
          return scalars.add(in[2], scalars.inlineFormula(op.getCombine(),
                                                          arguments, captures));
        });
    Value scale = adaptor.getScale().front();
    scores.tensor = build.map(
        sum, sizes, element, [&](ScalarBuilder &scalars, ValueRange in) {
          return scalars.select(isInside(scalars, scores, Row, Column),
                                scalars.multiply(in[0], scale),
                                scalars.minusInfinity(element));
        });
    rewriter.replaceOpWithMultiple(op, {scores.values()});
    return success();
  }
};

/// A tile with each score replaced by what `formula` makes of it, of its
/// position and of the captures.
template <typename OpTy, typename Adaptor>
static void replaceScores(
    OpTy op, Adaptor adaptor, ConversionPatternRewriter &rewriter,
    llvm::function_ref<Value(ScalarBuilder &scalars, Value score,
                             ArrayRef<Value> position, ValueRange captures,
                             const TileValue &scores)>
        formula) {
  LinalgBuilder build(rewriter, op.getLoc());
  TileValue scores(adaptor.getScores());
  SmallVector<Value> first = single(adaptor.getPosition());
  SmallVector<Value> captures = single(adaptor.getCaptures());
  TileValue result = scores;
  result.tensor =
      build.map(scores.tensor, scores.sizes(rewriter), scores.element(),
                [&](ScalarBuilder &scalars, ValueRange in) {
                  SmallVector<Value> position =
                      positionsAt(scalars, first, 0, 1);
                  return formula(scalars, in[0], position, captures, scores);
                });
  rewriter.replaceOpWithMultiple(op, {result.values()});
}

/// The formula, inside the edges only.
struct LowerScore final : OpConversionPattern<TileScoreOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(TileScoreOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    replaceScores(
        op, adaptor, rewriter,
        [&](ScalarBuilder &scalars, Value score, ArrayRef<Value> position,
            ValueRange captures, const TileValue &scores) {
          SmallVector<Value> arguments{score};
          llvm::append_range(arguments, position);
          Value value =
              scalars.inlineFormula(op.getBody(), arguments, captures);
          return scalars.select(isInside(scalars, scores, 0, 1), value, score);
        });
    return success();
  }
};

/// -inf where the predicate is false.
struct LowerMask final : OpConversionPattern<TileMaskOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(TileMaskOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    replaceScores(
        op, adaptor, rewriter,
        [&](ScalarBuilder &scalars, Value score, ArrayRef<Value> position,
            ValueRange captures, const TileValue &scores) {
          Value visible =
              scalars.inlineFormula(op.getBody(), position, captures);
          return scalars.select(visible, score,
                                scalars.minusInfinity(scores.element()));
        });
    return success();
  }
};

/// An or over the pairs of the tile.
struct LowerAny final : OpConversionPattern<TileAnyOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(TileAnyOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Value> first = single(adaptor.getPosition());
    SmallVector<Value> captures = single(adaptor.getCaptures());
    ScalarBuilder outside{rewriter, loc};
    Value zero = outside.index(0), one = outside.index(1);
    auto extent = [&](ValueRange size, unsigned dim) {
      return outside.minimum(size.front(), outside.index(op.getSizes()[dim]));
    };
    Value numRows = extent(adaptor.getRows(), 0);
    Value numKeys = extent(adaptor.getKeys(), 1);
    Value none =
        arith::ConstantIntOp::create(rewriter, loc, rewriter.getI1Type(), 0);
    auto loopTo = [&](OpBuilder &builder, Value end, Value start, auto body) {
      return scf::ForOp::create(
                 builder, loc, zero, end, one, start,
                 [&](OpBuilder &inside, Location, Value at, ValueRange found) {
                   scf::YieldOp::create(inside, loc,
                                        body(inside, at, found.front()));
                 })
          .getResult(0);
    };
    Value any =
        loopTo(rewriter, numRows, none,
               [&](OpBuilder &rows, Value row, Value found) -> Value {
                 return loopTo(
                     rows, numKeys, found,
                     [&](OpBuilder &keys, Value key, Value before) -> Value {
                       ScalarBuilder scalars{keys, loc};
                       SmallVector<Value> position = first;
                       position[2] = scalars.add(position[2], row);
                       position[3] = scalars.add(position[3], key);
                       Value visible = scalars.inlineFormula(
                           op.getBody(), position, captures);
                       return arith::OrIOp::create(keys, loc, before, visible);
                     });
               });
    rewriter.replaceOp(op, any);
    return success();
  }
};

/// Weights are exactly 0 where a pair is hidden, and above 0 elsewhere.
struct LowerMix final : OpConversionPattern<TileMixOp> {
  using Base::Base;

  LogicalResult
  matchAndRewrite(TileMixOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LinalgBuilder build(rewriter, op.getLoc());
    TileValue weights(adaptor.getWeights()), values(adaptor.getValue());
    TileValue carry(adaptor.getCarry());
    SmallVector<Value> first = single(adaptor.getPosition());
    SmallVector<Value> captures = single(adaptor.getCaptures());

    enum Loop : unsigned { Row, Key, Channel, NumLoops };
    TileValue result = carry;
    result.tensor = build.generic(
        NumLoops,
        {{weights.tensor, {Row, Key}}, {values.tensor, {Key, Channel}}},
        {carry.tensor, {Row, Channel}},
        [&](ScalarBuilder &scalars, ValueRange in) {
          Value value = in[1];
          if (!op.getValues().empty()) {
            SmallVector<Value> arguments{value};
            llvm::append_range(arguments,
                               positionsAt(scalars, first, Row, Key));
            arguments.push_back(scalars.loop(Channel));
            value = scalars.inlineFormula(op.getValues(), arguments, captures);
          }
          Value isSeen = scalars.compare(arith::CmpFPredicate::UNE, in[0],
                                         scalars.number(carry.element(), 0.0));
          Value sum = scalars.add(in[2], scalars.multiply(in[0], value));
          return scalars.select(isSeen, sum, in[2]);
        });
    rewriter.replaceOpWithMultiple(op, {result.values()});
    return success();
  }
};

} // namespace

void attn::populateTileToLinalgPatterns(const TypeConverter &converter,
                                        RewritePatternSet &patterns) {
  patterns
      .add<LowerAny, LowerLoad, LowerMask, LowerMix, LowerScore, LowerScores>(
          converter, patterns.getContext());
  populateTileStatePatterns(converter, patterns);
}
