//===- AttentionOps.cpp - attention step by step ----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The formulas of AttnOps.td, loop by loop.
//
//===----------------------------------------------------------------------===//

#include "EvaluatorImpl.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::reference;

static constexpr double hidden = -INFINITY;

double reference::softmaxRow(ArrayRef<double> scores,
                             MutableArrayRef<double> weights) {
  double maximum = hidden;
  for (double score : scores)
    if (score > maximum || std::isnan(score))
      maximum = score; // A NaN stays: nothing is greater.
  double sum = 0.0;
  for (auto [score, weight] : llvm::zip(scores, weights)) {
    weight = score == hidden ? 0.0 : std::exp(score - maximum);
    sum += weight;
  }
  if (maximum == hidden)
    return hidden;
  for (double &weight : weights)
    weight = weight == 0.0 ? 0.0 : weight / sum;
  return maximum + std::log(sum);
}

static Tensor evaluateOp(SplitHeadsOp op, const Tensor &input) {
  int64_t heads = op.getHeads(), channels = input.size(2) / heads;
  Tensor result = Tensor::zeros(
      Tensor::Kind::F64,
      headShape(op.getLayout(), input.size(0), heads, input.size(1), channels));
  HeadView out(result, op.getLayout());
  for (int64_t b = 0; b < input.size(0); ++b)
    for (int64_t s = 0; s < input.size(1); ++s)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t d = 0; d < channels; ++d)
          out(b, h, s, d) = input.number({b, s, h * channels + d});
  return result;
}

static Tensor evaluateOp(MergeHeadsOp op, const Tensor &input) {
  HeadView in(input, op.getLayout());
  Tensor result =
      Tensor::zeros(Tensor::Kind::F64,
                    {in.batches(), in.length(), in.heads() * in.channels()});
  for (int64_t b = 0; b < in.batches(); ++b)
    for (int64_t s = 0; s < in.length(); ++s)
      for (int64_t h = 0; h < in.heads(); ++h)
        for (int64_t d = 0; d < in.channels(); ++d)
          result.number({b, s, h * in.channels() + d}) = in(b, h, s, d);
  return result;
}

static Tensor evaluateOp(ScoresOp op, Operands operands) {
  HeadView query(*operands[0], op.getLayout());
  HeadView key(*operands[1], op.getLayout());
  double scale = operands.size() > 2 ? operands[2]->get(0).number
                                     : 1.0 / std::sqrt(query.channels());
  int64_t share = query.heads() / key.heads();
  Tensor result =
      Tensor::zeros(Tensor::Kind::F64, {query.batches(), query.heads(),
                                        query.length(), key.length()});
  for (int64_t b = 0; b < query.batches(); ++b)
    for (int64_t h = 0; h < query.heads(); ++h)
      for (int64_t i = 0; i < query.length(); ++i)
        for (int64_t j = 0; j < key.length(); ++j) {
          double sum = 0.0;
          for (int64_t d = 0; d < query.channels(); ++d)
            sum += query(b, h, i, d) * key(b, h / share, j, d);
          result.number({b, h, i, j}) = scale * sum;
        }
  return result;
}

/// Where an element of a tensor that broadcasts to (B, H, N, M) lies.
static int64_t broadcastOffset(const Tensor &tensor,
                               ArrayRef<int64_t> indices) {
  indices = indices.take_back(tensor.rank());
  SmallVector<int64_t, 4> place;
  for (auto [index, size] : llvm::zip(indices, tensor.shape))
    place.push_back(size == 1 ? 0 : index);
  return tensor.offset(place);
}

/// Whether a tensor broadcasts to a shape, now that all sizes are known.
static bool broadcasts(const Tensor &tensor, ArrayRef<int64_t> shape) {
  shape = shape.take_back(tensor.rank());
  for (auto [size, expected] : llvm::zip(tensor.shape, shape))
    if (size != 1 && size != expected)
      return false;
  return true;
}

