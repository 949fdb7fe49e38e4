//===- RowwiseNorms.cpp - norms, softmax and pooling of rows ---*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Rows past the last one exist only inside a group of rows: they read the last
// row again, and what is computed for them is not stored.
//
//===----------------------------------------------------------------------===//
#include "../Math.h"
#include "../ReadAhead.h"
#include "Rowwise.h"

using namespace mlir;
using namespace attn;
using Halide::Expr;
using Halide::Func;
using Halide::Var;

/// Bytes of the rows in flight that lie on the stack.
static constexpr int64_t kStackBytes = 16 * 1024;

/// The indices of row `rows` (innermost first) and column n, in the order of
/// the tensor's dimensions; the innermost row stays inside the tensor.
static SmallVector<Expr> indicesOf(const std::vector<Var> &rows, const Expr &n,
                                   const TensorSource &source) {
  SmallVector<Expr> indices(rows.rbegin(), rows.rend());
  if (!indices.empty())
    indices.back() =
        Halide::min(indices.back(), source.sizes[indices.size() - 1] - 1);
  indices.push_back(n);
  return indices;
}

/// The arguments of a per-row function for an element's indices.
static std::vector<Expr> rowsOf(ArrayRef<Expr> indices) {
  return {indices.rbegin() + 1, indices.rend()};
}

/// max(a, b) for a constant b that lets a NaN in `a` through.
static Expr atLeast(const Expr &a, float b) {
  return Halide::strict_float(Halide::select(a < b, Expr(b), a));
}

TensorSource RowwiseEmitter::keepRow(const TensorSource &source, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t columns = type.getShape().back();
  int64_t columnBytes = 4 * plan.group;
  if (isa<BlockArgument>(value) || ShapedType::isDynamic(columns) ||
      columns > plan.rowBytes / columnBytes)
    return source;
  // Threads share a memory that all rows of a block must fit in.
  if (plan.isGpu())
    plan.rowBytes -= columns * columnBytes;
  return storeRow(source, static_cast<int>(columns));
}

TensorSource RowwiseEmitter::storeRow(const TensorSource &source, int columns) {
  std::vector<Var> rows = rowVariables(source.sizes.size() - 1);
  Var n("n");
  std::vector<Var> variables = {n};
  variables.insert(variables.end(), rows.begin(), rows.end());
  RowStage stage;
  stage.kind = RowStage::Kind::Row;
  stage.func = Func("row" + std::to_string(count++));
  stage.func(variables) = source.load(indicesOf(rows, n, source));
  if (!rows.empty())
    stage.func.bound_extent(rows.front(), plan.group);
  if (Halide::Internal::is_const(source.sizes.back()))
    stage.func.bound(n, 0, columns);
  else
    stage.storage = columns;
  stages.push_back(stage);
  TensorSource kept;
  kept.sizes = source.sizes;
  kept.load = [func = stage.func](ArrayRef<Expr> indices) {
    return func(std::vector<Expr>(indices.rbegin(), indices.rend()));
  };
  return kept;
}

RowReduction RowwiseEmitter::reduce(RowReductionKind kind,
                                    const TensorSource &source,
                                    std::function<Expr(Expr)> map) {
  std::vector<Var> rows = rowVariables(source.sizes.size() - 1);
  RowStage stage;
  stage.kind = RowStage::Kind::Reduction;
  stage.reduction = reduceRow(
      "reduced" + std::to_string(count++), kind, rows, source.sizes.back(),
      plan.vector,
      [&](Expr n) { return map(source.load(indicesOf(rows, n, source))); },
      plan.form);
  stages.push_back(stage);
  return stage.reduction;
}

Func RowwiseEmitter::scalar(const TensorSource &source, Expr value) {
  std::vector<Var> rows = rowVariables(source.sizes.size() - 1);
  RowStage stage;
  stage.kind = RowStage::Kind::Scalar;
  stage.func = Func("scalar" + std::to_string(count++));
  stage.func(rows) = value;
  stages.push_back(stage);
  return stage.func;
}

/// The row's own position as arguments: rows of a reduction.
static std::vector<Expr> ownRow(const TensorSource &source) {
  std::vector<Var> rows = rowVariables(source.sizes.size() - 1);
  return {rows.begin(), rows.end()};
}

