//===- AttnReify.cpp - result sizes in terms of operand sizes ---*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// For each dimension of each result of a graph or fused operation, the operand
// dimension that it is equal to. One table feeds two upstream interfaces:
// ReifyRankedShapedTypeOpInterface moves `tensor.dim` of a result to the
// arguments, ValueBoundsOpInterface compares sizes without changing the IR.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/IR/Attn.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace attn;

namespace {
/// An operand dimension.
struct SizeSource {
  Value value;
  int64_t dim;
};
/// The sizes of one result.
using ResultSizes = SmallVector<SizeSource>;
} // namespace

/// Stands for a size that the verifier demands to be static.
static const SizeSource isStatic = {Value(), 0};

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// The first `rank` dimensions of `value`.
static ResultSizes sizesLike(Value value, int64_t rank) {
  ResultSizes sizes;
  for (int64_t dim = 0; dim < rank; ++dim)
    sizes.push_back({value, dim});
  return sizes;
}

/// Most operations keep the shape of their first operand.
template <typename OpTy>
static SmallVector<ResultSizes> getResultSizes(OpTy op) {
  Value input = op->getOperand(0);
  return {sizesLike(input, cast<RankedTensorType>(input.getType()).getRank())};
}

static SmallVector<ResultSizes> getResultSizes(LinearOp op) {
  ResultSizes sizes =
      sizesLike(op.getInput(), op.getInput().getType().getRank() - 1);
  sizes.push_back({op.getWeight(), 0});
  return {sizes};
}

static SmallVector<ResultSizes> getResultSizes(SplitHeadsOp op) {
  bool isFirst = op.getLayout() == Layout::SBHD;
  SizeSource batch = {op.getInput(), isFirst},
             sequence = {op.getInput(), !isFirst};
  return {inLayout(op.getLayout(), batch, sequence, isStatic, isStatic)};
}

static SmallVector<ResultSizes> getResultSizes(MergeHeadsOp op) {
  SizeSource batch = {op.getInput(), batchDim(op.getLayout())},
             sequence = {op.getInput(), sequenceDim(op.getLayout())};
  if (op.getLayout() == Layout::SBHD)
    return {{sequence, batch, isStatic}};
  return {{batch, sequence, isStatic}};
}

static SmallVector<ResultSizes> scoresSizes(Value query, Value key,
                                            Layout layout) {
  return {{{query, batchDim(layout)},
           {query, headDim(layout)},
           {query, sequenceDim(layout)},
           {key, sequenceDim(layout)}}};
}

static SmallVector<ResultSizes> getResultSizes(ScoresOp op) {
  return scoresSizes(op.getQuery(), op.getKey(), op.getLayout());
}

static SmallVector<ResultSizes> getResultSizes(AdditiveScoresOp op) {
  return scoresSizes(op.getQuery(), op.getKey(), op.getLayout());
}

static SmallVector<ResultSizes> getResultSizes(SoftmaxOp op) {
  int64_t rank = op.getInput().getType().getRank();
  return {sizesLike(op.getInput(), rank), sizesLike(op.getInput(), rank - 1)};
}

static SmallVector<ResultSizes> getResultSizes(MixOp op) {
  SizeSource batch = {op.getWeights(), 0}, head = {op.getWeights(), 1},
             row = {op.getWeights(), 2}, channel = {op.getValue(), 3};
  return {inLayout(op.getLayout(), batch, row, head, channel)};
}

static SmallVector<ResultSizes> getResultSizes(EmbeddingOp op) {
  ResultSizes sizes = sizesLike(op.getIds(), op.getIds().getType().getRank());
  sizes.push_back({op.getTable(), 1});
  return {sizes};
}

static SmallVector<ResultSizes> getResultSizes(PoolOp op) {
  return {{{op.getInput(), 0}, {op.getInput(), 2}}};
}

static SmallVector<ResultSizes> getResultSizes(PackOp) {
  return {{isStatic, isStatic, isStatic}};
}

static SmallVector<ResultSizes> getResultSizes(AttentionOp op) {
  Value query = op.getQuery();
  return {{{query, 0}, {query, 1}, {query, 2}, {op.getValue(), 3}},
          {{query, batchDim(op.getLayout())},
           {query, headDim(op.getLayout())},
           {query, sequenceDim(op.getLayout())}}};
}

static SmallVector<ResultSizes> getResultSizes(MergeAttentionOp op) {
  return {sizesLike(op.getFirst(), 4), sizesLike(op.getFirstLse(), 3)};
}

static SmallVector<ResultSizes> getResultSizes(FusedLinearOp op) {
  return {{{op.getInput(), 0}, isStatic}};
}

//===----------------------------------------------------------------------===//
// The interfaces
//===----------------------------------------------------------------------===//

