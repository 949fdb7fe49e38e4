//===- KernelGroups.cpp - which operations share a kernel ------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Row-wise operations compute each row (the last dimension) of their result
// from one row of each operand, or from a row that an id selects. A chain of
// them needs to visit each row once, so it is one kernel. Operations are taken
// in program order; one joins the groups of its operands if all rows correspond
// and if nobody outside needs one of their values before it: the call stands
// where the last operation of the group stood.
//
//===----------------------------------------------------------------------===//

#include "KernelGroups.h"
#include "HostLoops.h"
#include "Scalarize.h"
#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Kinds of operations
//===----------------------------------------------------------------------===//

static bool isTensor(Type type) { return isa<TensorType>(type); }

bool attn::isHostOp(Operation *op) {
  if (isa<CallOp, CheckIdsOp, DimSizeOp, PackOp, WeightRefOp, func::ReturnOp,
          tensor::CastOp, tensor::CollapseShapeOp, tensor::DimOp,
          tensor::EmptyOp, tensor::ExpandShapeOp, tensor::ExtractOp,
          tensor::ExtractSliceOp, tensor::FromElementsOp,
          tensor::InsertSliceOp>(op) ||
      isHostLoop(op))
    return true;
  return llvm::none_of(op->getOperandTypes(), isTensor) &&
         llvm::none_of(op->getResultTypes(), isTensor);
}

bool attn::isRepeatedInKernel(Operation *op) {
  auto constant = dyn_cast_or_null<arith::ConstantOp>(op);
  return constant &&
         (!isTensor(constant.getType()) || splatElement(constant.getResult()));
}

static bool isRowwise(Operation *op) {
  return isa<EmbeddingOp, LearnedPositionsOp, SinusoidalOp, LayerNormOp,
             RmsNormOp, SoftmaxOp, L2NormalizeOp, PoolOp>(op) ||
         isElementwise(op);
}

/// The operands of which row r is all that row r of the result needs. Tables
/// and norm parameters are read by every row, and a pool reads all rows of a
/// sequence: their producers must be complete before.
static OperandRange rowOperands(Operation *op) {
  if (isa<EmbeddingOp, PoolOp>(op))
    return op->getOperands().take_front(0);
  if (isElementwise(op))
    return op->getOperands();
  return op->getOperands().take_front(1);
}

/// The shape of a row-wise operation's result without the last dimension.
static ArrayRef<int64_t> rowShape(Operation *op) {
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  return shape.empty() ? shape : shape.drop_back();
}

//===----------------------------------------------------------------------===//
// KernelGroup
//===----------------------------------------------------------------------===//

bool KernelGroup::contains(Operation *op) const {
  return llvm::is_contained(ops, op);
}

template <typename... Ops> static bool holds(ArrayRef<Operation *> ops) {
  return llvm::any_of(ops, [](Operation *op) { return isa<Ops...>(op); });
}

StringRef KernelGroup::name() const {
  if (holds<AttentionOp>(ops))
    return "attention";
  if (auto linear = dyn_cast<FusedLinearOp>(ops.front()))
    return linear.getGamma() ? "linear_norm" : "linear";
  if (holds<linalg::LinalgOp>(ops))
    return "generic";
  bool normalizes = holds<LayerNormOp, RmsNormOp>(ops);
  if (holds<EmbeddingOp>(ops))
    return normalizes ? "embed_norm" : "embed";
  if (holds<PoolOp>(ops))
    return "pool";
  if (normalizes)
    return "norm";
  return holds<SoftmaxOp>(ops) ? "softmax" : "rowwise";
}

SmallVector<Value> KernelGroup::results() const {
  SmallVector<Value> results;
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !contains(user); }))
        results.push_back(result);
  return results;
}

//===----------------------------------------------------------------------===//
// Forming groups
//===----------------------------------------------------------------------===//

namespace {

/// Forms the groups of one block.
class Grouper {
public:
  void visit(Operation *op) {
    if (!isRowwise(op)) {
      // A linalg operation brings the initial value that it writes over.
      KernelGroup group;
      if (auto dps = dyn_cast<linalg::LinalgOp>(op))
        for (Value init : dps.getDpsInits())
          if (auto fill = init.getDefiningOp<linalg::FillOp>())
            group.ops.push_back(fill);
      group.ops.push_back(op);
      groups.push_back(std::move(group));
      return;
    }
    unsigned own = groups.size();
    groups.emplace_back();
    groups[own].ops.push_back(op);
    rowwise[op] = own;
    for (Value operand : rowOperands(op))
      if (auto it = rowwise.find(operand.getDefiningOp());
          operand.getDefiningOp() && it != rowwise.end())
        join(it->second, own);
  }

  std::vector<KernelGroup> take() {
    llvm::erase_if(groups, [](const KernelGroup &g) { return g.ops.empty(); });
    llvm::sort(groups, [](const KernelGroup &a, const KernelGroup &b) {
      return a.last()->isBeforeInBlock(b.last());
    });
    return std::move(groups);
  }

private:
  /// Moves group `from` into `into` if that is possible.
  void join(unsigned from, unsigned into) {
    if (from == into || groups[from].ops.empty())
      return;
    Operation *last = groups[into].last();
    if (rowShape(groups[from].last()) != rowShape(last))
      return;
    for (Operation *op : groups[from].ops)
      for (Operation *user : op->getUsers())
        if (!groups[from].contains(user) && !groups[into].contains(user) &&
            user->getBlock() == last->getBlock() && user->isBeforeInBlock(last))
          return;
    for (Operation *op : groups[from].ops)
      rowwise[op] = into;
    SmallVector<Operation *> &ops = groups[into].ops;
    ops.append(groups[from].ops);
    groups[from].ops.clear();
    llvm::sort(
        ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  }

  std::vector<KernelGroup> groups;
  DenseMap<Operation *, unsigned> rowwise;
};

} // namespace

FailureOr<std::vector<KernelGroup>> attn::formKernelGroups(func::FuncOp func) {
  Grouper grouper;
  bool ok = true;
  for (Operation &op : func.getBody().front()) {
    if (isHostOp(&op) || isa<arith::ConstantOp>(op))
      continue;
    // A fill belongs to the operation that reads it.
    if (isa<linalg::FillOp>(op) &&
        llvm::all_of(op.getUsers(),
                     [&](Operation *user) {
                       return isa<linalg::LinalgOp>(user) &&
                              !isa<linalg::FillOp>(user);
                     }) &&
        op.hasOneUse())
      continue;
    if (isa<AttentionOp, FusedLinearOp, linalg::LinalgOp>(op) ||
        isRowwise(&op)) {
      grouper.visit(&op);
      continue;
    }
    op.emitOpError("expected an operation that a kernel can express (of the "
                   "attn dialect, element-wise, or of linalg), got one that "
                   "none can: write it in terms of linalg.generic");
    ok = false;
  }
  if (!ok)
    return failure();
  return grouper.take();
}
