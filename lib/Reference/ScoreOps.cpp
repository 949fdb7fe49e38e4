//===- ScoreOps.cpp - rules that hide and change scores ---------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The rules of AttnMaskAttrs.td and the formulas of AttnScoreOps.td, pair by
// pair.
//
//===----------------------------------------------------------------------===//

#include "EvaluatorImpl.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::reference;

int64_t reference::getShift(Alignment alignment, int64_t queries, int64_t keys,
                            const Tensor *offsets, int64_t b) {
  switch (alignment) {
  case Alignment::TopLeft:
    return 0;
  case Alignment::BottomRight:
    return keys - queries;
  case Alignment::Offset:
    return offsets->integer({b});
  }
  llvm_unreachable("all alignments are above");
}

namespace {
/// A pair and the sizes around it.
struct Pair {
  int64_t b, h, i, j, queries, keys;
  int64_t shift(Alignment alignment, const Tensor *offsets) const {
    return getShift(alignment, queries, keys, offsets, b);
  }
};
} // namespace

/// Calls `change(pair, score)` for every score of (B, H, N, M).
template <typename Change>
static Tensor mapScores(const Tensor &scores, Change change) {
  Tensor result = scores;
  if (!hasElements(result.shape))
    return result;
  SmallVector<int64_t, 4> at(4, 0);
  do {
    Pair pair{at[0], at[1], at[2], at[3], result.size(2), result.size(3)};
    double &score = result.number(at);
    score = change(pair, score);
  } while (nextIndices(at, result.shape));
  return result;
}

//===----------------------------------------------------------------------===//
// Broadcasts
//===----------------------------------------------------------------------===//

/// Whether a tensor broadcasts to a shape, now that all sizes are known.
static bool broadcasts(const Tensor &tensor, ArrayRef<int64_t> shape,
                       bool shortLast) {
  shape = shape.take_back(tensor.rank());
  for (auto [dim, size] : llvm::enumerate(tensor.shape))
    if (size != 1 && size != shape[dim] &&
        !(shortLast && dim + 1 == shape.size() && size < shape[dim]))
      return false;
  return true;
}

