//===- RuleInliner.h - rules of attention as arithmetic --------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every operation between queries and weights says something about one pair, in
// terms of b, h, i and j. Here it says so in arith, inside the regions of an
// attention. After this a typed rule and one that a user wrote by hand are the
// same thing.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TRANSFORMS_RULEINLINER_H
#define ATTN_LIB_TRANSFORMS_RULEINLINER_H

#include "AttentionRegions.h"
#include "BroadcastDims.h"

namespace attn {

/// A dimension of a tensor outside.
struct TensorDim {
  mlir::Value tensor;
  unsigned dim;
};

/// What all rules of one attention share.
struct RuleContext {
  /// Stands in front of the attention.
  mlir::OpBuilder &outside;
  AttentionRegions &regions;
  /// Tensors that have the sizes N and M.
  TensorDim queries, keys;
  const BroadcastDims &broadcasts;
};

/// Adds the rule of an attn.mask to the regions: a condition, and for a float
/// `dense` mask its summand. `score` is the score that it masks; returns its
/// result.
mlir::Value inlineMask(RuleContext &context, MaskOp op, mlir::Value score);

/// Whether an operation is a rule that changes scores, and its result in the
/// score region.
bool isScoreRule(mlir::Operation *op);
mlir::Value inlineScoreRule(RuleContext &context, mlir::Operation *op,
                            mlir::Value score);

/// The smallest distances of the far buckets of attn.t5_bias but the first, of
/// `buckets` on one side.
llvm::SmallVector<int64_t> getT5Bounds(int64_t buckets, int64_t farthest);

/// Adds what scores or a mix are computed by, where that is not the product.
void inlineCombine(RuleContext &context, ScoresOp op);
void inlineCombine(RuleContext &context, AdditiveScoresOp op);
void inlineValue(RuleContext &context, MixOp op);

/// The parts that rules are made of. Everything is created at the end of the
/// region that is named first.
class RuleInliner {
protected:
  using Side = AttentionRegions::Side;

  RuleInliner(RuleContext &context, mlir::Operation *op)
      : context(context), regions(context.regions), loc(op->getLoc()) {}

  static mlir::Value index(Side &side, mlir::Location loc, int64_t value);
  mlir::Value index(Side &side, int64_t value) {
    return index(side, loc, value);
  }

  /// i + shift, where shift is what the alignment says; `offsets` is the
  /// capture that `offset` reads.
  mlir::Value aligned(Side &side, Alignment alignment,
                      std::optional<unsigned> offsets);
  /// j - i - shift.
  mlir::Value distance(Side &side, Alignment alignment,
                       std::optional<unsigned> offsets);
  /// An index, kept between `low` and `high`, minus `low`.
  mlir::Value clip(Side &side, mlir::Value value, int64_t low, int64_t high);

  /// A size from outside.
  mlir::Value size(Side &side, TensorDim dim);

  /// The element of a captured tensor.
  mlir::Value load(Side &side, unsigned capture, mlir::ValueRange indices);
  /// The same as an index, or as a number of the compute type.
  mlir::Value loadIndex(Side &side, unsigned capture, mlir::ValueRange indices);
  mlir::Value loadNumber(Side &side, unsigned capture,
                         mlir::ValueRange indices);
  mlir::Value toCompute(Side &side, mlir::Value number);

  /// The indices at which an operand that broadcasts is read for a pair. Of a
  /// last dimension that may be short, `inside` is null or when the position
  /// lies in it.
  llvm::SmallVector<mlir::Value>
  broadcastIndices(Side &side, mlir::OpOperand &operand, mlir::Value *inside);

  RuleContext &context;
  AttentionRegions &regions;
  mlir::Location loc;

private:
  mlir::Value addKeysMinusQueries(Side &side, mlir::Value bound);

  /// Sizes that are captured already.
  llvm::SmallVector<std::pair<TensorDim, unsigned>> sizes;
};

} // namespace attn

#endif // ATTN_LIB_TRANSFORMS_RULEINLINER_H
