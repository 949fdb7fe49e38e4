//===- AttentionOps.cpp - attention step by step ----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The formulas of AttnOps.td, loop by loop. Rules that change scores are in
// ScoreOps.cpp.
//
//===----------------------------------------------------------------------===//

#include "EvaluatorImpl.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::reference;

double reference::softmaxRow(ArrayRef<double> scores,
                             MutableArrayRef<double> weights, double sink,
                             Rounding round) {
  double maximum = sink;
  for (double score : scores)
    if (score > maximum || std::isnan(score))
      maximum = score; // A NaN stays: nothing is greater.
  Sum sum = sink == hidden    ? 0.0
            : sink == maximum ? 1.0 // Also where both are infinite.
                              : round(std::exp(round(sink - maximum)));
  for (auto [score, weight] : llvm::zip(scores, weights)) {
    weight = score == hidden ? 0.0 : round(std::exp(round(score - maximum)));
    sum = round(sum + weight);
  }
  if (maximum == hidden)
    return hidden;
  for (double &weight : weights)
    weight = weight == 0.0 ? 0.0 : round(static_cast<double>(weight / sum));
  return round(static_cast<double>(maximum + round(std::log(sum))));
}

/// The channels of all heads side by side, (B, S, H * D) or (S, B, H * D).
static double &flat(Tensor &tensor, Layout layout, int64_t b, int64_t s,
                    int64_t channel) {
  if (layout == Layout::SBHD)
    return tensor.number({s, b, channel});
  return tensor.number({b, s, channel});
}

static Tensor evaluateOp(SplitHeadsOp op, Tensor input) {
  bool isFirst = op.getLayout() == Layout::SBHD;
  int64_t heads = op.getHeads(), channels = input.size(2) / heads;
  Tensor result = Tensor::zeros(
      Tensor::Kind::F64, headShape(op.getLayout(), input.size(isFirst), heads,
                                   input.size(!isFirst), channels));
  HeadView out(result, op.getLayout());
  for (int64_t b = 0; b < out.batches(); ++b)
    for (int64_t s = 0; s < out.length(); ++s)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t d = 0; d < channels; ++d)
          out(b, h, s, d) = flat(input, op.getLayout(), b, s, h * channels + d);
  return result;
}

static Tensor evaluateOp(MergeHeadsOp op, const Tensor &input) {
  HeadView in(input, op.getLayout());
  Tensor result = Tensor::zeros(
      Tensor::Kind::F64,
      {input.size(0), input.size(op.getLayout() == Layout::BHSD ? 2 : 1),
       in.heads() * in.channels()});
  for (int64_t b = 0; b < in.batches(); ++b)
    for (int64_t s = 0; s < in.length(); ++s)
      for (int64_t h = 0; h < in.heads(); ++h)
        for (int64_t d = 0; d < in.channels(); ++d)
          flat(result, op.getLayout(), b, s, h * in.channels() + d) =
              in(b, h, s, d);
  return result;
}

namespace {

/// The table of attn.scores and attn.mix with a vector for each distance.
class RelativeTable {
public:
  template <typename OpTy>
  RelativeTable(OpTy op, Operands operands, int64_t queries, int64_t keys)
      : alignment(op.getAlignment()), queries(queries), keys(keys) {
    if (op.getOffsets())
      offsets = operands.back().get();
    if (op.getRelative())
      table = operands[operands.size() - (offsets ? 2 : 1)].get();
  }

  /// What is added to channel d of key or value j, for query i.
  double operator()(int64_t b, int64_t i, int64_t j, int64_t d) const {
    if (!table)
      return 0.0;
    int64_t clip = table->size(0) / 2;
    int64_t distance = j - i - getShift(alignment, queries, keys, offsets, b);
    return table->number({std::clamp(distance, -clip, clip) + clip, d});
  }

private:
  const Tensor *table = nullptr, *offsets = nullptr;
  Alignment alignment;
  int64_t queries, keys;
};

} // namespace

/// Scores of all pairs, each the sum of `term(b, h, g, i, j, d)`.
template <typename Term>
static Tensor sumScores(const HeadView<const Tensor> &query,
                        const HeadView<const Tensor> &key, Rounding round,
                        Term term) {
  int64_t share = query.heads() / key.heads();
  Tensor result =
      Tensor::zeros(Tensor::Kind::F64, {query.batches(), query.heads(),
                                        query.length(), key.length()});
  for (int64_t b = 0; b < query.batches(); ++b)
    for (int64_t h = 0; h < query.heads(); ++h)
      for (int64_t i = 0; i < query.length(); ++i)
        for (int64_t j = 0; j < key.length(); ++j) {
          Sum sum = 0.0;
          for (int64_t d = 0; d < query.channels(); ++d)
            sum = round(sum + term(b, h, h / share, i, j, d));
          result.number({b, h, i, j}) = static_cast<double>(sum);
        }
  return result;
}

