//===- ScoreInlining.cpp - score rules as arithmetic -----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Biases, soft-caps and distances in the score region; relative vectors and
// additive scores in the combine and the value region. A score that a mask has
// hidden is hidden by the mask region, whatever happens to it here.
//
//===----------------------------------------------------------------------===//

#include "HostSizes.h"
#include "RuleInliner.h"
#include "Scalarize.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// The slopes of ALiBi: a geometric series for the largest power of two of
/// heads, every second slope of twice as many for the rest.
static SmallVector<double> getSlopes(int64_t heads) {
  SmallVector<double> slopes;
  if (heads == 0)
    return slopes;
  auto power = static_cast<double>(llvm::bit_floor(uint64_t(heads)));
  for (double k = 1.0; k <= power; k += 1.0)
    slopes.push_back(std::exp2(-8.0 * k / power));
  for (double k = 1.0; int64_t(slopes.size()) < heads; k += 2.0)
    slopes.push_back(std::exp2(-4.0 * k / power));
  return slopes;
}

/// Whether distance^far >= farthest^k * exact^(far - k), in whole numbers.
static bool reachesBound(int64_t distance, int64_t exact, int64_t farthest,
                         int64_t k, int64_t far) {
  unsigned bits = (llvm::Log2_64(farthest) + 2) * (far + 1);
  auto power = [&](int64_t base, int64_t exponent) {
    APInt result(bits, 1);
    for (; exponent > 0; --exponent)
      result *= APInt(bits, base);
    return result;
  };
  return power(distance, far).uge(power(farthest, k) * power(exact, far - k));
}

SmallVector<int64_t> attn::getT5Bounds(int64_t buckets, int64_t farthest) {
  // Bucket exact + k starts where log(n / exact) / log(farthest / exact) *
  // far >= k. Where that is close to a whole number, whole numbers decide.
  int64_t exact = buckets / 2, far = buckets - exact;
  SmallVector<int64_t> bounds;
  for (int64_t k = 1; k < far; ++k) {
    double bound = double(exact) * std::pow(double(farthest) / double(exact),
                                            double(k) / double(far));
    double nearest = std::round(bound);
    if (std::abs(bound - nearest) > 1e-9 * bound)
      bounds.push_back(int64_t(std::ceil(bound)));
    else if (reachesBound(int64_t(nearest), exact, farthest, k, far))
      bounds.push_back(int64_t(nearest));
    else
      bounds.push_back(int64_t(nearest) + 1);
  }
  return bounds;
}

/// The bias of each head for each distance from -farthest to farthest: (H, 2 *
/// farthest + 1). Buckets are looked up here, once, and not for each pair.
static Value createT5Biases(OpBuilder &builder, T5BiasOp op) {
  Location loc = op.getLoc();
  RankedTensorType table = op.getTable().getType();
  bool both = op.getBidirectional();
  int64_t buckets = both ? table.getDimSize(0) / 2 : table.getDimSize(0);
  int64_t farthest = op.getMaxDistance(), exact = buckets / 2;
  SmallVector<int64_t> bounds = getT5Bounds(buckets, farthest);
  Value init = tensor::EmptyOp::create(builder, loc,
                                       {table.getDimSize(1), 2 * farthest + 1},
                                       table.getElementType());
  SmallVector<utils::IteratorType> iterators(2, utils::IteratorType::parallel);
  auto body = [&](OpBuilder &inner, Location at, ValueRange) {
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(inner, at, value);
    };
    auto compare = [&](arith::CmpIPredicate predicate, Value a, int64_t b) {
      return arith::CmpIOp::create(inner, at, predicate, a, constant(b));
    };
    Value head = linalg::IndexOp::create(inner, at, 0);
    Value place = linalg::IndexOp::create(inner, at, 1);
    // j - i is place - farthest; keys behind the query have positive distances.
    Value behind = arith::SubIOp::create(inner, at, constant(farthest), place);
    Value zero = constant(0);
    Value distance = behind;
    if (both) {
      Value ahead = arith::SubIOp::create(inner, at, place, constant(farthest));
      distance = arith::MaxSIOp::create(inner, at, behind, ahead);
    } else {
      distance = arith::MaxSIOp::create(inner, at, behind, zero);
    }
    Value bucket = arith::MinSIOp::create(inner, at, distance, constant(exact));
    for (int64_t bound : bounds) {
      Value isFar = compare(arith::CmpIPredicate::sge, distance, bound);
      Value step = arith::SelectOp::create(inner, at, isFar, constant(1), zero);
      bucket = arith::AddIOp::create(inner, at, bucket, step);
    }
    if (both) {
      Value isAhead = compare(arith::CmpIPredicate::slt, behind, 0);
      Value side =
          arith::SelectOp::create(inner, at, isAhead, constant(buckets), zero);
      bucket = arith::AddIOp::create(inner, at, bucket, side);
    }
    Value bias = tensor::ExtractOp::create(inner, at, op.getTable(),
                                           ValueRange{bucket, head});
    linalg::YieldOp::create(inner, at, bias);
  };
  return linalg::GenericOp::create(
             builder, loc, init.getType(), ValueRange(), init,
             ArrayRef<AffineMap>{builder.getMultiDimIdentityMap(2)}, iterators,
             body)
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Score rules
//===----------------------------------------------------------------------===//

