//===- FoldHeads.cpp - attn-fold-heads -------------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// attn-fold-heads: with few queries, as in decoding, a tile of one head has
// mostly empty rows, and each query head of a group reads the keys and values
// of that group again. The heads of a group become rows of one head: row r * N
// + i is query i of the group's head r. Keys and values are then read once.
//
//===----------------------------------------------------------------------===//

#include "HostSizes.h"
#include "attn/Dialect/IR/Attn.h"
#include "attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"

#define DEBUG_TYPE "attn-fold-heads"

using namespace mlir;

namespace attn {
#define GEN_PASS_DEF_ATTNFOLDHEADSPASS
#include "attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace attn;

// A tile holds 24 rows or more. With more queries than this most of it is used
// without folding.
static constexpr int64_t maxQueries = 16;

namespace {

/// Folds the heads of one attention. In the names of dimensions, R is the
/// number of query heads that share a key head.
class Folding {
public:
  explicit Folding(AttentionOp op)
      : op(op), builder(op), loc(op.getLoc()),
        sequence(sequenceDim(op.getLayout())), heads(headDim(op.getLayout())),
        groups(op.getKey().getType().getDimSize(heads)),
        share(op.getQuery().getType().getDimSize(heads) / groups),
        queries(op.getQuery().getType().getDimSize(sequence)) {}

  /// Whether folding is possible and saves anything.
  bool pays() {
    return share > 1 && queries >= 1 && queries <= maxQueries &&
           !op.getSinks() && !op.getKeyRanges() && !op.getChunk();
  }

  void run() {
    op.getQueryMutable().assign(fold(op.getQuery()));
    for (Region *region :
         {&op.getCombine(), &op.getScore(), &op.getMask(), &op.getValues()})
      if (!region->empty())
        unfoldPosition(region->front(), region);
    replaceResult();
    if (op.getLse())
      replaceLse();
  }

private:
  OpFoldResult number(int64_t value) { return builder.getIndexAttr(value); }

  /// Where `heads` of a tensor of rank 4 is split into (G, R): the dimensions
  /// from its own on move by one.
  static SmallVector<ReassociationIndices> splitGroups(unsigned rank,
                                                       unsigned dim) {
    SmallVector<ReassociationIndices> result(rank);
    for (unsigned d = 0; d < rank; ++d) {
      result[d].push_back(d + (d > dim));
      if (d == dim)
        result[d].push_back(d + 1);
    }
    return result;
  }

