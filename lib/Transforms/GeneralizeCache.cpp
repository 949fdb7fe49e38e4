//===- GeneralizeCache.cpp - sinks, merges and rotary positions *- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What stands beside fused attention, as element-wise operations. A log-sum-exp
// of -inf is compared by its bits, because code generation may assume that
// floats are finite.
//
//===----------------------------------------------------------------------===//

#include "GeneralizeAttention.h"
#include "HostSizes.h"
#include "Scalarize.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

namespace {
/// Arithmetic at one place.
struct Scalars {
  OpBuilder &builder;
  Location loc;

  Value number(FloatType type, double value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(type, value));
  }
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value add(Value a, Value b) {
    return arith::AddFOp::create(builder, loc, a, b);
  }
  Value sub(Value a, Value b) {
    return arith::SubFOp::create(builder, loc, a, b);
  }
  Value mul(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b);
  }
  Value exp(Value x) { return math::ExpOp::create(builder, loc, x); }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  Value isNotHidden(Value score) {
    return attn::isNotHidden(builder, loc, score);
  }
  Value convert(Value value, FloatType type) {
    return convertFloat(builder, loc, value, type);
  }

  /// log(exp(a) + exp(b)); of one that is -inf, the other.
  Value logAddExp(Value a, Value b) {
    Value hasA = isNotHidden(a), hasB = isNotHidden(b);
    Value high = arith::MaximumFOp::create(builder, loc, a, b);
    Value low = arith::MinimumFOp::create(builder, loc, a, b);
    Value one = number(cast<FloatType>(a.getType()), 1.0);
    Value sum = add(one, exp(sub(low, high)));
    Value both = add(high, math::LogOp::create(builder, loc, sum));
    return select(hasA, select(hasB, both, a), b);
  }
};
} // namespace

static FloatType elementOf(Value tensor) {
  return cast<FloatType>(
      cast<RankedTensorType>(tensor.getType()).getElementType());
}

/// The map of (b, h, i) in the loops of `loops`.
static AffineMap mapOf(OpBuilder &builder, unsigned numLoops,
                       ArrayRef<unsigned> loops) {
  return AffineMap::getMultiDimMapWithTargets(numLoops, loops,
                                              builder.getContext());
}

//===----------------------------------------------------------------------===//
// Sinks
//===----------------------------------------------------------------------===//

/// softmax(x, sinks) = softmax(x) * exp(lse(x) - lse), where lse is the
/// log-sum-exp of x and the sink.
void attn::generalizeSinks(SoftmaxOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  RankedTensorType type = op.getResult().getType();
  FloatType element = elementOf(op.getInput());
  FloatType compute = getComputeType(element);
  auto lseType = RankedTensorType::get(type.getShape().drop_back(), compute);
  auto plain = SoftmaxOp::create(builder, loc, type, lseType, op.getInput());

  AffineMap identity = builder.getMultiDimIdentityMap(3);
  Value lse = mapElements(
      builder, loc, plain.getLse(), compute,
      ValueRange{plain.getLse(), op.getSinks()},
      {identity, mapOf(builder, 3, {1})},
      [&](OpBuilder &inner, ValueRange, ValueRange elements) {
        Scalars at{inner, loc};
        return at.logAddExp(elements[0], at.convert(elements[1], compute));
      });
  AffineMap row = mapOf(builder, 4, {0, 1, 2});
  Value weights =
      mapElements(builder, loc, plain.getResult(), element,
                  ValueRange{plain.getResult(), plain.getLse(), lse},
                  {builder.getMultiDimIdentityMap(4), row, row},
                  [&](OpBuilder &inner, ValueRange, ValueRange elements) {
                    Scalars at{inner, loc};
                    Value share = at.exp(at.sub(elements[1], elements[2]));
                    Value weight =
                        at.mul(at.convert(elements[0], compute), share);
                    // A row that sees nothing is zero, whatever its sink is.
                    weight = at.select(at.isNotHidden(elements[1]), weight,
                                       at.number(compute, 0.0));
                    return at.convert(weight, element);
                  });
  op.getResult().replaceAllUsesWith(weights);
  if (op.getLse())
    op.getLse().replaceAllUsesWith(lse);
  op.erase();
}

//===----------------------------------------------------------------------===//
// Merges
//===----------------------------------------------------------------------===//

void attn::generalizeMerge(MergeAttentionOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  FloatType element = elementOf(op.getFirst());
  FloatType compute = elementOf(op.getFirstLse());
  AffineMap identity = builder.getMultiDimIdentityMap(3);
  Value lse = mapElements(
      builder, loc, op.getFirstLse(), compute,
      ValueRange{op.getFirstLse(), op.getSecondLse()}, {identity, identity},
      [&](OpBuilder &inner, ValueRange, ValueRange elements) {
        return Scalars{inner, loc}.logAddExp(elements[0], elements[1]);
      });

  Layout layout = op.getLayout();
  AffineMap row = mapOf(
      builder, 4, {batchDim(layout), headDim(layout), sequenceDim(layout)});
  AffineMap all = builder.getMultiDimIdentityMap(4);
  Value merged = mapElements(
      builder, loc, op.getFirst(), element,
      ValueRange{op.getFirst(), op.getSecond(), op.getFirstLse(),
                 op.getSecondLse(), lse},
      {all, all, row, row, row},
      [&](OpBuilder &inner, ValueRange, ValueRange elements) {
        Scalars at{inner, loc};
        Value first = at.convert(elements[0], compute);
        Value second = at.convert(elements[1], compute);
        Value zero = at.number(compute, 0.0);
        // Of a part without keys only the other one counts, bit by bit.
        Value hasFirst = at.isNotHidden(elements[2]);
        Value hasSecond = at.isNotHidden(elements[3]);
        Value sum =
            at.add(at.mul(at.exp(at.sub(elements[2], elements[4])), first),
                   at.mul(at.exp(at.sub(elements[3], elements[4])), second));
        Value merged = at.select(hasFirst, at.select(hasSecond, sum, first),
                                 at.select(hasSecond, second, zero));
        return at.convert(merged, element);
      });
  op.getResult().replaceAllUsesWith(merged);
  op.getLse().replaceAllUsesWith(lse);
  op.erase();
}

