//===- SplitKeys.cpp - attn-split-keys -------------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// attn-split-keys: attention over chunks of the keys, side by side, and their
// merge. With o_c and L_c the result and the log-sum-exp over chunk c,
//
//   o = sum_c exp(L_c - L) o_c,   L = log(sum_c exp(L_c)),
//
// which is attention again: one key a chunk, with score L_c and value o_c.
//
//===----------------------------------------------------------------------===//

#include "HostSizes.h"
#include "attn/Dialect/IR/Attn.h"
#include "attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "attn-split-keys"

using namespace mlir;

namespace attn {
#define GEN_PASS_DEF_ATTNSPLITKEYSPASS
#include "attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace attn;

// Queries of a tile at least.
static constexpr int64_t tileQueries = 24;
// With more queries a chunk would do again what a query tile does once.
static constexpr int64_t maxQueries = 64;

namespace {

/// Splits the keys of one attention.
class Splitting {
public:
  Splitting(AttentionOp op, int64_t chunk, int64_t enoughTasks)
      : op(op), builder(op), loc(op.getLoc()), chunk(chunk),
        enoughTasks(enoughTasks), type(op.getResult().getType()) {}

  /// Whether splitting is possible and there is something to gain.
  bool pays();
  void run();

private:
  bool mayExceedChunk();
  AttentionOp splitAttention();
  AttentionOp merge(AttentionOp parts);
  void buildScore(AttentionOp merged, Type lseType, Value count);
  Value result(AttentionOp merged);
  Value lse(AttentionOp merged);

  /// The type with a dynamic first dimension in front.
  static RankedTensorType withParts(RankedTensorType part) {
    SmallVector<int64_t> shape(part.getShape());
    shape.insert(shape.begin(), ShapedType::kDynamic);
    return RankedTensorType::get(shape, part.getElementType());
  }

