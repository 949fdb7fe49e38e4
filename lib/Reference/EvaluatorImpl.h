//===- EvaluatorImpl.h - the evaluator's parts ------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each file evaluates one family of operations: `evaluateX` returns the results
// of an operation of its family, or nothing for one of another.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_REFERENCE_EVALUATORIMPL_H
#define ATTN_LIB_REFERENCE_EVALUATORIMPL_H

#include "Formula.h"

#include "attn/Reference/Evaluator.h"

#include <limits>
#include <optional>

namespace attn::reference {

using Results = llvm::SmallVector<Tensor>;
/// The operands of an operation, in its order, and behind them its outer
/// values.
using Operands = llvm::ArrayRef<TensorRef>;

/// The values from outside that the body of an operation reads without naming
/// them as operands, as linalg's bodies may.
llvm::SmallVector<mlir::Value> outerValues(mlir::Operation *op);

/// What a sum is kept in while its terms come: of many equal terms, the
/// roundings of an f64 sum add up to what a kernel's own may be.
using Sum = long double;

/// What a step of a formula leaves of a number, and of a sum: all of it unless
/// the evaluation is plain.
class Rounding {
public:
  enum Kind { None, F64, F32 };
  explicit Rounding(Kind kind = None) : kind(kind) {}
  double operator()(double number) const {
    return kind == F32 ? static_cast<double>(static_cast<float>(number))
                       : number;
  }
  Sum operator()(Sum sum) const {
    return kind == None ? sum : (*this)(static_cast<double>(sum));
  }

private:
  Kind kind;
};

/// Results, an error, or nothing: not an operation of this family.
using FamilyResult = std::optional<llvm::Expected<Results>>;

/// The results of an operation that has one.
inline llvm::Expected<Results> oneResult(llvm::Expected<Tensor> tensor) {
  if (!tensor)
    return tensor.takeError();
  Results results;
  results.push_back(std::move(*tensor));
  return results;
}

/// Compares the sizes that types leave open.
llvm::Error checkSizes(mlir::Operation *op, Operands operands);

/// No fewer than the bytes of the tensors that an operation makes, known before
/// it is evaluated. A number too large for an integer is one here.
double estimateBytes(mlir::Operation *op, Operands operands);

/// split_heads, merge_heads, scores, additive_scores, softmax, mix.
FamilyResult evaluateAttentionOp(mlir::Operation *op, Operands operands,
                                 Rounding round);
/// mask, bias, softcap, alibi, t5_bias.
FamilyResult evaluateScoreOp(mlir::Operation *op, Operands operands,
                             Rounding round);
/// rotary, cache_append, merge_attention.
FamilyResult evaluateCacheOp(mlir::Operation *op, Operands operands);
/// linear, norms, activations, embeddings, positions, pooling, pack.
FamilyResult evaluateLayerOp(mlir::Operation *op, Operands operands);
/// attn.attention, attn.fused_linear.
FamilyResult evaluateFusedOp(mlir::Operation *op, Operands operands);
/// Upstream's tensor dialect.
FamilyResult evaluateTensorOp(mlir::Operation *op, Operands operands);
/// arith and math, on scalars and element by element on tensors; constants.
FamilyResult evaluateElementwiseOp(mlir::Operation *op, Operands operands);
/// linalg's structured operations.
FamilyResult evaluateLinalgOp(mlir::Operation *op, Operands operands);

/// The data of a weight, by its recipe.
llvm::Expected<Tensor> evaluateWeight(WeightOp weight,
                                      const EvaluatorOptions &options);

/// The score of a pair that takes no part.
inline constexpr double hidden = -std::numeric_limits<double>::infinity();

/// Softmax of a row of scores into weights; returns the log-sum-exp. A score
/// of -inf has weight exactly 0, a row of them has an lse of -inf. A sink joins
/// the sum, unless it is -inf.
double softmaxRow(llvm::ArrayRef<double> scores,
                  llvm::MutableArrayRef<double> weights, double sink = hidden,
                  Rounding round = Rounding());

/// What the diagonal of query 0 points at in batch row b.
int64_t getShift(Alignment alignment, int64_t queries, int64_t keys,
                 const Tensor *offsets, int64_t b);

/// The product of rows of K numbers and a weight (N, K): rows of N.
Tensor multiplyRows(const Tensor &input, const Tensor &weight);

/// Layer norm of a row, in place.
void layerNormRow(llvm::MutableArrayRef<double> row, const Tensor &gamma,
                  const Tensor &beta, double epsilon);

/// RMS norm of a row, in place.
void rmsNormRow(llvm::MutableArrayRef<double> row, const Tensor &gamma,
                double epsilon);

/// The weight of a linear layer as panels, see attn.pack.
Tensor packWeight(const Tensor &weight, int64_t panel);

/// A tensor of four dimensions in a layout, as (batch, head, sequence,
/// channel).
template <typename T> class HeadView {
public:
  HeadView(T &tensor, Layout layout)
      : tensor(tensor), batchDim(attn::batchDim(layout)),
        headDim(attn::headDim(layout)), sequenceDim(attn::sequenceDim(layout)) {
    strides[2] = tensor.size(3);
    strides[1] = strides[2] * tensor.size(2);
    strides[0] = strides[1] * tensor.size(1);
  }
  int64_t batches() const { return tensor.size(batchDim); }
  int64_t heads() const { return tensor.size(headDim); }
  int64_t length() const { return tensor.size(sequenceDim); }
  int64_t channels() const { return tensor.size(3); }
  auto &operator()(int64_t b, int64_t h, int64_t s, int64_t d) const {
    return tensor.numbers[b * strides[batchDim] + h * strides[headDim] +
                          s * strides[sequenceDim] + d];
  }

private:
  T &tensor;
  unsigned batchDim, headDim, sequenceDim;
  int64_t strides[3];
};
template <typename T> HeadView(T &, Layout) -> HeadView<T>;

/// The shape of a head-split tensor in a layout.
inline llvm::SmallVector<int64_t, 4> headShape(Layout layout, int64_t batches,
                                               int64_t heads, int64_t length,
                                               int64_t channels) {
  llvm::SmallVector<int64_t> shape =
      inLayout(layout, batches, length, heads, channels);
  return {shape.begin(), shape.end()};
}

} // namespace attn::reference

#endif // ATTN_LIB_REFERENCE_EVALUATORIMPL_H
