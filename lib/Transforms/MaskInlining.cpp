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
    for (Value input : op.getInputs())
      inputs.push_back(regions.capture(input));
  }

  Value inlineRule(Value score) {
    if (Value visible = condition(op.getRule()))
      regions.restrict(visible);
    // A float mask is a condition (not -inf), and a summand where it holds.
    if (isa<DenseMaskAttr>(op.getRule()) &&
        isa<FloatType>(getElementTypeOrSelf(op.getInputs()[0].getType())))
      return addSummand(score);
    return score;
  }

private:
  /// When a rule shows the pair, computed in the mask region; null if always.
  Value condition(Attribute rule) {
    AttentionRegions::Side &mask = regions.mask;
    return TypeSwitch<Attribute, Value>(rule)
        .Case([&](CausalAttr rule) {
          return compare(arith::CmpIPredicate::sle, mask.j(),
                         aligned(rule.getAlignment()));
        })
        .Case([&](WindowAttr rule) {
          Value center = aligned(rule.getAlignment()), visible;
          if (rule.getLeft() >= 0)
            visible = compare(arith::CmpIPredicate::sge, mask.j(),
                              add(center, -rule.getLeft()));
          if (rule.getRight() >= 0)
            visible = both(visible, compare(arith::CmpIPredicate::sle, mask.j(),
                                            add(center, rule.getRight())));
          return visible;
        })
        .Case<PrefixAttr, KeyLengthsAttr>([&](Attribute) {
          // j < length[b]
          return compare(arith::CmpIPredicate::slt, mask.j(),
                         loadIndex(mask.b()));
        })
        .Case([&](QueryLengthsAttr) {
          return compare(arith::CmpIPredicate::slt, mask.i(),
                         loadIndex(mask.b()));
        })
        .Case([&](BlocksAttr rule) {
          return compare(arith::CmpIPredicate::eq,
                         floorDiv(mask.i(), rule.getQuery()),
                         floorDiv(mask.j(), rule.getKey()));
        })
        .Case([&](ChunkedAttr rule) {
          return compare(arith::CmpIPredicate::eq,
                         floorDiv(aligned(rule.getAlignment()), rule.getSize()),
                         floorDiv(mask.j(), rule.getSize()));
        })
        .Case([&](DilatedAttr rule) {
          Value distance = arith::SubIOp::create(builder, loc, mask.j(),
                                                 aligned(rule.getAlignment()));
          return compare(arith::CmpIPredicate::eq,
                         arith::RemSIOp::create(builder, loc, distance,
                                                constant(rule.getStep())),
                         constant(0));
        })
        .Case([&](KeyPaddingAttr) {
          // mask[b, j] != 0
          return nonZero(load(mask, next(), {mask.b(), mask.j()}));
        })
        .Case([&](SegmentsAttr) {
          Value query = load(mask, next(), {mask.b(), mask.i()});
          return compare(arith::CmpIPredicate::eq, query,
                         load(mask, next(), {mask.b(), mask.j()}));
        })
        .Case([&](GlobalAttr) -> Value {
          Value query = nonZero(load(mask, next(), {mask.b(), mask.i()}));
          Value key = nonZero(load(mask, next(), {mask.b(), mask.j()}));
          return arith::OrIOp::create(builder, loc, query, key);
        })
        .Case([&](DenseMaskAttr) {
          Value value = load(mask, next(), mask.position());
          if (isa<FloatType>(value.getType()))
            return notMinusInfinity(builder, loc, value);
          return nonZero(value);
        })
        .Case([&](AllOfAttr rule) {
          Value visible;
          for (Attribute part : rule.getRules())
            if (Value next = condition(part))
              visible = both(visible, next);
          return visible;
        })
        .Case([&](AnyOfAttr rule) {
          Value visible;
          bool always = false;
          for (Attribute part : rule.getRules()) {
            Value next = condition(part);
            always |= !next;
            visible = visible && next
                          ? arith::OrIOp::create(builder, loc, visible, next)
                                .getResult()
                          : next;
          }
          return always ? Value() : visible;
        })
        .Case([&](NotAttr rule) -> Value {
          Value shown = condition(rule.getRules().front());
          Value yes = arith::ConstantOp::create(builder, loc,
                                                builder.getBoolAttr(true));
          return arith::XOrIOp::create(builder, loc, shown ? shown : yes, yes);
        });
  }

  /// The capture of the next operand.
  unsigned next() { return inputs[numRead++]; }

  /// i + shift, where shift is what the alignment says.
  Value aligned(Alignment alignment) {
    Value i = regions.mask.i();
    if (alignment == Alignment::BottomRight)
      return addKeysMinusQueries(i);
    if (alignment == Alignment::Offset)
      return arith::AddIOp::create(builder, loc, i,
                                   loadIndex(regions.mask.b()));
    return i;
  }

  Value add(Value value, int64_t summand) {
    if (summand == 0)
      return value;
    return arith::AddIOp::create(builder, loc, value, constant(summand));
  }

  Value both(Value a, Value b) {
    return a ? arith::AndIOp::create(builder, loc, a, b).getResult() : b;
  }

  Value floorDiv(Value value, int64_t divisor) {
    return arith::FloorDivSIOp::create(builder, loc, value, constant(divisor));
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

  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }

  /// The element of a captured operand at a position.
  Value load(AttentionRegions::Side &side, unsigned capture,
             ValueRange position) {
    OpBuilder inside = side.builder();
    return extractBroadcast(inside, loc, side.captured(capture), position);
  }

  /// The element of the next operand as an index.
  Value loadIndex(Value position) {
    Value value = load(regions.mask, next(), position);
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

  /// score + mask, where that is not -inf.
  Value addSummand(Value score) {
    OpBuilder inScore = regions.score.builder();
    Value summand =
        load(regions.score, inputs.front(), regions.score.position());
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
  /// Captures of the operands, and how many of them rules have read.
  SmallVector<unsigned> inputs;
  unsigned numRead = 0;
};

} // namespace

Value attn::inlineMask(OpBuilder &builder, AttentionRegions &regions, MaskOp op,
                       TensorDim queries, TensorDim keys, Value score) {
  return MaskInliner(builder, regions, op, queries, keys).inlineRule(score);
}
