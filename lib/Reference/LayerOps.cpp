//===- LayerOps.cpp - layers around attention -------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The formulas of AttnLayerOps.td and of attn.pack.
//
//===----------------------------------------------------------------------===//

#include "EvaluatorImpl.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::reference;

static MutableArrayRef<double> rowOf(Tensor &tensor, int64_t row) {
  return MutableArrayRef<double>(tensor.numbers)
      .slice(row * tensor.rowSize(), tensor.rowSize());
}

/// Each sum runs over k in order. That k is the outer loop lets a compiler
/// work on several sums at once; it changes no result.
Tensor reference::multiplyRows(const Tensor &input, const Tensor &weight) {
  int64_t outputs = weight.size(0), inputs = weight.size(1);
  std::vector<double> transposed(weight.numbers.size());
  for (int64_t n = 0; n < outputs; ++n)
    for (int64_t k = 0; k < inputs; ++k)
      transposed[k * outputs + n] = weight.numbers[n * inputs + k];

  SmallVector<int64_t, 4> shape = input.shape;
  shape.back() = outputs;
  Tensor result = Tensor::zeros(Tensor::Kind::F64, shape);
  for (int64_t row = 0; row < input.numRows(); ++row) {
    double *out = result.numbers.data() + row * outputs;
    for (int64_t k = 0; k < inputs; ++k) {
      double x = input.numbers[row * inputs + k];
      for (int64_t n = 0; n < outputs; ++n)
        out[n] += x * transposed[k * outputs + n];
    }
  }
  return result;
}

static Tensor evaluateOp(LinearOp op, Operands operands) {
  Tensor result = multiplyRows(*operands[0], *operands[1]);
  if (op.getBias())
    for (int64_t row = 0; row < result.numRows(); ++row)
      for (auto [y, bias] : llvm::zip(rowOf(result, row), operands[2]->numbers))
        y += bias;
  return result;
}

void reference::layerNormRow(MutableArrayRef<double> row, const Tensor &gamma,
                             const Tensor &beta, double epsilon) {
  double mean = 0.0, variance = 0.0;
  for (double x : row)
    mean += x;
  mean /= row.size();
  for (double x : row)
    variance += (x - mean) * (x - mean);
  variance /= row.size();
  for (auto [d, x] : llvm::enumerate(row))
    x = (x - mean) / std::sqrt(variance + epsilon) * gamma.numbers[d] +
        beta.numbers[d];
}

void reference::rmsNormRow(MutableArrayRef<double> row, const Tensor &gamma,
                           double epsilon) {
  double squares = 0.0;
  for (double x : row)
    squares += x * x;
  for (auto [d, x] : llvm::enumerate(row))
    x = x / std::sqrt(squares / row.size() + epsilon) * gamma.numbers[d];
}

static Tensor evaluateOp(LayerNormOp op, Operands operands) {
  Tensor result = *operands[0];
  for (int64_t row = 0; row < result.numRows(); ++row)
    layerNormRow(rowOf(result, row), *operands[1], *operands[2],
                 op.getEpsilon().convertToDouble());
  return result;
}

static Tensor evaluateOp(RmsNormOp op, Operands operands) {
  Tensor result = *operands[0];
  for (int64_t row = 0; row < result.numRows(); ++row)
    rmsNormRow(rowOf(result, row), *operands[1],
               op.getEpsilon().convertToDouble());
  return result;
}

static Tensor evaluateOp(L2NormalizeOp op, Operands operands) {
  Tensor result = *operands[0];
  double epsilon = op.getEpsilon().convertToDouble();
  for (int64_t row = 0; row < result.numRows(); ++row) {
    double sum = 0.0;
    for (double x : rowOf(result, row))
      sum += x * x;
    // Written so that a NaN stays one.
    double length = std::sqrt(sum),
           divisor = length < epsilon ? epsilon : length;
    for (double &x : rowOf(result, row))
      x /= divisor;
  }
  return result;
}