FailureOr<TensorSource> RowwiseEmitter::emitLayerNorm(LayerNormOp op) {
  FailureOr<TensorSource> input = get(op.getInput()),
                          gamma = get(op.getGamma()), beta = get(op.getBeta());
  if (failed(input) || failed(gamma) || failed(beta))
    return failure();
  TensorSource x = keepRow(*input, op.getInput());
  std::vector<Expr> own = ownRow(x);
  Expr scale = 1.0f / Halide::cast<float>(x.sizes.back());
  // Two passes: the mean first, then the squares of the differences.
  RowReduction sum =
      reduce(RowReductionKind::Sum, x, [](Expr value) { return value; });
  Func mean = scalar(x, sum.total(own) * scale);
  RowReduction squares = reduce(RowReductionKind::Sum, x, [&](Expr value) {
    Expr difference = subtractInOrder(value, mean(own));
    return difference * difference;
  });
  auto epsilon = static_cast<float>(op.getEpsilon().convertToDouble());
  Func inverse =
      scalar(x, 1.0f / Halide::sqrt(squares.total(own) * scale + epsilon));
  TensorSource result;
  result.sizes = x.sizes;
  result.load = [=, gamma = *gamma, beta = *beta](ArrayRef<Expr> indices) {
    std::vector<Expr> row = rowsOf(indices);
    Expr centred = subtractInOrder(x.load(indices), mean(row));
    return multiplyInOrder(centred, inverse(row)) * gamma.load(indices.back()) +
           beta.load(indices.back());
  };
  return result;
}

FailureOr<TensorSource> RowwiseEmitter::emitRmsNorm(RmsNormOp op) {
  FailureOr<TensorSource> input = get(op.getInput()),
                          gamma = get(op.getGamma());
  if (failed(input) || failed(gamma))
    return failure();
  TensorSource x = keepRow(*input, op.getInput());
  RowReduction squares = reduce(RowReductionKind::Sum, x,
                                [](Expr value) { return value * value; });
  Expr scale = 1.0f / Halide::cast<float>(x.sizes.back());
  auto epsilon = static_cast<float>(op.getEpsilon().convertToDouble());
  Func inverse = scalar(
      x, 1.0f / Halide::sqrt(squares.total(ownRow(x)) * scale + epsilon));
  TensorSource result;
  result.sizes = x.sizes;
  result.load = [=, gamma = *gamma](ArrayRef<Expr> indices) {
    return multiplyInOrder(x.load(indices), inverse(rowsOf(indices))) *
           gamma.load(indices.back());
  };
  return result;
}

FailureOr<TensorSource> RowwiseEmitter::emitL2Normalize(L2NormalizeOp op) {
  FailureOr<TensorSource> input = get(op.getInput());
  if (failed(input))
    return failure();
  TensorSource x = keepRow(*input, op.getInput());
  RowReduction squares = reduce(RowReductionKind::Sum, x,
                                [](Expr value) { return value * value; });
  Expr length = atLeast(Halide::sqrt(squares.total(ownRow(x))),
                        static_cast<float>(op.getEpsilon().convertToDouble()));
  Func norm = scalar(x, length);
  TensorSource result;
  result.sizes = x.sizes;
  result.load = [=](ArrayRef<Expr> indices) {
    return x.load(indices) / norm(rowsOf(indices));
  };
  return result;
}

