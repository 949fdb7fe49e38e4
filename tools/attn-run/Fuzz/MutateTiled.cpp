//===- MutateTiled.cpp - faults in loops over tiles -----------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Faults in what attn-tile made: indices, ranges and the recurrence.
//
//===----------------------------------------------------------------------===//

#include "Fuzz/MutationSteps.h"

#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

using namespace llvm;
using namespace mlir;

namespace attn::run::fuzz {

/// Calls `change` for every operation of that kind.
template <typename OpTy>
static bool changeAll(ModuleOp module, llvm::function_ref<bool(OpTy)> change) {
  SmallVector<OpTy> ops;
  module.walk([&](OpTy op) { ops.push_back(op); });
  bool changed = false;
  for (OpTy op : ops)
    changed |= change(op);
  return changed;
}

bool takeGroupModulo(ModuleOp module) {
  return changeAll<affine::AffineApplyOp>(module, [](affine::AffineApplyOp op) {
    auto forall = op->getParentOfType<scf::ForallOp>();
    auto quotient =
        dyn_cast<AffineBinaryOpExpr>(op.getAffineMap().getResult(0));
    if (!forall || op.getNumOperands() != 1 || !quotient ||
        quotient.getKind() != AffineExprKind::FloorDiv ||
        op.getOperand(0) != forall.getInductionVar(1))
      return false;
    auto group = cast<AffineConstantExpr>(quotient.getRHS()).getValue();
    std::optional<int64_t> heads =
        getConstantIntValue(forall.getMixedUpperBound()[1]);
    if (!heads)
      return false;
    op.setMap(AffineMap::get(op.getAffineMap().getNumDims(),
                             op.getAffineMap().getNumSymbols(),
                             quotient.getLHS() % (*heads / group)));
    return true;
  });
}

bool readFirstValues(ModuleOp module) {
  return changeAll<TileMixOp>(module, [](TileMixOp op) {
    auto load = op.getValue().getDefiningOp<TileLoadOp>();
    auto forall = op->getParentOfType<scf::ForallOp>();
    if (!load || !forall)
      return false;
    OpBuilder builder(load);
    Value zero = arith::ConstantIndexOp::create(builder, load.getLoc(), 0);
    bool changed = false;
    for (OpOperand &index : load.getIndicesMutable())
      if (index.get() == forall.getInductionVar(0)) {
        index.set(zero);
        changed = true;
      }
    return changed;
  });
}

/// Drops rescaling of values of that rank.
static bool forgetRescale(ModuleOp module, size_t rank) {
  return changeAll<TileRescaleOp>(module, [&](TileRescaleOp op) {
    if (cast<TileType>(op.getType()).getShape().size() != rank)
      return false;
    op.replaceAllUsesWith(op.getInput());
    op.erase();
    return true;
  });
}

bool keepSum(ModuleOp module) { return forgetRescale(module, 1); }
bool keepAccumulator(ModuleOp module) { return forgetRescale(module, 2); }

bool countTailKeys(ModuleOp module) {
  return changeAll<TileLoadOp>(module, [](TileLoadOp op) {
    auto loop = op->getParentOfType<scf::ForOp>();
    if (!loop)
      return false;
    OpBuilder builder(loop);
    Value whole = arith::ConstantIndexOp::create(
        builder, op.getLoc(),
        cast<TileType>(op.getResult().getType()).getShape()[0]);
    op.getRowsMutable().assign(whole);
    return true;
  });
}

bool scaleLse(ModuleOp module) {
  return changeAll<TileFinishOp>(module, [](TileFinishOp op) {
    FloatAttr scale = op.getScaleAttr();
    op.setScaleAttr(
        FloatAttr::get(scale.getType(), scale.getValueAsDouble() * 1.442695));
    return true;
  });
}

bool dropSink(ModuleOp module) {
  return changeAll<TileMaxOp>(module, [](TileMaxOp op) {
    if (op->getParentOfType<scf::ForOp>())
      return false;
    op.replaceAllUsesWith(op.getCarry());
    op.erase();
    return true;
  });
}

} // namespace attn::run::fuzz
