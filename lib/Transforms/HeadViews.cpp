//===- HeadViews.cpp - heads and rows as views -----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Splitting a row of H * D channels into heads moves no data in layout bshd: it
// is a reshape. Nor does taking (B, S, K) as (B * S, K). Kernels take any
// strides, so these stay views in the host function.
//
//===----------------------------------------------------------------------===//

#include "HostSizes.h"
#include "LinearSteps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// (B, H, S, D) to (B, S, H, D) or back, of a type.
static RankedTensorType swapHeads(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  std::swap(shape[1], shape[2]);
  return tensor.clone(shape);
}

/// Lets captured sizes of the former query, key and value be those of the new
/// ones.
static void moveSizes(AttentionOp op, ArrayRef<Value> before) {
  OpBuilder builder(op);
  for (OpOperand &capture : op.getCapturesMutable()) {
    auto size = capture.get().getDefiningOp<tensor::DimOp>();
    if (!size || !size.getConstantIndex())
      continue;
    auto *source = llvm::find(before, size.getSource());
    if (source == before.end())
      continue;
    const int64_t swapped[] = {0, 2, 1, 3};
    capture.set(tensor::DimOp::create(builder, size.getLoc(),
                                      op->getOperand(source - before.begin()),
                                      swapped[*size.getConstantIndex()]));
    if (isOpTriviallyDead(size))
      size.erase();
  }
}

void attn::preferBshd(func::FuncOp func) {
  func.walk([](AttentionOp op) {
    if (op.getLayout() != Layout::BHSD)
      return;
    SmallVector<SplitHeadsOp> splits;
    for (Value operand : {op.getQuery(), op.getKey(), op.getValue()}) {
      auto split = operand.getDefiningOp<SplitHeadsOp>();
      if (!split || split.getLayout() != Layout::BHSD)
        return;
      splits.push_back(split);
    }
    for (Operation *user : op.getResult().getUsers())
      if (!isa<MergeHeadsOp>(user))
        return;

    // New splits, in case that the old ones have other users.
    auto bshd = LayoutAttr::get(op.getContext(), Layout::BSHD);
    OpBuilder builder(op);
    SmallVector<Value> before =
        llvm::to_vector(op->getOperands().take_front(3));
    for (auto [number, split] : llvm::enumerate(splits))
      op->setOperand(number, SplitHeadsOp::create(builder, split.getLoc(),
                                                  swapHeads(split.getType()),
                                                  split.getInput(),
                                                  split.getHeadsAttr(), bshd));
    moveSizes(op, before);
    for (SplitHeadsOp split :
         llvm::SmallSetVector<SplitHeadsOp, 3>(splits.begin(), splits.end()))
      if (isOpTriviallyDead(split))
        split.erase();
    op.setLayoutAttr(bshd);
    op.getResult().setType(swapHeads(op.getResult().getType()));
    for (Operation *user : op.getResult().getUsers())
      cast<MergeHeadsOp>(user).setLayoutAttr(bshd);
  });
}

/// Swaps dimensions 1 and 2 by moving data.
static Value transpose(OpBuilder &builder, Location loc, Value value) {
  SmallVector<OpFoldResult> sizes = hostSizes(builder, loc, value);
  std::swap(sizes[1], sizes[2]);
  Value init = tensor::EmptyOp::create(
      builder, loc, sizes,
      cast<RankedTensorType>(value.getType()).getElementType());
  return linalg::TransposeOp::create(builder, loc, value, init,
                                     ArrayRef<int64_t>{0, 2, 1, 3})
      .getResult()[0];
}

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

/// The groups of (B, S, H * D) in (B, S, H, D).
static SmallVector<ReassociationIndices> headGroups() {
  return {{0}, {1}, {2, 3}};
}

static void lower(SplitHeadsOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> input = hostSizes(builder, loc, op.getInput());
  auto type = cast<RankedTensorType>(op.getType());
  bool swapped = op.getLayout() == Layout::BHSD;
  SmallVector<OpFoldResult> sizes = {input[0], input[1],
                                     builder.getIndexAttr(op.getHeads()),
                                     builder.getIndexAttr(type.getDimSize(3))};
  Value heads = tensor::ExpandShapeOp::create(
      builder, loc, swapped ? swapHeads(type) : type, op.getInput(),
      headGroups(), sizes);
  op.getResult().replaceAllUsesWith(swapped ? transpose(builder, loc, heads)
                                            : heads);
  op.erase();
}

static void lower(MergeHeadsOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value heads = op.getInput();
  if (op.getLayout() == Layout::BHSD)
    heads = transpose(builder, loc, heads);
  op.getResult().replaceAllUsesWith(tensor::CollapseShapeOp::create(
      builder, loc, op.getType(), heads, headGroups()));
  op.erase();
}

void attn::lowerHeads(func::FuncOp func) {
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (isa<SplitHeadsOp, MergeHeadsOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    if (auto split = dyn_cast<SplitHeadsOp>(op))
      lower(split);
    else
      lower(cast<MergeHeadsOp>(op));
  }
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// The groups of (M, K) in a tensor of that rank, at least 2.
static SmallVector<ReassociationIndices> rowGroups(int64_t rank) {
  SmallVector<ReassociationIndices> groups(2);
  for (int64_t dim = 0; dim + 1 < rank; ++dim)
    groups[0].push_back(dim);
  groups[1].push_back(rank - 1);
  return groups;
}

Value attn::collapseRows(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getRank() == 2)
    return tensor;
  if (type.getRank() == 1)
    return tensor::ExpandShapeOp::create(
        builder, loc, type.clone({1, type.getDimSize(0)}), tensor,
        ArrayRef<ReassociationIndices>{{0, 1}});
  SmallVector<ReassociationIndices> groups = rowGroups(type.getRank());
  // Rows that were expanded before.
  if (auto expand = tensor.getDefiningOp<tensor::ExpandShapeOp>())
    if (expand.getSrcType().getRank() == 2 &&
        expand.getReassociationIndices() == groups)
      return expand.getSrc();
  // One reshape in place of two.
  if (auto collapse = tensor.getDefiningOp<tensor::CollapseShapeOp>()) {
    SmallVector<ReassociationIndices> inner =
        collapse.getReassociationIndices();
    SmallVector<ReassociationIndices> composed;
    for (const ReassociationIndices &group : groups) {
      composed.emplace_back();
      for (int64_t dim : group)
        composed.back().append(inner[dim]);
    }
    return tensor::CollapseShapeOp::create(builder, loc, collapse.getSrc(),
                                           composed);
  }
  return tensor::CollapseShapeOp::create(builder, loc, tensor, groups);
}

Value attn::expandRows(OpBuilder &builder, Location loc, Value rows,
                       Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  if (type.getRank() == 2)
    return rows;
  if (type.getRank() == 1)
    return tensor::CollapseShapeOp::create(
        builder, loc, rows, ArrayRef<ReassociationIndices>{{0, 1}});
  return tensor::ExpandShapeOp::create(builder, loc, type, rows,
                                       rowGroups(type.getRank()),
                                       hostSizes(builder, loc, like));
}