FailureOr<TensorSource> RowwiseEmitter::emitSoftmax(SoftmaxOp op,
                                                    bool wantsLse) {
  FailureOr<TensorSource> input = get(op.getInput());
  if (failed(input))
    return failure();
  TensorSource x = keepRow(*input, op.getInput());
  std::vector<Expr> own = ownRow(x);
  // Fast-math takes a comparison with infinity for false: in the maximum, -inf
  // is recognised by its bits and counts as the lowest number.
  auto isHidden = [](const Expr &value) {
    return Halide::reinterpret<int32_t>(value) == kMinusInfinityBits;
  };
  Expr lowest = std::numeric_limits<float>::lowest();
  RowReduction maximum = reduce(RowReductionKind::Maximum, x, [&](Expr value) {
    return Halide::select(isHidden(value), lowest, value);
  });
  const float log2e = 1.44269504f;
  // 2^-inf is 0, and no value is higher than the highest.
  auto weight = [=](const Expr &value, const Expr &highest) {
    return attn::exp2OfNegative((value - highest) * log2e);
  };
  TensorSource weights;
  weights.sizes = x.sizes;
  weights.load = [=](ArrayRef<Expr> indices) {
    return weight(x.load(indices), maximum.total(rowsOf(indices)));
  };
  auto sumOf = [&](const TensorSource &weights) {
    return reduce(RowReductionKind::Sum, weights,
                  [](Expr value) { return value; });
  };
  if (wantsLse) {
    RowReduction sum = sumOf(weights);
    TensorSource result;
    result.sizes.assign(x.sizes.begin(), x.sizes.end() - 1);
    result.load = [=](ArrayRef<Expr> indices) {
      std::vector<Expr> row(indices.rbegin(), indices.rend());
      Expr lse = maximum.total(row) + attn::log(sum.total(row));
      // As integers: fast-math may assume that no float is infinite or NaN.
      Expr bits = Halide::reinterpret<int32_t>(sum.total(row));
      return Halide::reinterpret<float>(
          Halide::select(sum.total(row) == 0.0f, kMinusInfinityBits,
                         (bits & 0x7fffffff) > kInfinityBits, bits,
                         Halide::reinterpret<int32_t>(lse)));
    };
    return result;
  }
  auto normalized = [&](const TensorSource &weights) {
    Expr total = sumOf(weights).total(own);
    Func inverse = scalar(x, Halide::strict_float(Halide::select(
                                 total == 0.0f, 0.0f, 1.0f / total)));
    TensorSource result;
    result.sizes = x.sizes;
    result.load = [=](ArrayRef<Expr> indices) {
      return weights.load(indices) * inverse(rowsOf(indices));
    };
    return result;
  };
  // The exponentials of a row are kept where they fit; of a longer row they are
  // computed for the sum and again for the result. The passes before and after
  // them do nothing but wait for memory: while exponentials are computed, the
  // lines of the rows that follow are asked for, and those of the result.
  TensorSource kept = weights;
  const TensorSource *argument = values.getTensor(op.getInput());
  bool isF32 = op.getInput().getType().getElementType().isF32();
  if (!plan.isGpu() && stored == op.getResult() && argument && isF32 &&
      x.sizes.size() > 1)
    kept.load = [=, source = *argument, rows = plan.group,
                 number = number](ArrayRef<Expr> indices) {
      SmallVector<Expr> next(indices);
      Expr &row = next[next.size() - 2];
      row = min(row + rows, source.sizes[next.size() - 2] - 1);
      Expr value = storeAhead(weights.load(indices), number,
                              {indices.rbegin(), indices.rend()});
      return readAhead(value, source.load(next), 1);
    };
  if (op.getInput().getType().getShape().back() != ShapedType::kDynamic)
    return normalized(keepRow(kept, op.getResult()));
  if (plan.isGpu()) // Shared memory has a fixed size.
    return normalized(weights);
  int columns = static_cast<int>(kStackBytes / 4 / plan.group);
  isNarrow = x.sizes.back() <= columns;
  TensorSource once = normalized(storeRow(kept, columns)),
               twice = normalized(weights), result;
  result.sizes = x.sizes;
  result.load = [=, isNarrow = isNarrow](ArrayRef<Expr> indices) {
    return Halide::select(isNarrow, once.load(indices), twice.load(indices));
  };
  return result;
}

FailureOr<TensorSource> RowwiseEmitter::emitPool(PoolOp op) {
  FailureOr<TensorSource> input = get(op.getInput());
  if (failed(input))
    return failure();
  if (!stages.empty())
    return op.emitOpError("not supported by the Halide target: expected a pool "
                          "of an argument or of element-wise operations, got "
                          "one of ")
           << op.getInput().getDefiningOp()->getName();
  TensorSource result;
  result.sizes = {input->sizes[0], input->sizes[2]};
  if (op.getKind() == PoolKind::Cls) {
    result.load = [input = *input](ArrayRef<Expr> indices) {
      return input.load({indices[0], Expr(0), indices[1]});
    };
    return result;
  }
  std::optional<TensorSource> mask;
  if (op.getMask()) {
    FailureOr<TensorSource> source = get(op.getMask());
    if (failed(source))
      return failure();
    mask = *source;
  }
  // Batch rows past the last one read it again.
  Var n("n"), b("r0");
  Expr batch = Halide::min(b, input->sizes[0] - 1);
  Halide::RDom s(0, input->sizes[1], "position");
  RowStage pool;
  pool.kind = RowStage::Kind::Pool;
  pool.func = Func("pooled" + std::to_string(count++));
  pool.position = s.x;
  pool.func(n, b) = 0.0f;
  Expr value = input->load({batch, Expr(s.x), Expr(n)});
  Expr total = Halide::cast<float>(input->sizes[1]);
  if (mask) {
    Expr shown = mask->load({batch, Expr(s.x)});
    Expr factor = Halide::cast<float>(shown);
    Expr isShown = shown.type().is_bool() ? shown : shown != 0;
    // Selected, not multiplied: a hidden NaN adds nothing.
    value = Halide::select(isShown, factor * value, 0.0f);
    RowStage weights;
    weights.kind = RowStage::Kind::Scalar;
    weights.func = Func("weights" + std::to_string(count++));
    weights.func(b) = 0.0f;
    weights.func(b) += factor;
    stages.push_back(weights);
    total = weights.func(b);
  }
  pool.func(n, b) += value;
  stages.push_back(pool);
  Func inverse = scalar(result, 1.0f / atLeast(total, 1e-9f));
  result.load = [inverse, func = pool.func](ArrayRef<Expr> indices) {
    return func(indices[1], indices[0]) * inverse(indices[0]);
  };
  return result;
}
