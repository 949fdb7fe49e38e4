//===- FusedOps.cpp - fused attention and linear layers ---------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The formulas of AttnFusedOps.td: a row of scores at a time, each pair through
// the regions. No tile, no running maximum: that is what is checked with it.
//
//===----------------------------------------------------------------------===//

#include "EvaluatorImpl.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::reference;

namespace {

/// A region, or its absence.
class OptionalFormula {
public:
  static llvm::Expected<OptionalFormula> build(Region &region,
                                               Operands captures) {
    OptionalFormula result;
    if (region.empty())
      return std::move(result);
    llvm::Expected<Formula> formula = Formula::build(region, captures);
    if (!formula)
      return formula.takeError();
    result.formula = std::move(*formula);
    return std::move(result);
  }
  explicit operator bool() const { return formula.has_value(); }
  Scalar run(ArrayRef<Scalar> leading) { return formula->run(leading); }
  llvm::Error takeError() {
    return formula ? formula->takeError() : llvm::Error::success();
  }

private:
  std::optional<Formula> formula;
};

/// attn.attention with its operands.
class Attention {
public:
  Attention(AttentionOp op, Operands operands)
      : op(op), query(*operands[0], op.getLayout()),
        key(*operands[1], op.getLayout()), value(*operands[2], op.getLayout()),
        scale(operands[3]->get(0).number),
        sinks(op.getSinks() ? operands[4].get() : nullptr),
        captures(operands.take_back(op.getCaptures().size())) {}

  llvm::Expected<Results> evaluate();

private:
  llvm::Error buildRegions();
  double score(int64_t b, int64_t h, int64_t i, int64_t j);
  double mixed(int64_t b, int64_t h, int64_t i, int64_t d, int64_t first,
               ArrayRef<double> weights);
  void evaluateKeys(int64_t first, int64_t last, Tensor &result, Tensor &lse);

  static Scalar index(int64_t value) { return {0.0, value}; }
  static Scalar number(double value) { return {value, 0}; }

  AttentionOp op;
  HeadView<const Tensor> query, key, value;
  double scale;
  const Tensor *sinks;
  Operands captures;
  OptionalFormula combine, scoreRule, mask, valueRule;
};

} // namespace

llvm::Error Attention::buildRegions() {
  for (auto [region, formula] : {std::pair(&op.getCombine(), &combine),
                                 {&op.getScore(), &scoreRule},
                                 {&op.getMask(), &mask},
                                 {&op.getValues(), &valueRule}}) {
    llvm::Expected<OptionalFormula> built =
        OptionalFormula::build(*region, captures);
    if (!built)
      return built.takeError();
    *formula = std::move(*built);
  }
  return llvm::Error::success();
}

/// The score of a pair, -inf where the mask hides it.
double Attention::score(int64_t b, int64_t h, int64_t i, int64_t j) {
  if (mask && !mask.run({index(b), index(h), index(i), index(j)}).integer)
    return -INFINITY;
  int64_t g = h / (query.heads() / key.heads());
  Sum sum = 0.0;
  for (int64_t d = 0; d < query.channels(); ++d) {
    double q = query(b, h, i, d), k = key(b, g, j, d);
    sum += combine ? combine
                         .run({number(q), number(k), index(b), index(h),
                               index(i), index(j), index(d)})
                         .number
                   : q * k;
  }
  double product = static_cast<double>(scale * sum);
  if (!scoreRule)
    return product;
  return scoreRule
      .run({number(product), index(b), index(h), index(i), index(j)})
      .number;
}

/// One channel of the mix of values from key `first` on. A weight of zero skips
/// its value.
double Attention::mixed(int64_t b, int64_t h, int64_t i, int64_t d,
                        int64_t first, ArrayRef<double> weights) {
  int64_t g = h / (query.heads() / value.heads());
  Sum sum = 0.0;
  for (auto [offset, weight] : llvm::enumerate(weights)) {
    if (weight == 0.0)
      continue;
    int64_t j = first + static_cast<int64_t>(offset);
    double v = value(b, g, j, d);
    if (valueRule)
      v = valueRule
              .run(
                  {number(v), index(b), index(h), index(i), index(j), index(d)})
              .number;
    sum += weight * v;
  }
  return static_cast<double>(sum);
}