/// Where the element for a pair lies in a tensor that broadcasts to the scores;
/// nothing past the end of a short last dimension.
static std::optional<int64_t> broadcastOffset(const Tensor &tensor,
                                              const Pair &pair) {
  int64_t position[] = {pair.b, pair.h, pair.i, pair.j};
  ArrayRef<int64_t> indices = ArrayRef(position).take_back(tensor.rank());
  SmallVector<int64_t, 4> place;
  for (auto [index, size] : llvm::zip(indices, tensor.shape))
    place.push_back(size == 1 ? 0 : index);
  if (!tensor.contains(place))
    return std::nullopt;
  return tensor.offset(place);
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// q floordiv d, rounded down for negative numbers too.
static int64_t floorDiv(int64_t q, int64_t d) {
  return q / d - (q % d != 0 && (q < 0) != (d < 0));
}

/// Whether a rule shows the pair. Takes the operands that the rule reads from
/// the front of `inputs`.
static bool shows(Attribute rule, Operands &inputs, const Pair &pair) {
  auto next = [&] {
    const Tensor *input = inputs.front().get();
    inputs = inputs.drop_front();
    return input;
  };
  auto shift = [&](Alignment alignment) {
    return pair.shift(alignment,
                      alignment == Alignment::Offset ? next() : nullptr);
  };
  return llvm::TypeSwitch<Attribute, bool>(rule)
      .Case([&](CausalAttr rule) {
        return pair.j <= pair.i + shift(rule.getAlignment());
      })
      .Case([&](WindowAttr rule) {
        int64_t center = pair.i + shift(rule.getAlignment());
        return (rule.getLeft() < 0 || pair.j >= center - rule.getLeft()) &&
               (rule.getRight() < 0 || pair.j <= center + rule.getRight());
      })
      .Case([&](PrefixAttr) { return pair.j < next()->integer({pair.b}); })
      .Case([&](BlocksAttr rule) {
        return pair.i / rule.getQuery() == pair.j / rule.getKey();
      })
      .Case([&](ChunkedAttr rule) {
        return floorDiv(pair.i + shift(rule.getAlignment()), rule.getSize()) ==
               pair.j / rule.getSize();
      })
      .Case([&](DilatedAttr rule) {
        return (pair.j - pair.i - shift(rule.getAlignment())) %
                   rule.getStep() ==
               0;
      })
      .Case([&](KeyLengthsAttr) { return pair.j < next()->integer({pair.b}); })
      .Case(
          [&](QueryLengthsAttr) { return pair.i < next()->integer({pair.b}); })
      .Case([&](KeyPaddingAttr) {
        return next()->integer({pair.b, pair.j}) != 0;
      })
      .Case([&](SegmentsAttr) {
        int64_t query = next()->integer({pair.b, pair.i});
        return query == next()->integer({pair.b, pair.j});
      })
      .Case([&](GlobalAttr) {
        bool query = next()->integer({pair.b, pair.i}) != 0;
        return (next()->integer({pair.b, pair.j}) != 0) || query;
      })
      .Case([&](DenseMaskAttr) {
        const Tensor *mask = next();
        std::optional<int64_t> offset = broadcastOffset(*mask, pair);
        if (!offset)
          return false;
        return mask->kind == Tensor::Kind::F64
                   ? mask->numbers[*offset] != hidden
                   : mask->integers[*offset] != 0;
      })
      .Default([&](Attribute) {
        bool any = false, all = true;
        for (Attribute part : getMaskParts(rule)) {
          bool visible = shows(part, inputs, pair);
          any |= visible;
          all &= visible;
        }
        return isa<NotAttr>(rule) ? !any : isa<AnyOfAttr>(rule) ? any : all;
      });
}

static llvm::Expected<Tensor> evaluateOp(MaskOp op, Operands operands,
                                         Rounding round) {
  const Tensor &scores = *operands[0];
  Operands inputs = operands.drop_front();
  for (auto [input, tensor] : llvm::zip(getMaskInputs(op.getRule()), inputs))
    if (isa<DenseMaskAttr>(input.rule) &&
        !broadcasts(*tensor, scores.shape, /*shortLast=*/true))
      return makeError(op, "expected an operand that broadcasts to the scores");
  // A float mask is a summand, too.
  const Tensor *summand = nullptr;
  if (isa<DenseMaskAttr>(op.getRule()) && inputs[0]->kind == Tensor::Kind::F64)
    summand = inputs[0].get();
  return mapScores(scores, [&](const Pair &pair, double score) {
    Operands left = inputs;
    if (!shows(op.getRule(), left, pair))
      return hidden;
    if (!summand)
      return score;
    return round(score + summand->numbers[*broadcastOffset(*summand, pair)]);
  });
}

//===----------------------------------------------------------------------===//
// Formulas: what is hidden stays hidden
//===----------------------------------------------------------------------===//

static llvm::Expected<Tensor> evaluateOp(BiasOp op, Operands operands,
                                         Rounding round) {
  const Tensor &bias = *operands[1];
  if (!broadcasts(bias, operands[0]->shape, /*shortLast=*/false))
    return makeError(op, "expected a bias that broadcasts to the scores");
  return mapScores(*operands[0], [&](const Pair &pair, double score) {
    if (score == hidden)
      return hidden;
    return round(score + bias.numbers[*broadcastOffset(bias, pair)]);
  });
}

static llvm::Expected<Tensor> evaluateOp(SoftcapOp, Operands operands,
                                         Rounding round) {
  double cap = operands[1]->get(0).number;
  return mapScores(*operands[0], [&](const Pair &, double score) {
    if (score == hidden)
      return hidden;
    return round(cap * round(std::tanh(round(score / cap))));
  });
}

/// The slope of a head where none are given.
static double getSlope(int64_t head, int64_t heads) {
  int64_t power = 1;
  while (2 * power <= heads)
    power *= 2;
  if (head < power)
    return std::exp2(-8.0 * double(head + 1) / double(power));
  return std::exp2(-4.0 * double(2 * (head - power) + 1) / double(power));
}

static llvm::Expected<Tensor> evaluateOp(AlibiOp op, Operands operands,
                                         Rounding round) {
  const Tensor *slopes = op.getSlopes() ? operands[1].get() : nullptr;
  const Tensor *offsets = op.getOffsets() ? operands.back().get() : nullptr;
  int64_t heads = operands[0]->size(1);
  return mapScores(*operands[0], [&](const Pair &pair, double score) {
    if (score == hidden)
      return hidden;
    double slope = slopes ? slopes->number({pair.h}) : getSlope(pair.h, heads);
    double distance =
        double(pair.j - pair.i - pair.shift(op.getAlignment(), offsets));
    if (op.getSymmetric())
      distance = -std::abs(distance);
    return round(score + round(round(slope) * distance));
  });
}

/// The bucket of a relative position among `buckets` of one side.
static int64_t getBucket(int64_t distance, int64_t buckets, int64_t farthest) {
  int64_t exact = buckets / 2;
  if (distance < exact)
    return distance;
  // A quotient that is a whole number must not be rounded to less.
  double far = std::log(double(distance) / double(exact)) /
               std::log(double(farthest) / double(exact)) *
               double(buckets - exact);
  return std::min(buckets - 1, exact + int64_t(std::floor(far + 1e-12)));
}

static llvm::Expected<Tensor> evaluateOp(T5BiasOp op, Operands operands,
                                         Rounding round) {
  const Tensor &table = *operands[1];
  const Tensor *offsets = op.getOffsets() ? operands.back().get() : nullptr;
  bool both = op.getBidirectional();
  int64_t buckets = both ? table.size(0) / 2 : table.size(0);
  return mapScores(*operands[0], [&](const Pair &pair, double score) {
    if (score == hidden)
      return hidden;
    int64_t relative = pair.j - pair.i - pair.shift(op.getAlignment(), offsets);
    int64_t distance =
        both ? std::abs(relative) : std::max<int64_t>(-relative, 0);
    int64_t bucket = getBucket(distance, buckets, op.getMaxDistance());
    if (both && relative > 0)
      bucket += buckets;
    return round(score + table.number({bucket, pair.h}));
  });
}

FamilyResult reference::evaluateScoreOp(Operation *op, Operands operands,
                                        Rounding round) {
  return llvm::TypeSwitch<Operation *, FamilyResult>(op)
      .Case<MaskOp, BiasOp, SoftcapOp, AlibiOp, T5BiasOp>(
          [&](auto op) { return oneResult(evaluateOp(op, operands, round)); })
      .Default([](Operation *) { return std::nullopt; });
}