namespace {

/// Inlines one rule that changes scores.
class ScoreInliner : RuleInliner {
public:
  ScoreInliner(RuleContext &context, Operation *op)
      : RuleInliner(context, op), side(context.regions.score) {}

  Value inlineRule(BiasOp op, Value score) {
    unsigned bias = regions.capture(op.getBias());
    SmallVector<Value> indices =
        broadcastIndices(side, op.getBiasMutable(), nullptr);
    return add(score, loadNumber(side, bias, indices));
  }

  Value inlineRule(SoftcapOp op, Value score) {
    Value cap = scalar(op.getCap());
    OpBuilder builder = side.builder();
    Value ratio = arith::DivFOp::create(builder, loc, score, cap);
    Value squeezed = math::TanhOp::create(builder, loc, ratio);
    Value capped = arith::MulFOp::create(builder, loc, squeezed, cap);
    // -inf is hidden and not -cap.
    Value visible = isNotHidden(builder, loc, score);
    return arith::SelectOp::create(builder, loc, visible, capped, score);
  }

  Value inlineRule(AlibiOp op, Value score) {
    Value slopes = op.getSlopes();
    if (!slopes)
      slopes = createSlopes(op);
    unsigned captured = regions.capture(slopes);
    Value apart =
        distance(side, op.getAlignment(), captureOffsets(op.getOffsets()));
    Value slope = loadNumber(side, captured, side.h());
    OpBuilder builder = side.builder();
    if (op.getSymmetric()) {
      // -abs(distance)
      Value zero = index(side, 0);
      Value back = arith::SubIOp::create(builder, loc, zero, apart);
      apart = arith::MinSIOp::create(builder, loc, apart, back);
    }
    // Distances of 2^31 and more are none that a number of f32 tells apart.
    bool isWide = regions.computeType().isF64();
    Value integer = arith::IndexCastOp::create(
        builder, loc, builder.getIntegerType(isWide ? 64 : 32), apart);
    Value number =
        arith::SIToFPOp::create(builder, loc, regions.computeType(), integer);
    return add(score, arith::MulFOp::create(builder, loc, slope, number));
  }

  Value inlineRule(T5BiasOp op, Value score) {
    unsigned biases = regions.capture(createT5Biases(context.outside, op));
    Value apart =
        distance(side, op.getAlignment(), captureOffsets(op.getOffsets()));
    int64_t farthest = op.getMaxDistance();
    Value place = clip(side, apart, -farthest, farthest);
    return add(score, loadNumber(side, biases, {side.h(), place}));
  }

private:
  Value createSlopes(AlibiOp op) {
    int64_t heads = op.getScores().getType().getDimSize(1);
    OpBuilder &builder = context.outside;
    SmallVector<Attribute> slopes;
    for (double slope : getSlopes(heads))
      slopes.push_back(builder.getFloatAttr(regions.computeType(), slope));
    auto type = RankedTensorType::get(heads, regions.computeType());
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(type, slopes));
  }