  AttentionOp op;
  OpBuilder builder;
  Location loc;
  int64_t chunk, enoughTasks;
  /// Of the result.
  RankedTensorType type;
  SmallVector<OpFoldResult> sizes;
};

} // namespace

/// Whether there may be more keys than a chunk has. A dim that has a name has a
/// range.
bool Splitting::mayExceedChunk() {
  OpFoldResult keys =
      hostSize(builder, loc, op.getKey(), sequenceDim(op.getLayout()));
  if (std::optional<int64_t> number = getConstantIntValue(keys))
    return *number > chunk;
  auto value = cast<Value>(keys);
  FailureOr<int64_t> most = ValueBoundsConstraintSet::computeConstantBound(
      presburger::BoundType::UB, value, /*stopCondition=*/nullptr,
      /*closedUB=*/true);
  if (Operation *made = value.getDefiningOp(); isOpTriviallyDead(made))
    made->erase();
  return failed(most) || *most > chunk;
}

bool Splitting::pays() {
  Layout layout = op.getLayout();
  int64_t queries = type.getDimSize(sequenceDim(layout));
  int64_t heads = type.getDimSize(headDim(layout));
  return queries >= 1 && queries <= maxQueries &&
         heads * llvm::divideCeilSigned(queries, tileQueries) < enoughTasks &&
         !op.getSinks() && !op.getChunk() && !op.getKeyRanges() &&
         mayExceedChunk();
}

/// The attention with results of chunks.
AttentionOp Splitting::splitAttention() {
  Type compute = getComputeType(op.getQuery().getType().getElementType());
  Layout layout = op.getLayout();
  auto partLse = RankedTensorType::get({type.getDimSize(batchDim(layout)),
                                        type.getDimSize(headDim(layout)),
                                        type.getDimSize(sequenceDim(layout))},
                                       compute);
  // Parts are rounded once, when they are merged.
  auto part = RankedTensorType::get(type.getShape(), compute);
  auto parts = AttentionOp::create(
      builder, loc, withParts(part), withParts(partLse), op.getQuery(),
      op.getKey(), op.getValue(), op.getScale(), op.getSinks(),
      op.getCaptures(), layout, builder.getI64IntegerAttr(chunk),
      op.getKeyRangesAttr());
  for (auto [to, from] : llvm::zip(parts->getRegions(), op->getRegions()))
    to.takeBody(from);
  return parts;
}

/// Puts the log-sum-exp of chunk j in the place of the score. The batch index
/// of the merge is that of two dimensions.
void Splitting::buildScore(AttentionOp merged, Type lseType, Value count) {
  Layout layout = op.getLayout();
  OpBuilder::InsertionGuard guard(builder);
  Type index = builder.getIndexType();
  Block *block = builder.createBlock(&merged.getScore(), {},
                                     {merged.getScale().getType(), index, index,
                                      index, index, lseType, count.getType()},
                                     SmallVector<Location>(7, loc));
  Value batch = block->getArgument(1), head = block->getArgument(2),
        part = block->getArgument(4), size = block->getArgument(6);
  Value first = arith::DivUIOp::create(builder, loc, batch, size);
  Value second = arith::RemUIOp::create(builder, loc, batch, size);
  SmallVector<Value> indices = {part};
  for (unsigned dim : {batchDim(layout), headDim(layout), sequenceDim(layout)})
    indices.push_back(dim == 0 ? first : dim == 1 ? second : head);
  Value score =
      tensor::ExtractOp::create(builder, loc, block->getArgument(5), indices);
  YieldOp::create(builder, loc, score);
}

/// The first two dimensions of a part are the batch of the merge, the third its
/// heads; its one query is the same for all.
AttentionOp Splitting::merge(AttentionOp parts) {
  Value values = tensor::CollapseShapeOp::create(
      builder, loc, parts.getResult(),
      SmallVector<ReassociationIndices>{{0}, {1, 2}, {3}, {4}});
  auto valueType = cast<RankedTensorType>(values.getType());
  SmallVector<OpFoldResult> querySizes = hostSizes(builder, loc, values);
  querySizes[0] = builder.getIndexAttr(1);
  Value query = tensor::EmptyOp::create(builder, loc, querySizes,
                                        valueType.getElementType());
  auto resultType =
      RankedTensorType::get({1, valueType.getDimSize(1),
                             valueType.getDimSize(2), valueType.getDimSize(3)},
                            type.getElementType());
  Type lseType;
  if (op.getLse())
    lseType = RankedTensorType::get(
        {valueType.getDimSize(1), valueType.getDimSize(2), 1},
        op.getLse().getType().getElementType());
  Type compute = valueType.getElementType();
  Value one = arith::ConstantOp::create(builder, loc, compute,
                                        builder.getFloatAttr(compute, 1.0));
  // Positions of the second of the two dimensions.
  Value count = getValueOrCreateConstantIndexOp(builder, loc, sizes[1]);
  auto merged = AttentionOp::create(
      builder, loc, resultType, lseType, query, values, values, one, Value(),
      ValueRange{parts.getLse(), count}, Layout::SBHD, IntegerAttr(),
      KeyRangesAttr());
  buildScore(merged, parts.getLse().getType(), count);
  return merged;
}

Value Splitting::result(AttentionOp merged) {
  Value rows = tensor::CollapseShapeOp::create(
      builder, loc, merged.getResult(),
      SmallVector<ReassociationIndices>{{0, 1}, {2}, {3}});
  return tensor::ExpandShapeOp::create(
      builder, loc, type, rows,
      SmallVector<ReassociationIndices>{{0, 1}, {2}, {3}}, sizes);
}

/// (first * second, third, 1) to (B, H, N).
Value Splitting::lse(AttentionOp merged) {
  Layout layout = op.getLayout();
  RankedTensorType target = op.getLse().getType();
  Value flat = tensor::CollapseShapeOp::create(
      builder, loc, merged.getLse(),
      SmallVector<ReassociationIndices>{{0}, {1, 2}});
  SmallVector<int64_t> shape(type.getShape().drop_back());
  auto expandedType = RankedTensorType::get(shape, target.getElementType());
  Value parts = tensor::ExpandShapeOp::create(
      builder, loc, expandedType, flat,
      SmallVector<ReassociationIndices>{{0, 1}, {2}},
      ArrayRef(sizes).drop_back());
  SmallVector<int64_t> order = {batchDim(layout), headDim(layout),
                                sequenceDim(layout)};
  if (llvm::is_sorted(order))
    return parts;
  SmallVector<OpFoldResult> moved;
  for (int64_t dim : order)
    moved.push_back(sizes[dim]);
  Value init =
      tensor::EmptyOp::create(builder, loc, moved, target.getElementType());
  return linalg::TransposeOp::create(builder, loc, parts, init, order)
      .getResult()[0];
}

void Splitting::run() {
  sizes = hostSizes(builder, loc, op.getResult());
  AttentionOp parts = splitAttention();
  AttentionOp merged = merge(parts);
  SmallVector<Value> results = {result(merged)};
  if (op.getLse())
    results.push_back(lse(merged));
  op->replaceAllUsesWith(results);
  op.erase();
}

namespace {
struct AttnSplitKeysPass final
    : attn::impl::AttnSplitKeysPassBase<AttnSplitKeysPass> {
  using AttnSplitKeysPassBase::AttnSplitKeysPassBase;

  void runOnOperation() override {
    if (chunk < 1) {
      emitError(getOperation().getLoc())
          << "expected chunk >= 1, got " << int64_t(chunk);
      return signalPassFailure();
    }
    if (tasks < 0) {
      emitError(getOperation().getLoc())
          << "expected tasks >= 0, got " << int64_t(tasks);
      return signalPassFailure();
    }
    SmallVector<AttentionOp> ops;
    getOperation().walk([&](AttentionOp op) { ops.push_back(op); });
    for (AttentionOp op : ops) {
      Splitting splitting(op, chunk, tasks);
      if (!splitting.pays())
        continue;
      remark::passed(op.getLoc(), remark::RemarkOpts::name("keys-split")
                                      .category(DEBUG_TYPE)
                                      .function(getOperation().getSymName()))
          << remark::add("chunks of keys run side by side and are merged");
      splitting.run();
    }
  }
};
} // namespace