/// A size that the result's type states is a constant, whatever the operand's
/// type knows.
static LogicalResult reify(OpBuilder &builder, Operation *op,
                           ArrayRef<ResultSizes> table,
                           ReifiedRankedShapedTypeDims &dims) {
  for (OpResult result : op->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    ArrayRef<SizeSource> sources = table[result.getResultNumber()];
    // Of what stands in front only the caller knows the size.
    unsigned front = type.getRank() - sources.size();
    SmallVector<OpFoldResult> sizes(front);
    for (auto [dim, source] : llvm::enumerate(sources))
      if (!type.isDynamicDim(front + dim) || !source.value)
        sizes.push_back(builder.getIndexAttr(type.getDimSize(front + dim)));
      else
        sizes.push_back(tensor::getMixedSize(builder, op->getLoc(),
                                             source.value, source.dim));
    dims.push_back(std::move(sizes));
  }
  return success();
}

static void populateBounds(Value value, int64_t dim,
                           ArrayRef<ResultSizes> table,
                           ValueBoundsConstraintSet &constraints) {
  SizeSource source = table[cast<OpResult>(value).getResultNumber()][dim];
  if (source.value)
    constraints.bound(value)[dim] ==
        constraints.getExpr(source.value, source.dim);
}

#define ATTN_SIZES(OP)                                                         \
  LogicalResult OP::reifyResultShapes(OpBuilder &builder,                      \
                                      ReifiedRankedShapedTypeDims &dims) {     \
    return reify(builder, *this, getResultSizes(*this), dims);                 \
  }                                                                            \
  void OP::populateBoundsForShapedValueDim(                                    \
      Value value, int64_t dim, ValueBoundsConstraintSet &constraints) {       \
    populateBounds(value, dim, getResultSizes(*this), constraints);            \
  }
ATTN_SIZES(AdditiveScoresOp)
ATTN_SIZES(AlibiOp)
ATTN_SIZES(BiasOp)
ATTN_SIZES(CacheAppendOp)
ATTN_SIZES(EmbeddingOp)
ATTN_SIZES(FusedLinearOp)
ATTN_SIZES(L2NormalizeOp)
ATTN_SIZES(LayerNormOp)
ATTN_SIZES(RmsNormOp)
ATTN_SIZES(LearnedPositionsOp)
ATTN_SIZES(LinearOp)
ATTN_SIZES(MaskOp)
ATTN_SIZES(MergeAttentionOp)
ATTN_SIZES(MergeHeadsOp)
ATTN_SIZES(MixOp)
ATTN_SIZES(PackOp)
ATTN_SIZES(PoolOp)
ATTN_SIZES(RotaryOp)
ATTN_SIZES(ScoresOp)
ATTN_SIZES(SinusoidalOp)
ATTN_SIZES(SoftcapOp)
ATTN_SIZES(SoftmaxOp)
ATTN_SIZES(SplitHeadsOp)
ATTN_SIZES(T5BiasOp)
#undef ATTN_SIZES

OpFoldResult attn::countChunks(OpBuilder &builder, Location loc, AttentionOp op,
                               OpFoldResult keys) {
  int64_t chunk = *op.getChunk();
  auto index = [&](OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(builder, loc, size);
  };
  Value rounded = arith::AddIOp::create(builder, loc, index(keys),
                                        index(builder.getIndexAttr(chunk - 1)));
  return arith::DivUIOp::create(builder, loc, rounded,
                                index(builder.getIndexAttr(chunk)))
      .getResult();
}

/// ceil(M / chunk) parts, then the sizes of one.
LogicalResult
AttentionOp::reifyResultShapes(OpBuilder &builder,
                               ReifiedRankedShapedTypeDims &dims) {
  if (failed(reify(builder, *this, getResultSizes(*this), dims)))
    return failure();
  if (!getChunk())
    return success();
  for (auto [result, sizes] : llvm::zip(getResults(), dims)) {
    auto type = cast<RankedTensorType>(result.getType());
    sizes.front() =
        type.isDynamicDim(0)
            ? countChunks(builder, getLoc(), *this,
                          tensor::getMixedSize(builder, getLoc(), getKey(),
                                               sequenceDim(getLayout())))
            : OpFoldResult(builder.getIndexAttr(type.getDimSize(0)));
  }
  return success();
}

void AttentionOp::populateBoundsForShapedValueDim(
    Value value, int64_t dim, ValueBoundsConstraintSet &constraints) {
  int64_t parts = getChunk() ? 1 : 0;
  if (dim < parts) {
    constraints.bound(value)[dim] >= 0;
    return;
  }
  SizeSource source = getResultSizes(
      *this)[cast<OpResult>(value).getResultNumber()][dim - parts];
  constraints.bound(value)[dim] ==
      constraints.getExpr(source.value, source.dim);
}

void DimSizeOp::populateBoundsForIndexValue(
    Value value, ValueBoundsConstraintSet &constraints) {
  auto dim = SymbolTable::lookupNearestSymbolFrom<DimOp>(*this, getDimAttr());
  if (!dim)
    return;
  constraints.bound(value) >= int64_t(dim.getMin());
  constraints.bound(value) <= int64_t(dim.getMax());
}