  std::optional<unsigned> captureOffsets(Value offsets) {
    return offsets ? std::optional(regions.capture(offsets)) : std::nullopt;
  }

  /// A number from outside; a constant is one inside, too.
  Value scalar(Value outside) {
    TypedAttr constant;
    if (!matchPattern(outside, m_Constant(&constant)))
      return side.captured(regions.capture(outside));
    OpBuilder builder = side.builder();
    return arith::ConstantOp::create(builder, loc, constant);
  }

  Value add(Value score, Value summand) {
    OpBuilder builder = side.builder();
    return arith::AddFOp::create(builder, loc, score, summand);
  }

  Side &side;
};

} // namespace

bool attn::isScoreRule(Operation *op) {
  return isa_and_nonnull<BiasOp, SoftcapOp, AlibiOp, T5BiasOp>(op);
}

Value attn::inlineScoreRule(RuleContext &context, Operation *op, Value score) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<BiasOp, SoftcapOp, AlibiOp, T5BiasOp>([&](auto op) {
        return ScoreInliner(context, op).inlineRule(op, score);
      });
}

//===----------------------------------------------------------------------===//
// Combine and value
//===----------------------------------------------------------------------===//

namespace {

/// Inlines how scores are computed from channels, or values changed.
class ChannelInliner : RuleInliner {
public:
  ChannelInliner(RuleContext &context, Operation *op, Side &side)
      : RuleInliner(context, op), side(side) {}

  /// `number` and the vector of the pair's distance.
  template <typename OpTy> Value addRelative(OpTy op, Value number) {
    unsigned table = regions.capture(op.getRelative());
    std::optional<unsigned> offsets;
    if (op.getOffsets())
      offsets = regions.capture(op.getOffsets());
    int64_t clipAt = op.getRelative().getType().getDimSize(0) / 2;
    Value row =
        clip(side, distance(side, op.getAlignment(), offsets), -clipAt, clipAt);
    Value vector = loadNumber(side, table, {row, side.d()});
    OpBuilder builder = side.builder();
    return arith::AddFOp::create(builder, loc, number, vector);
  }

  Value multiply(Value a, Value b) {
    OpBuilder builder = side.builder();
    return arith::MulFOp::create(builder, loc, a, b);
  }

  /// vector[h, d] * tanh(q + k)
  Value addAndSqueeze(AdditiveScoresOp op) {
    unsigned vector = regions.capture(op.getVector());
    SmallVector<Value> indices = {side.h(), side.d()};
    if (op.getVector().getType().getRank() == 1)
      indices.erase(indices.begin());
    Value weight = loadNumber(side, vector, indices);
    OpBuilder builder = side.builder();
    Value sum =
        arith::AddFOp::create(builder, loc, regions.query(), regions.key());
    Value squeezed = math::TanhOp::create(builder, loc, sum);
    return multiply(weight, squeezed);
  }

private:
  Side &side;
};

} // namespace

void attn::inlineCombine(RuleContext &context, ScoresOp op) {
  if (!op.getRelative())
    return;
  AttentionRegions &regions = context.regions;
  ChannelInliner inliner(context, op, regions.combine);
  regions.combined =
      inliner.multiply(regions.query(), inliner.addRelative(op, regions.key()));
}

void attn::inlineCombine(RuleContext &context, AdditiveScoresOp op) {
  AttentionRegions &regions = context.regions;
  regions.combined =
      ChannelInliner(context, op, regions.combine).addAndSqueeze(op);
}

void attn::inlineValue(RuleContext &context, MixOp op) {
  if (!op.getRelative())
    return;
  AttentionRegions &regions = context.regions;
  regions.finalValue = ChannelInliner(context, op, regions.value)
                           .addRelative(op, regions.initialValue());
}