/// Results over the keys [first, last), which are appended to `result` and
/// `lse`.
void Attention::evaluateKeys(int64_t first, int64_t last, Tensor &result,
                             Tensor &lse) {
  Tensor part =
      Tensor::zeros(Tensor::Kind::F64,
                    headShape(op.getLayout(), query.batches(), query.heads(),
                              query.length(), value.channels()));
  HeadView out(part, op.getLayout());
  std::vector<double> scores(last - first), weights(last - first);
  for (int64_t b = 0; b < query.batches(); ++b)
    for (int64_t h = 0; h < query.heads(); ++h)
      for (int64_t i = 0; i < query.length(); ++i) {
        for (int64_t j = first; j < last; ++j)
          scores[j - first] = score(b, h, i, j);
        lse.numbers.push_back(
            softmaxRow(scores, weights, sinks ? sinks->number({h}) : hidden));
        for (int64_t d = 0; d < value.channels(); ++d)
          out(b, h, i, d) = mixed(b, h, i, d, first, weights);
      }
  llvm::append_range(result.numbers, part.numbers);
}

llvm::Expected<Results> Attention::evaluate() {
  if (llvm::Error error = buildRegions())
    return std::move(error);
  Tensor result = Tensor::zeros(Tensor::Kind::F64, {0});
  Tensor lse = result;
  result.shape = headShape(op.getLayout(), query.batches(), query.heads(),
                           query.length(), value.channels());
  lse.shape = {query.batches(), query.heads(), query.length()};
  if (op.getChunk()) {
    int64_t chunk = *op.getChunk(), parts = 0;
    for (int64_t first = 0; first < key.length(); first += chunk, ++parts)
      evaluateKeys(first, std::min(first + chunk, key.length()), result, lse);
    result.shape.insert(result.shape.begin(), parts);
    lse.shape.insert(lse.shape.begin(), parts);
  } else {
    evaluateKeys(0, key.length(), result, lse);
  }
  for (OptionalFormula *formula : {&combine, &scoreRule, &mask, &valueRule})
    if (llvm::Error error = formula->takeError())
      return std::move(error);
  Results results;
  results.push_back(std::move(result));
  if (op.getLse())
    results.push_back(std::move(lse));
  return results;
}

/// The weight as (N, K), unpacked where it is panels.
static Tensor unpacked(const Tensor &weight, int64_t outputs) {
  if (weight.rank() == 2)
    return weight;
  int64_t panel = weight.size(2);
  Tensor result = Tensor::zeros(weight.kind, {outputs, weight.size(1)});
  for (int64_t n = 0; n < outputs; ++n)
    for (int64_t k = 0; k < weight.size(1); ++k)
      result.number({n, k}) = weight.number({n / panel, k, n % panel});
  return result;
}

static llvm::Expected<Results> evaluateFusedLinear(FusedLinearOp op,
                                                   Operands operands) {
  int64_t outputs = op.getResult().getType().getDimSize(1);
  Operands captures = operands.slice(2, op.getCaptures().size());
  llvm::Expected<OptionalFormula> epilogue =
      OptionalFormula::build(op.getEpilogue(), captures);
  if (!epilogue)
    return epilogue.takeError();

  Tensor result = multiplyRows(*operands[0], unpacked(*operands[1], outputs));
  for (int64_t m = 0; m < result.size(0); ++m) {
    MutableArrayRef<double> row(result.numbers.data() + m * outputs, outputs);
    if (*epilogue)
      for (auto [n, acc] : llvm::enumerate(row))
        acc = epilogue->run({{acc, 0}, {0.0, m}, {0.0, int64_t(n)}}).number;
    if (op.getBeta())
      layerNormRow(row, *operands[operands.size() - 2], *operands.back(),
                   op.getEpsilon()->convertToDouble());
    else if (op.getGamma())
      rmsNormRow(row, *operands.back(), op.getEpsilon()->convertToDouble());
  }
  if (llvm::Error error = epilogue->takeError())
    return std::move(error);
  return oneResult(std::move(result));
}

FamilyResult reference::evaluateFusedOp(Operation *op, Operands operands) {
  return TypeSwitch<Operation *, FamilyResult>(op)
      .Case<AttentionOp>(
          [&](AttentionOp op) { return Attention(op, operands).evaluate(); })
      .Case<FusedLinearOp>(
          [&](FusedLinearOp op) { return evaluateFusedLinear(op, operands); })
      .Default([](Operation *) { return std::nullopt; });
}