static llvm::Expected<Tensor> evaluateOp(EmbeddingOp op, Operands operands) {
  const Tensor &ids = *operands[0], &table = *operands[1];
  SmallVector<int64_t, 4> shape = ids.shape;
  shape.push_back(table.size(1));
  Tensor result = Tensor::zeros(Tensor::Kind::F64, shape);
  for (auto [index, id] : llvm::enumerate(ids.integers)) {
    if (id < 0 || id >= table.size(0))
      return makeError(op, "expected 0 <= id < " + llvm::Twine(table.size(0)) +
                               " (because the table has that many rows), got " +
                               llvm::Twine(id) + " at element " +
                               llvm::Twine(index));
    for (int64_t d = 0; d < table.size(1); ++d)
      result.numbers[index * table.size(1) + d] = table.number({id, d});
  }
  return result;
}

static llvm::Expected<Tensor> evaluateOp(LearnedPositionsOp op,
                                         Operands operands) {
  Tensor result = *operands[0];
  const Tensor &table = *operands[1];
  int64_t first = op.getFirst(), length = result.size(1);
  if (length > table.size(0) - first)
    return makeError(
        op, "expected S + first <= P = " + llvm::Twine(table.size(0)) +
                " (because the table has one row a position), "
                "got S = " +
                llvm::Twine(length) + " and first = " + llvm::Twine(first));
  for (int64_t b = 0; b < result.size(0); ++b)
    for (int64_t s = 0; s < length; ++s)
      for (int64_t d = 0; d < result.size(2); ++d)
        result.number({b, s, d}) += table.number({s + first, d});
  return result;
}

static Tensor evaluateOp(SinusoidalOp op, Operands operands) {
  Tensor result = *operands[0];
  int64_t pairs = result.size(2) / 2;
  bool isInterleaved = op.getForm() == SinusoidForm::Interleaved;
  double base = op.getBase().convertToDouble();
  for (int64_t b = 0; b < result.size(0); ++b)
    for (int64_t s = 0; s < result.size(1); ++s)
      for (int64_t c = 0; c < pairs; ++c) {
        double angle = s * std::pow(base, -2.0 * c / result.size(2));
        result.number({b, s, isInterleaved ? 2 * c : c}) += std::sin(angle);
        result.number({b, s, isInterleaved ? 2 * c + 1 : pairs + c}) +=
            std::cos(angle);
      }
  return result;
}

static llvm::Expected<Tensor> evaluateOp(PoolOp op, Operands operands) {
  const Tensor &input = *operands[0];
  const Tensor *mask = operands.size() > 1 ? operands[1].get() : nullptr;
  Tensor result =
      Tensor::zeros(Tensor::Kind::F64, {input.size(0), input.size(2)});
  if (op.getKind() == PoolKind::Cls && input.size(1) == 0)
    return makeError(op,
                     "expected S > 0 (because cls takes position 0), got 0");
  for (int64_t b = 0; b < input.size(0); ++b)
    for (int64_t d = 0; d < input.size(2); ++d) {
      if (op.getKind() == PoolKind::Cls) {
        result.number({b, d}) = input.number({b, 0, d});
        continue;
      }
      double sum = 0.0, count = 0.0;
      for (int64_t s = 0; s < input.size(1); ++s) {
        if (mask && mask->integer({b, s}) == 0)
          continue;
        sum += input.number({b, s, d});
        count += 1.0;
      }
      result.number({b, d}) = sum / std::max(count, 1e-9);
    }
  return result;
}

Tensor reference::packWeight(const Tensor &weight, int64_t panel) {
  int64_t panels = (weight.size(0) + panel - 1) / panel;
  Tensor result = Tensor::zeros(weight.kind, {panels, weight.size(1), panel});
  for (int64_t n = 0; n < weight.size(0); ++n)
    for (int64_t k = 0; k < weight.size(1); ++k)
      result.set(result.offset({n / panel, k, n % panel}),
                 weight.get(weight.offset({n, k})));
  return result;
}

static Tensor evaluateOp(PackOp op, Operands operands) {
  return packWeight(*operands[0], op.getPanel());
}

FamilyResult reference::evaluateLayerOp(Operation *op, Operands operands) {
  return TypeSwitch<Operation *, FamilyResult>(op)
      .Case<LinearOp, LayerNormOp, RmsNormOp, L2NormalizeOp, EmbeddingOp,
            LearnedPositionsOp, SinusoidalOp, PoolOp, PackOp>(
          [&](auto op) { return oneResult(evaluateOp(op, operands)); })
      .Default([](Operation *) { return std::nullopt; });
}