//===----------------------------------------------------------------------===//
// Rotary positions
//===----------------------------------------------------------------------===//

namespace {

/// The body of a rotary kernel: one element from the two of its pair.
class RotaryBody {
public:
  RotaryBody(RotaryOp op, OpBuilder &builder, ValueRange indices)
      : op(op), builder(builder), loc(op.getLoc()), at{builder, loc},
        indices(indices.begin(), indices.end()) {}

  Value build() {
    FloatType element = elementOf(op.getInput());
    FloatType compute = getComputeType(element);
    int64_t pairs = op.getCos().getType().getShape().back();
    int64_t channels = op.getInput().getType().getDimSize(3);
    Value x = extract(op.getInput(), indices);
    if (pairs == 0)
      return x;
    Value channel = indices.back();
    findPair(channel, pairs);
    Value turns;
    if (channels > 2 * pairs) {
      // Channels behind stay; what they would read is kept inside.
      turns =
          at.compare(arith::CmpIPredicate::slt, channel, at.index(2 * pairs));
      partner = at.select(turns, partner, channel);
      pair = at.select(turns, pair, at.index(0));
    }
    SmallVector<Value> other = indices;
    other.back() = partner;
    Value y = at.convert(extract(op.getInput(), other), compute);
    SmallVector<Value> row = tableRow();
    row.push_back(pair);
    Value cosine = at.convert(extract(op.getCos(), row), compute);
    Value sine = at.convert(extract(op.getSin(), row), compute);
    Value mine = at.mul(at.convert(x, compute), cosine);
    Value others = at.mul(y, sine);
    Value turned =
        at.select(isSecond, at.add(mine, others), at.sub(mine, others));
    turned = at.convert(turned, element);
    return turns ? at.select(turns, turned, x) : turned;
  }

private:
  /// Which pair a channel belongs to, and the other channel of it.
  void findPair(Value channel, int64_t pairs) {
    Value width = at.index(pairs), one = at.index(1), two = at.index(2);
    if (op.getForm() == RotaryForm::Half) {
      isSecond = at.compare(arith::CmpIPredicate::sge, channel, width);
      Value before = arith::SubIOp::create(builder, loc, channel, width);
      Value behind = arith::AddIOp::create(builder, loc, channel, width);
      partner = at.select(isSecond, before, behind);
      pair = at.select(isSecond, before, channel);
      return;
    }
    pair = arith::DivSIOp::create(builder, loc, channel, two);
    Value rest = arith::RemSIOp::create(builder, loc, channel, two);
    isSecond = at.compare(arith::CmpIPredicate::eq, rest, one);
    Value before = arith::SubIOp::create(builder, loc, channel, one);
    Value behind = arith::AddIOp::create(builder, loc, channel, one);
    partner = at.select(isSecond, before, behind);
  }

  /// The indices of the tables in front of the pair.
  SmallVector<Value> tableRow() {
    Value batch = indices[batchDim(op.getLayout())];
    Value position = indices[sequenceDim(op.getLayout())];
    if (!op.getPositions()) {
      if (op.getCos().getType().getRank() == 2)
        return {position};
      Value first = inBatch(op.getCos(), batch);
      return {first, position};
    }
    Value first = inBatch(op.getPositions(), batch);
    Value row = extract(op.getPositions(), {first, position});
    row = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), row);
    // Checked before; never read outside.
    Value rows = size(op.getCos(), 0);
    Value last = arith::SubIOp::create(builder, loc, rows, at.index(1));
    row = arith::MinSIOp::create(builder, loc, row, last);
    return {arith::MaxSIOp::create(builder, loc, row, at.index(0))};
  }

  /// The batch row of a tensor that may have one for all.
  Value inBatch(Value tensor, Value batch) {
    if (cast<RankedTensorType>(tensor.getType()).getDimSize(0) == 1)
      return at.index(0);
    Value last =
        arith::SubIOp::create(builder, loc, size(tensor, 0), at.index(1));
    return arith::MinSIOp::create(builder, loc, batch, last);
  }

  Value size(Value tensor, unsigned dim) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (!type.isDynamicDim(dim))
      return at.index(type.getDimSize(dim));
    return tensor::DimOp::create(builder, loc, tensor, dim);
  }

  Value extract(Value tensor, ValueRange place) {
    return tensor::ExtractOp::create(builder, loc, tensor, place);
  }

  RotaryOp op;
  OpBuilder &builder;
  Location loc;
  Scalars at;
  SmallVector<Value> indices;
  Value isSecond, partner, pair;
};

} // namespace

void attn::generalizeRotary(RotaryOp op) {
  OpBuilder builder(op);
  if (op.getPositions())
    checkIdsOnce(builder, op.getLoc(), op.getPositions(),
                 hostSize(builder, op.getLoc(), op.getCos(), 0), "positions");
  Value turned = mapElements(
      builder, op.getLoc(), op.getInput(), elementOf(op.getInput()),
      ValueRange(), {}, [&](OpBuilder &inner, ValueRange indices, ValueRange) {
        return RotaryBody(op, inner, indices).build();
      });
  op.getResult().replaceAllUsesWith(turned);
  op.erase();
}
