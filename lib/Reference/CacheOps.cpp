//===- CacheOps.cpp - positions and earlier keys ----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The formulas of AttnCacheOps.td, loop by loop.
//
//===----------------------------------------------------------------------===//

#include "EvaluatorImpl.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::reference;

/// The index along a batch dimension that may be 1 for all rows.
static int64_t broadcastBatch(const Tensor &tensor, int64_t b) {
  return tensor.size(0) == 1 ? 0 : b;
}

static llvm::Expected<Tensor> evaluateOp(RotaryOp op, Operands operands) {
  const Tensor &cos = *operands[1], &sin = *operands[2];
  const Tensor *positions = op.getPositions() ? operands[3].get() : nullptr;
  HeadView in(*operands[0], op.getLayout());
  Tensor result = *operands[0];
  HeadView out(result, op.getLayout());
  int64_t pairs = cos.shape.back();
  bool half = op.getForm() == RotaryForm::Half;
  for (int64_t b = 0; b < in.batches(); ++b)
    for (int64_t s = 0; s < in.length(); ++s) {
      // The row of the tables.
      SmallVector<int64_t, 3> at = {s, 0};
      if (positions) {
        at[0] = positions->integer({broadcastBatch(*positions, b), s});
        if (at[0] < 0 || at[0] >= cos.size(0))
          return makeError(op, "expected 0 <= position < " +
                                   llvm::Twine(cos.size(0)) +
                                   " (because the tables have that many "
                                   "rows), got " +
                                   llvm::Twine(at[0]));
      } else if (cos.rank() == 3) {
        at.insert(at.begin(), broadcastBatch(cos, b));
      }
      for (int64_t c = 0; c < pairs; ++c) {
        at.back() = c;
        double cosine = cos.number(at), sine = sin.number(at);
        int64_t first = half ? c : 2 * c, second = half ? c + pairs : 2 * c + 1;
        for (int64_t h = 0; h < in.heads(); ++h) {
          double x = in(b, h, s, first), y = in(b, h, s, second);
          out(b, h, s, first) = x * cosine - y * sine;
          out(b, h, s, second) = x * sine + y * cosine;
        }
      }
    }
  return result;
}

static llvm::Expected<Tensor> evaluateOp(CacheAppendOp op, Operands operands) {
  Tensor result = *operands[0];
  HeadView cache(result, op.getLayout());
  HeadView update(*operands[1], op.getLayout());
  for (int64_t b = 0; b < cache.batches(); ++b) {
    int64_t length = operands[2]->integer({b});
    int64_t room = cache.length() - update.length();
    if (length < 0 || length > room)
      return makeError(op, "expected 0 <= length <= " + llvm::Twine(room) +
                               " (because the cache has room for " +
                               llvm::Twine(cache.length()) +
                               " positions), got " + llvm::Twine(length) +
                               " in batch row " + llvm::Twine(b));
    for (int64_t s = 0; s < update.length(); ++s)
      for (int64_t g = 0; g < cache.heads(); ++g)
        for (int64_t d = 0; d < cache.channels(); ++d)
          cache(b, g, length + s, d) = update(b, g, s, d);
  }
  return result;
}

static Results evaluateOp(MergeAttentionOp op, Operands operands) {
  HeadView first(*operands[0], op.getLayout());
  HeadView second(*operands[2], op.getLayout());
  Tensor result = Tensor::zeros(Tensor::Kind::F64, operands[0]->shape);
  Tensor lse = Tensor::zeros(Tensor::Kind::F64, operands[1]->shape);
  HeadView out(result, op.getLayout());
  for (int64_t b = 0; b < out.batches(); ++b)
    for (int64_t h = 0; h < out.heads(); ++h)
      for (int64_t i = 0; i < out.length(); ++i) {
        // The softmax of the two log-sum-exps are the weights of the parts.
        double parts[] = {operands[1]->number({b, h, i}),
                          operands[3]->number({b, h, i})};
        double weights[2];
        lse.number({b, h, i}) = softmaxRow(parts, weights);
        for (int64_t d = 0; d < out.channels(); ++d) {
          if (weights[0] != 0.0)
            out(b, h, i, d) += weights[0] * first(b, h, i, d);
          if (weights[1] != 0.0)
            out(b, h, i, d) += weights[1] * second(b, h, i, d);
        }
      }
  Results results;
  results.push_back(std::move(result));
  results.push_back(std::move(lse));
  return results;
}

FamilyResult reference::evaluateCacheOp(Operation *op, Operands operands) {
  return llvm::TypeSwitch<Operation *, FamilyResult>(op)
      .Case<RotaryOp, CacheAppendOp>(
          [&](auto op) { return oneResult(evaluateOp(op, operands)); })
      .Case<MergeAttentionOp>(
          [&](MergeAttentionOp op) { return evaluateOp(op, operands); })
      .Default([](Operation *) { return std::nullopt; });
}
