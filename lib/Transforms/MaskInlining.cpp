//===- MaskInlining.cpp - typed masks as arithmetic ------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The condition of each mask attribute on b, h, i and j, so that the mask
// analysis has one language to understand.
//
//===----------------------------------------------------------------------===//

#include "RuleInliner.h"
#include "Scalarize.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

namespace {

/// Inlines the rule of one attn.mask.
class MaskInliner : RuleInliner {
public:
  MaskInliner(RuleContext &context, MaskOp op)
      : RuleInliner(context, op), op(op), mask(context.regions.mask),
        builder(mask.builder()) {
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
    return TypeSwitch<Attribute, Value>(rule)
        .Case([&](CausalAttr rule) {
          Value bound = aligned(rule.getAlignment());
          return compare(arith::CmpIPredicate::sle, mask.j(), bound);
        })
        .Case([&](WindowAttr rule) { return windowed(rule); })
        .Case<PrefixAttr, KeyLengthsAttr>([&](Attribute) {
          Value length = loadIndex(mask, next(), mask.b());
          return compare(arith::CmpIPredicate::slt, mask.j(), length);
        })
        .Case([&](QueryLengthsAttr) {
          Value length = loadIndex(mask, next(), mask.b());
          return compare(arith::CmpIPredicate::slt, mask.i(), length);
        })
        .Case([&](BlocksAttr rule) {
          Value query = floorDiv(mask.i(), rule.getQuery());
          Value key = floorDiv(mask.j(), rule.getKey());
          return compare(arith::CmpIPredicate::eq, query, key);
        })
        .Case([&](ChunkedAttr rule) {
          Value query = floorDiv(aligned(rule.getAlignment()), rule.getSize());
          Value key = floorDiv(mask.j(), rule.getSize());
          return compare(arith::CmpIPredicate::eq, query, key);
        })
        .Case([&](DilatedAttr rule) {
          Value center = aligned(rule.getAlignment());
          Value apart = arith::SubIOp::create(builder, loc, mask.j(), center);
          Value rest = arith::RemSIOp::create(builder, loc, apart,
                                              index(mask, rule.getStep()));
          return compare(arith::CmpIPredicate::eq, rest, index(mask, 0));
        })
        .Case([&](KeyPaddingAttr) {
          return nonZero(load(mask, next(), {mask.b(), mask.j()}));
        })
        .Case([&](SegmentsAttr) {
          Value query = load(mask, next(), {mask.b(), mask.i()});
          Value key = load(mask, next(), {mask.b(), mask.j()});
          return compare(arith::CmpIPredicate::eq, query, key);
        })
        .Case([&](GlobalAttr) -> Value {
          Value query = nonZero(load(mask, next(), {mask.b(), mask.i()}));
          Value key = nonZero(load(mask, next(), {mask.b(), mask.j()}));
          return arith::OrIOp::create(builder, loc, query, key);
        })
        .Case([&](DenseMaskAttr) { return dense(); })
        .Default([&](Attribute) { return composed(rule); });
  }

  Value windowed(WindowAttr rule) {
    Value center = aligned(rule.getAlignment()), visible;
    if (rule.getLeft() >= 0)
      visible = compare(arith::CmpIPredicate::sge, mask.j(),
                        add(center, -rule.getLeft()));
    if (rule.getRight() >= 0)
      visible = both(visible, compare(arith::CmpIPredicate::sle, mask.j(),
                                      add(center, rule.getRight())));
    return visible;
  }

  /// any_of, all_of, not.
  Value composed(Attribute rule) {
    Value all, any;
    bool always = false; // One of the parts shows every pair.
    for (Attribute part : getMaskParts(rule)) {
      Value visible = condition(part);
      always |= !visible;
      if (!visible)
        continue;
      if (isa<AllOfAttr>(rule))
        all = both(all, visible);
      else
        any = any ? arith::OrIOp::create(builder, loc, any, visible).getResult()
                  : visible;
    }
    if (isa<AllOfAttr>(rule))
      return all;
    if (isa<AnyOfAttr>(rule))
      return always ? Value() : any;
    Value yes =
        arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
    return arith::XOrIOp::create(builder, loc, always ? yes : any, yes);
  }

  /// A bool mask shows where it is true, a float mask where it is not -inf.
  Value dense() {
    unsigned number = numRead;
    Value inside;
    SmallVector<Value> indices =
        broadcastIndices(mask, op.getInputsMutable()[number], &inside);
    Value element = load(mask, next(), indices);
    Value visible = isa<FloatType>(element.getType())
                        ? isNotHidden(builder, loc, element)
                        : nonZero(element);
    return both(inside, visible);
  }

  /// score + mask, where that is not -inf.
  Value addSummand(Value score) {
    AttentionRegions::Side &side = regions.score;
    SmallVector<Value> indices =
        broadcastIndices(side, op.getInputsMutable()[0], nullptr);
    Value summand = load(side, inputs.front(), indices);
    OpBuilder inScore = side.builder();
    Value finite = isNotHidden(inScore, loc, summand);
    Value zero = arith::ConstantOp::create(
        inScore, loc, inScore.getZeroAttr(summand.getType()));
    summand = arith::SelectOp::create(inScore, loc, finite, summand, zero);
    return arith::AddFOp::create(inScore, loc, score, toCompute(side, summand));
  }

  /// The capture of the next operand.
  unsigned next() { return inputs[numRead++]; }

  Value aligned(Alignment alignment) {
    return RuleInliner::aligned(
        mask, alignment,
        alignment == Alignment::Offset ? std::optional(next()) : std::nullopt);
  }

  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }

  Value add(Value value, int64_t summand) {
    if (summand == 0)
      return value;
    return arith::AddIOp::create(builder, loc, value, index(mask, summand));
  }

  Value both(Value a, Value b) {
    return a ? arith::AndIOp::create(builder, loc, a, b).getResult() : b;
  }

  Value floorDiv(Value value, int64_t divisor) {
    return arith::FloorDivSIOp::create(builder, loc, value,
                                       index(mask, divisor));
  }

  Value nonZero(Value value) {
    if (value.getType().isInteger(1))
      return value;
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(value.getType()));
    return compare(arith::CmpIPredicate::ne, value, zero);
  }

  MaskOp op;
  AttentionRegions::Side &mask;
  OpBuilder builder; // in the mask region
  /// Captures of the operands, and how many of them rules have read.
  SmallVector<unsigned> inputs;
  unsigned numRead = 0;
};

} // namespace

Value attn::inlineMask(RuleContext &context, MaskOp op, Value score) {
  return MaskInliner(context, op).inlineRule(score);
}
