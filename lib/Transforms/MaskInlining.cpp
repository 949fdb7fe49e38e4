//===- MaskInlining.cpp - typed masks as arithmetic ------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One function a mask attribute: its rule as arith on b, h, i and j. After this
// a typed mask and one that a user wrote by hand are the same thing, and the
// mask analysis has one language to understand.
//
//===----------------------------------------------------------------------===//

#include "AttentionRegions.h"
#include "Scalarize.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

namespace {

/// Inlines the rule of one attn.mask.
class MaskInliner {
public:
  MaskInliner(OpBuilder &outside, AttentionRegions &regions, MaskOp op,
              TensorDim queries, TensorDim keys)
      : outside(outside), regions(regions), op(op), queries(queries),
        keys(keys), loc(op.getLoc()), builder(regions.mask.builder()) {
    if (op.getOperand())
      operand = regions.capture(op.getOperand());
  }

  Value inlineRule(Value score) {
    return TypeSwitch<Attribute, Value>(op.getRule())
        .Case([&](CausalAttr rule) {
          hideBeyond(0, rule.getAlignment(), arith::CmpIPredicate::sle);
          return score;
        })
        .Case([&](WindowAttr rule) {
          if (rule.getLeft() >= 0)
            hideBeyond(-rule.getLeft(), rule.getAlignment(),
                       arith::CmpIPredicate::sge);
          if (rule.getRight() >= 0)
            hideBeyond(rule.getRight(), rule.getAlignment(),
                       arith::CmpIPredicate::sle);
          return score;
        })
        .Case([&](KeyLengthsAttr) {
          // j < length[b]
          compare(arith::CmpIPredicate::slt, regions.mask.j(),
                  loadIndex(regions.mask.b()));
          return score;
        })
        .Case([&](KeyPaddingAttr) {
          // mask[b, j] != 0
          regions.restrict(nonZero(load(builder, regions.mask,
                                        {regions.mask.b(), regions.mask.j()})));
          return score;
        })
        .Case([&](DenseMaskAttr) { return inlineDense(score); });
  }

private:
  /// Key j against i + shift + `offset`, where shift is what the alignment
  /// says.
  void hideBeyond(int64_t offset, Alignment alignment,
                  arith::CmpIPredicate predicate) {
    Value bound = regions.mask.i();
    if (alignment == Alignment::BottomRight)
      bound = addKeysMinusQueries(bound);
    else if (alignment == Alignment::Offset)
      bound = arith::AddIOp::create(builder, loc, bound,
                                    loadIndex(regions.mask.b()));
    if (offset != 0)
      bound = arith::AddIOp::create(builder, loc, bound, constant(offset));
    compare(predicate, regions.mask.j(), bound);
  }

  /// bound + M - N, with the sizes of the key and of the query.
  Value addKeysMinusQueries(Value bound) {
    if (keys.tensor == queries.tensor && keys.dim == queries.dim)
      return bound;
    OpFoldResult m = sizeOf(outside, loc, keys.tensor, keys.dim);
    OpFoldResult n = sizeOf(outside, loc, queries.tensor, queries.dim);
    std::optional<int64_t> staticM = getConstantIntValue(m);
    std::optional<int64_t> staticN = getConstantIntValue(n);
    if (staticM && staticN) {
      if (*staticM == *staticN)
        return bound;
      return arith::AddIOp::create(builder, loc, bound,
                                   constant(*staticM - *staticN));
    }
    Value shift = arith::SubIOp::create(builder, loc, inMask(m), inMask(n));
    return arith::AddIOp::create(builder, loc, bound, shift);
  }

  /// A size from outside as a value of the mask region.
  Value inMask(OpFoldResult size) {
    if (auto value = dyn_cast<Value>(size))
      return regions.mask.captured(regions.capture(value));
    return constant(*getConstantIntValue(size));
  }

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  void compare(arith::CmpIPredicate predicate, Value a, Value b) {
    regions.restrict(arith::CmpIOp::create(builder, loc, predicate, a, b));
  }

  /// The element of the mask's operand at a position.
  Value load(OpBuilder &builder, AttentionRegions::Side &side,
             ValueRange position) {
    return extractBroadcast(builder, loc, side.captured(operand), position);
  }

  /// The same as an index.
  Value loadIndex(Value position) {
    Value value = load(builder, regions.mask, position);
    if (value.getType().isIndex())
      return value;
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      value);
  }

  Value nonZero(Value value) {
    if (value.getType().isInteger(1))
      return value;
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(value.getType()));
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value,
                                 zero);
  }

  /// True unless `value` is -inf. Compared as integers: code generation may
  /// assume that floats are finite.
  static Value notMinusInfinity(OpBuilder &builder, Location loc, Value value) {
    auto type = cast<FloatType>(value.getType());
    Type bits = builder.getIntegerType(type.getWidth());
    APInt infinity =
        APFloat::getInf(type.getFloatSemantics(), /*Negative=*/true)
            .bitcastToAPInt();
    Value hidden = arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(bits, infinity));
    Value actual = arith::BitcastOp::create(builder, loc, bits, value);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, actual,
                                 hidden);
  }

  /// A bool mask is a condition. A float mask is one (not -inf), and a summand
  /// where it holds.
  Value inlineDense(Value score) {
    Value value = load(builder, regions.mask, regions.mask.position());
    if (!isa<FloatType>(value.getType())) {
      regions.restrict(nonZero(value));
      return score;
    }
    regions.restrict(notMinusInfinity(builder, loc, value));

    OpBuilder inScore = regions.score.builder();
    Value summand =
        widen(inScore, loc,
              load(inScore, regions.score, regions.score.position()));
    Value finite = notMinusInfinity(inScore, loc, summand);
    Value zero = arith::ConstantOp::create(
        inScore, loc, inScore.getZeroAttr(summand.getType()));
    summand = arith::SelectOp::create(inScore, loc, finite, summand, zero);
    return arith::AddFOp::create(inScore, loc, score, summand);
  }

  OpBuilder &outside;
  AttentionRegions &regions;
  MaskOp op;
  TensorDim queries, keys;
  Location loc;
  OpBuilder builder; // in the mask region
  unsigned operand = 0;
};

} // namespace

Value attn::inlineMask(OpBuilder &builder, AttentionRegions &regions, MaskOp op,
                       TensorDim queries, TensorDim keys, Value score) {
  return MaskInliner(builder, regions, op, queries, keys).inlineRule(score);
}