  /// Splits a dimension of `outer` * `inner`.
  Value split(Value tensor, unsigned dim, int64_t outer, int64_t inner) {
    auto type = cast<RankedTensorType>(tensor.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = outer;
    shape.insert(shape.begin() + dim + 1, inner);
    SmallVector<OpFoldResult> sizes = hostSizes(builder, loc, tensor);
    sizes[dim] = number(outer);
    sizes.insert(sizes.begin() + dim + 1, number(inner));
    return tensor::ExpandShapeOp::create(
        builder, loc, type.clone(shape), tensor,
        splitGroups(type.getRank(), dim), sizes);
  }

  /// Joins dimensions `dim` and `dim` + 1.
  Value join(Value tensor, unsigned dim) {
    unsigned rank = cast<RankedTensorType>(tensor.getType()).getRank();
    return tensor::CollapseShapeOp::create(builder, loc, tensor,
                                           splitGroups(rank - 1, dim));
  }

  /// Moves a dimension by moving data: the few queries and results.
  Value move(Value tensor, unsigned from, unsigned to) {
    if (from == to)
      return tensor;
    SmallVector<int64_t> order;
    auto type = cast<RankedTensorType>(tensor.getType());
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (d != from)
        order.push_back(d);
    order.insert(order.begin() + to, from);
    SmallVector<OpFoldResult> sizes = hostSizes(builder, loc, tensor), moved;
    for (int64_t d : order)
      moved.push_back(sizes[d]);
    Value init =
        tensor::EmptyOp::create(builder, loc, moved, type.getElementType());
    return linalg::TransposeOp::create(builder, loc, tensor, init, order)
        .getResult()[0];
  }

  Value fold(Value tensor) {
    Value parts = split(tensor, heads, groups, share);
    // R, behind G, goes in front of the sequence.
    return join(move(parts, heads + 1, sequence), sequence);
  }

  Value unfold(Value tensor) {
    Value parts = split(tensor, sequence, share, queries);
    return join(move(parts, sequence, heads + 1), heads);
  }

  /// A region now gets the group as its head and the row as its query.
  void unfoldPosition(Block &block, Region *region) {
    // Arguments in front of (b, h, i, j): the numbers that are combined.
    unsigned before = region == &op.getCombine() ? 2
                      : region == &op.getMask()  ? 0
                                                 : 1;
    BlockArgument group = block.getArgument(before + 1);
    BlockArgument row = block.getArgument(before + 2);
    OpBuilder inner = OpBuilder::atBlockBegin(&block);
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(inner, loc, value);
    };
    Value member = row, query;
    llvm::SmallPtrSet<Operation *, 4> own;
    if (queries == 1) {
      query = index(0);
    } else {
      Value count = index(queries);
      member = arith::DivUIOp::create(inner, loc, row, count);
      query = arith::RemUIOp::create(inner, loc, row, count);
      own.insert(member.getDefiningOp());
      own.insert(query.getDefiningOp());
    }
    Value first = arith::MulIOp::create(inner, loc, group, index(share));
    Value head = arith::AddIOp::create(inner, loc, first, member);
    own.insert(first.getDefiningOp());
    own.insert(head.getDefiningOp());
    group.replaceAllUsesExcept(head, own);
    row.replaceAllUsesExcept(query, own);
  }

  /// All uses that a value has before `make` makes something of it.
  static void replaceAll(Value value, llvm::function_ref<Value()> make) {
    SmallVector<OpOperand *> uses =
        llvm::to_vector(llvm::make_pointer_range(value.getUses()));
    Value made = make();
    for (OpOperand *use : uses)
      use->set(made);
  }

  void replaceResult() {
    TypedValue<RankedTensorType> result = op.getResult();
    SmallVector<int64_t> shape(result.getType().getShape());
    shape[heads] = groups;
    shape[sequence] = share * queries;
    result.setType(result.getType().clone(shape));
    builder.setInsertionPointAfter(op);
    replaceAll(result, [&] { return unfold(result); });
  }

  /// (B, G, R * N) to (B, H, N).
  void replaceLse() {
    TypedValue<RankedTensorType> lse = op.getLse();
    SmallVector<int64_t> shape(lse.getType().getShape());
    shape[1] = groups;
    shape[2] = share * queries;
    lse.setType(lse.getType().clone(shape));
    builder.setInsertionPointAfter(op);
    replaceAll(lse, [&] { return join(split(lse, 2, share, queries), 1); });
  }

  AttentionOp op;
  OpBuilder builder;
  Location loc;
  unsigned sequence, heads;
  int64_t groups, share, queries;
};

struct AttnFoldHeadsPass final
    : attn::impl::AttnFoldHeadsPassBase<AttnFoldHeadsPass> {
  using AttnFoldHeadsPassBase::AttnFoldHeadsPassBase;

  void runOnOperation() override {
    SmallVector<AttentionOp> ops;
    getOperation().walk([&](AttentionOp op) { ops.push_back(op); });
    for (AttentionOp op : ops) {
      Folding folding(op);
      if (!folding.pays())
        continue;
      remark::passed(op.getLoc(), remark::RemarkOpts::name("heads-folded")
                                      .category(DEBUG_TYPE)
                                      .function(getOperation().getSymName()))
          << remark::add("the heads of a group are rows of one tile: keys and "
                         "values are read once");
      folding.run();
    }
  }
};

} // namespace