/// What the diagonal of query 0 points at.
static int64_t getShift(Alignment alignment, int64_t queries, int64_t keys,
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

/// Whether a rule without a dense mask shows the pair.
static bool shows(Attribute rule, const Tensor *operand, int64_t queries,
                  int64_t keys, int64_t b, int64_t i, int64_t j) {
  if (auto causal = dyn_cast<CausalAttr>(rule))
    return j <= i + getShift(causal.getAlignment(), queries, keys, operand, b);
  if (auto window = dyn_cast<WindowAttr>(rule)) {
    int64_t center =
        i + getShift(window.getAlignment(), queries, keys, operand, b);
    return (window.getLeft() < 0 || j >= center - window.getLeft()) &&
           (window.getRight() < 0 || j <= center + window.getRight());
  }
  if (isa<KeyLengthsAttr>(rule))
    return j < operand->integer({b});
  return operand->integer({b, j}) != 0; // key_padding
}

static llvm::Expected<Tensor> evaluateOp(MaskOp op, Operands operands) {
  Tensor result = *operands[0];
  const Tensor *operand = operands.size() > 1 ? operands[1].get() : nullptr;
  bool isDense = isa<DenseMaskAttr>(op.getRule());
  if (isDense && !broadcasts(*operand, result.shape))
    return makeError(op, "expected an operand that broadcasts to the scores");
  int64_t queries = result.size(2), keys = result.size(3);
  SmallVector<int64_t, 4> at(4, 0);
  if (!hasElements(result.shape))
    return result;
  do {
    double &score = result.number(at);
    if (!isDense) {
      if (!shows(op.getRule(), operand, queries, keys, at[0], at[2], at[3]))
        score = hidden;
      continue;
    }
    int64_t offset = broadcastOffset(*operand, at);
    if (operand->kind == Tensor::Kind::F64)
      score = operand->numbers[offset] == hidden
                  ? hidden
                  : score + operand->numbers[offset];
    else if (!operand->integers[offset])
      score = hidden;
  } while (nextIndices(at, result.shape));
  return result;
}

static llvm::Expected<Tensor> evaluateOp(BiasOp op, const Tensor &scores,
                                         const Tensor &bias) {
  if (!broadcasts(bias, scores.shape))
    return makeError(op, "expected a bias that broadcasts to the scores");
  Tensor result = scores;
  SmallVector<int64_t, 4> at(4, 0);
  if (!hasElements(result.shape))
    return result;
  do
    result.number(at) += bias.numbers[broadcastOffset(bias, at)];
  while (nextIndices(at, result.shape));
  return result;
}

static Results evaluateSoftmax(const Tensor &input) {
  Tensor weights = input;
  Tensor lse = Tensor::zeros(Tensor::Kind::F64,
                             ArrayRef<int64_t>(input.shape).drop_back());
  int64_t size = input.rowSize();
  for (int64_t row = 0; row < input.numRows(); ++row) {
    ArrayRef<double> scores(input.numbers);
    MutableArrayRef<double> out(weights.numbers);
    lse.numbers[row] =
        softmaxRow(scores.slice(row * size, size), out.slice(row * size, size));
  }
  Results results;
  results.push_back(std::move(weights));
  results.push_back(std::move(lse));
  return results;
}

static Tensor evaluateOp(MixOp op, const Tensor &weights,
                         const Tensor &values) {
  HeadView value(values, op.getLayout());
  int64_t heads = weights.size(1), queries = weights.size(2);
  int64_t share = heads / value.heads();
  Tensor result = Tensor::zeros(Tensor::Kind::F64,
                                headShape(op.getLayout(), value.batches(),
                                          heads, queries, value.channels()));
  HeadView out(result, op.getLayout());
  for (int64_t b = 0; b < value.batches(); ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < queries; ++i)
        for (int64_t j = 0; j < value.length(); ++j) {
          double weight = weights.number({b, h, i, j});
          if (weight == 0.0)
            continue; // Whatever the value is.
          for (int64_t d = 0; d < value.channels(); ++d)
            out(b, h, i, d) += weight * value(b, h / share, j, d);
        }
  return result;
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

FamilyResult reference::evaluateAttentionOp(Operation *op, Operands operands) {
  return TypeSwitch<Operation *, FamilyResult>(op)
      .Case<SplitHeadsOp, MergeHeadsOp>(
          [&](auto op) { return oneResult(evaluateOp(op, *operands[0])); })
      .Case<ScoresOp, MaskOp>(
          [&](auto op) { return oneResult(evaluateOp(op, operands)); })
      .Case<BiasOp, MixOp>([&](auto op) {
        return oneResult(evaluateOp(op, *operands[0], *operands[1]));
      })
      .Case<SoftmaxOp>([&](SoftmaxOp) { return evaluateSoftmax(*operands[0]); })
      .Default([](Operation *) { return std::nullopt; });
}