static Tensor evaluateOp(ScoresOp op, Operands operands, Rounding round) {
  HeadView query(*operands[0], op.getLayout());
  HeadView key(*operands[1], op.getLayout());
  RelativeTable relative(op, operands, query.length(), key.length());
  double scale = op.getScale() ? operands[2]->get(0).number
                               : 1.0 / std::sqrt(query.channels());
  Tensor result = sumScores(
      query, key, round,
      [&](int64_t b, int64_t h, int64_t g, int64_t i, int64_t j, int64_t d) {
        return round(query(b, h, i, d) *
                     round(key(b, g, j, d) + relative(b, i, j, d)));
      });
  for (double &score : result.numbers)
    score = round(score * round(scale));
  return result;
}

static Tensor evaluateOp(AdditiveScoresOp op, Operands operands,
                         Rounding round) {
  HeadView query(*operands[0], op.getLayout());
  HeadView key(*operands[1], op.getLayout());
  const Tensor &vector = *operands[2];
  return sumScores(
      query, key, round,
      [&](int64_t b, int64_t h, int64_t g, int64_t i, int64_t j, int64_t d) {
        double weight =
            vector.rank() == 1 ? vector.number({d}) : vector.number({h, d});
        double sum = round(query(b, h, i, d) + key(b, g, j, d));
        return round(weight * round(std::tanh(sum)));
      });
}

static Results evaluateOp(SoftmaxOp op, Operands operands, Rounding round) {
  const Tensor &input = *operands[0];
  Tensor weights = input;
  Tensor lse = Tensor::zeros(Tensor::Kind::F64,
                             ArrayRef<int64_t>(input.shape).drop_back());
  int64_t size = input.rowSize();
  for (int64_t row = 0; row < input.numRows(); ++row) {
    ArrayRef<double> scores(input.numbers);
    MutableArrayRef<double> out(weights.numbers);
    double sink = hidden;
    if (op.getSinks())
      sink = operands[1]->number({row / input.size(2) % input.size(1)});
    lse.numbers[row] = softmaxRow(scores.slice(row * size, size),
                                  out.slice(row * size, size), sink, round);
  }
  Results results;
  results.push_back(std::move(weights));
  results.push_back(std::move(lse));
  return results;
}

static Tensor evaluateOp(MixOp op, Operands operands, Rounding round) {
  const Tensor &weights = *operands[0];
  HeadView value(*operands[1], op.getLayout());
  int64_t heads = weights.size(1), queries = weights.size(2);
  int64_t share = heads / value.heads();
  RelativeTable relative(op, operands, queries, value.length());
  Tensor result = Tensor::zeros(Tensor::Kind::F64,
                                headShape(op.getLayout(), value.batches(),
                                          heads, queries, value.channels()));
  HeadView out(result, op.getLayout());
  for (int64_t b = 0; b < value.batches(); ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < queries; ++i)
        for (int64_t d = 0; d < value.channels(); ++d) {
          Sum sum = 0.0;
          for (int64_t j = 0; j < value.length(); ++j) {
            double weight = weights.number({b, h, i, j});
            if (weight == 0.0)
              continue; // Whatever the value is.
            double element =
                round(value(b, h / share, j, d) + relative(b, i, j, d));
            sum = round(sum + round(weight * element));
          }
          out(b, h, i, d) = static_cast<double>(sum);
        }
  return result;
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

FamilyResult reference::evaluateAttentionOp(Operation *op, Operands operands,
                                            Rounding round) {
  return TypeSwitch<Operation *, FamilyResult>(op)
      .Case<SplitHeadsOp, MergeHeadsOp>(
          [&](auto op) { return oneResult(evaluateOp(op, *operands[0])); })
      .Case<ScoresOp, AdditiveScoresOp, MixOp>(
          [&](auto op) { return oneResult(evaluateOp(op, operands, round)); })
      .Case<SoftmaxOp>(
          [&](SoftmaxOp op) { return evaluateOp(op, operands, round); })
      .Default([](Operation *) { return std::nullopt; });
}
