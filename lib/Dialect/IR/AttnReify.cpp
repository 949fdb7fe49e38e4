//===- AttnReify.cpp - result sizes in terms of operand sizes -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// ReifyRankedShapedTypeOpInterface of the graph and fused operations: for each
// dimension of each result, the operand dimension it is equal to. Upstream
// patterns use it to move `tensor.dim` of a result to the arguments.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/IR/Attn.h"

using namespace mlir;
using namespace attn;

namespace {

/// An operand dimension.
struct SizeSource {
  Value value;
  int64_t dim;
};

/// Collects the sizes of one operation's results. A size that the result's
/// type states is a constant, whatever the operand's type knows.
class Reifier {
public:
  Reifier(OpBuilder &builder, Operation *op, ReifiedRankedShapedTypeDims &dims)
      : builder(builder), op(op), dims(dims) {}

  /// The sizes of the next result.
  void result(ArrayRef<SizeSource> sources) {
    auto type = cast<RankedTensorType>(op->getResult(dims.size()).getType());
    SmallVector<OpFoldResult> sizes;
    for (auto [dim, source] : llvm::enumerate(sources)) {
      if (!type.isDynamicDim(dim) || !source.value)
        sizes.push_back(builder.getIndexAttr(type.getDimSize(dim)));
      else
        sizes.push_back(tensor::getMixedSize(builder, op->getLoc(),
                                             source.value, source.dim));
    }
    dims.push_back(std::move(sizes));
  }

  /// The next result has the sizes of the first `rank` dimensions of `value`.
  void resultLike(Value value, int64_t rank) {
    SmallVector<SizeSource> sources;
    for (int64_t dim = 0; dim < rank; ++dim)
      sources.push_back({value, dim});
    result(sources);
  }

private:
  OpBuilder &builder;
  Operation *op;
  ReifiedRankedShapedTypeDims &dims;
};

} // namespace

/// Stands for a size that the verifier demands to be static.
static const SizeSource isStatic = {Value(), 0};

/// For operations whose result has the shape of their first operand.
static LogicalResult reifyLikeInput(OpBuilder &builder, Operation *op,
                                    ReifiedRankedShapedTypeDims &dims) {
  Value input = op->getOperand(0);
  Reifier(builder, op, dims)
      .resultLike(input, cast<RankedTensorType>(input.getType()).getRank());
  return success();
}

#define ATTN_REIFY_LIKE_INPUT(OP)                                              \
  LogicalResult OP::reifyResultShapes(OpBuilder &builder,                      \
                                      ReifiedRankedShapedTypeDims &dims) {     \
    return reifyLikeInput(builder, *this, dims);                               \
  }
ATTN_REIFY_LIKE_INPUT(BiasOp)
ATTN_REIFY_LIKE_INPUT(L2NormalizeOp)
ATTN_REIFY_LIKE_INPUT(LayerNormOp)
ATTN_REIFY_LIKE_INPUT(LearnedPositionsOp)
ATTN_REIFY_LIKE_INPUT(MaskOp)
ATTN_REIFY_LIKE_INPUT(SinusoidalOp)
#undef ATTN_REIFY_LIKE_INPUT

LogicalResult LinearOp::reifyResultShapes(OpBuilder &builder,
                                          ReifiedRankedShapedTypeDims &dims) {
  SmallVector<SizeSource> sources;
  for (int64_t dim = 0; dim + 1 < getInput().getType().getRank(); ++dim)
    sources.push_back({getInput(), dim});
  sources.push_back({getWeight(), 0});
  Reifier(builder, *this, dims).result(sources);
  return success();
}

LogicalResult
SplitHeadsOp::reifyResultShapes(OpBuilder &builder,
                                ReifiedRankedShapedTypeDims &dims) {
  SizeSource batch = {getInput(), 0}, sequence = {getInput(), 1};
  Reifier reifier(builder, *this, dims);
  if (getLayout() == Layout::BSHD)
    reifier.result({batch, sequence, isStatic, isStatic});
  else
    reifier.result({batch, isStatic, sequence, isStatic});
  return success();
}

LogicalResult
MergeHeadsOp::reifyResultShapes(OpBuilder &builder,
                                ReifiedRankedShapedTypeDims &dims) {
  Reifier(builder, *this, dims)
      .result(
          {{getInput(), 0}, {getInput(), sequenceDim(getLayout())}, isStatic});
  return success();
}

LogicalResult ScoresOp::reifyResultShapes(OpBuilder &builder,
                                          ReifiedRankedShapedTypeDims &dims) {
  Reifier(builder, *this, dims)
      .result({{getQuery(), 0},
               {getQuery(), headDim(getLayout())},
               {getQuery(), sequenceDim(getLayout())},
               {getKey(), sequenceDim(getLayout())}});
  return success();
}

LogicalResult SoftmaxOp::reifyResultShapes(OpBuilder &builder,
                                           ReifiedRankedShapedTypeDims &dims) {
  int64_t rank = getInput().getType().getRank();
  Reifier reifier(builder, *this, dims);
  reifier.resultLike(getInput(), rank);
  if (getLse())
    reifier.resultLike(getInput(), rank - 1);
  return success();
}

LogicalResult MixOp::reifyResultShapes(OpBuilder &builder,
                                       ReifiedRankedShapedTypeDims &dims) {
  SizeSource batch = {getWeights(), 0}, head = {getWeights(), 1},
             row = {getWeights(), 2}, channel = {getValue(), 3};
  Reifier reifier(builder, *this, dims);
  if (getLayout() == Layout::BSHD)
    reifier.result({batch, row, head, channel});
  else
    reifier.result({batch, head, row, channel});
  return success();
}

LogicalResult
EmbeddingOp::reifyResultShapes(OpBuilder &builder,
                               ReifiedRankedShapedTypeDims &dims) {
  SmallVector<SizeSource> sources;
  for (int64_t dim = 0; dim < getIds().getType().getRank(); ++dim)
    sources.push_back({getIds(), dim});
  sources.push_back({getTable(), 1});
  Reifier(builder, *this, dims).result(sources);
  return success();
}

LogicalResult PoolOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &dims) {
  Reifier(builder, *this, dims).result({{getInput(), 0}, {getInput(), 2}});
  return success();
}

LogicalResult PackOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &dims) {
  Reifier(builder, *this, dims).result({isStatic, isStatic, isStatic});
  return success();
}

LogicalResult
AttentionOp::reifyResultShapes(OpBuilder &builder,
                               ReifiedRankedShapedTypeDims &dims) {
  Reifier reifier(builder, *this, dims);
  reifier.result(
      {{getQuery(), 0}, {getQuery(), 1}, {getQuery(), 2}, {getValue(), 3}});
  if (getLse())
    reifier.result({{getQuery(), 0},
                    {getQuery(), headDim(getLayout())},
                    {getQuery(), sequenceDim(getLayout())}});
  return success();
}

LogicalResult
FusedLinearOp::reifyResultShapes(OpBuilder &builder,
                                 ReifiedRankedShapedTypeDims &dims) {
  // Packed panels do not tell N, only an upper bound of it.
  SizeSource channels = isStatic;
  if (getWeight().getType().getRank() == 2)
    channels = {getWeight(), 0};
  Reifier(builder, *this, dims).result({{getInput(), 0}, channels});
  return success();
}
