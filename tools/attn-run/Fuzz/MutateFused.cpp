//===- MutateFused.cpp - faults in regions --------------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Faults in the regions of attn.attention, and one in front of the compiler.
//
//===----------------------------------------------------------------------===//

#include "Fuzz/MutationSteps.h"

#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include <cmath>
#include <limits>

using namespace llvm;
using namespace mlir;

namespace attn::run::fuzz {

/// Calls `change` for every operation of that kind in mask regions.
template <typename OpTy>
static bool changeInMasks(ModuleOp module,
                          llvm::function_ref<bool(OpTy)> change) {
  bool changed = false;
  module.walk([&](AttentionOp attention) {
    SmallVector<OpTy> ops;
    attention.getMask().walk([&](OpTy op) { ops.push_back(op); });
    for (OpTy op : ops)
      changed |= change(op);
  });
  return changed;
}

bool truncateQuotients(ModuleOp module) {
  return changeInMasks<arith::FloorDivSIOp>(module, [](auto op) {
    OpBuilder builder(op);
    op.replaceAllUsesWith(Value(arith::DivSIOp::create(
        builder, op.getLoc(), op.getLhs(), op.getRhs())));
    op.erase();
    return true;
  });
}

bool includeLengths(ModuleOp module) {
  return changeInMasks<arith::CmpIOp>(module, [](arith::CmpIOp op) {
    if (op.getPredicate() != arith::CmpIPredicate::slt)
      return false;
    op.setPredicate(arith::CmpIPredicate::sle);
    return true;
  });
}

/// Turns masks into scores of `hidden(score region)`.
static bool hideBy(ModuleOp module, llvm::function_ref<float(Block &)> hidden) {
  bool changed = false;
  module.walk([&](AttentionOp op) {
    if (op.getMask().empty())
      return;
    OpBuilder builder(op.getContext());
    Block &mask = op.getMask().front();
    if (op.getScore().empty()) {
      Block *score = builder.createBlock(&op.getScore());
      score->addArgument(builder.getF32Type(), op.getLoc());
      for (BlockArgument argument : mask.getArguments())
        score->addArgument(argument.getType(), op.getLoc());
      YieldOp::create(builder, op.getLoc(), score->getArgument(0));
    }
    Block &score = op.getScore().front();
    Operation *yield = score.getTerminator();
    builder.setInsertionPoint(yield);
    IRMapping mapping;
    mapping.map(mask.getArguments(), score.getArguments().drop_front());
    for (Operation &inner : mask.without_terminator())
      builder.clone(inner, mapping);
    Value visible =
        mapping.lookupOrDefault(mask.getTerminator()->getOperand(0));
    Value number = arith::ConstantOp::create(
        builder, op.getLoc(), builder.getF32FloatAttr(hidden(score)));
    yield->setOperand(0, arith::SelectOp::create(builder, op.getLoc(), visible,
                                                 yield->getOperand(0), number));
    op.getMask().getBlocks().clear();
    changed = true;
  });
  return changed;
}

bool hideByLargeNumber(ModuleOp module) {
  return hideBy(module, [](Block &) { return -1e30F; });
}

bool hideBySmallNumber(ModuleOp module) {
  return hideBy(module, [](Block &) { return -1e4F; });
}

bool hideByCap(ModuleOp module) {
  return hideBy(module, [](Block &score) {
    float cap = 1;
    score.walk([&](arith::DivFOp op) {
      if (auto constant = op.getRhs().getDefiningOp<arith::ConstantOp>())
        if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
          cap = static_cast<float>(number.getValueAsDouble());
    });
    return -cap;
  });
}

bool scaleBias(ModuleOp module) {
  bool changed = false;
  module.walk([&](AttentionOp attention) {
    if (attention.getScore().empty())
      return;
    double channels =
        static_cast<double>(attention.getQuery().getType().getShape().back());
    attention.getScore().walk([&](tensor::ExtractOp op) {
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfter(op);
      Value scale = arith::ConstantOp::create(
          builder, op.getLoc(),
          builder.getF32FloatAttr(static_cast<float>(1 / std::sqrt(channels))));
      auto scaled =
          arith::MulFOp::create(builder, op.getLoc(), op.getResult(), scale);
      op.getResult().replaceAllUsesExcept(scaled, scaled);
      changed = true;
    });
  });
  return changed;
}

//===----------------------------------------------------------------------===//
// In front of the compiler
//===----------------------------------------------------------------------===//

/// Where the log-sum-exp is -inf the result becomes NaN, as if there had been a
/// division by the sum.
bool makeDeadRowsNan(ModuleOp module) {
  MixOp mix;
  SoftmaxOp softmax;
  module.walk([&](MixOp op) { mix = op; });
  module.walk([&](SoftmaxOp op) { softmax = op; });
  if (!mix || !softmax || !softmax.getLse())
    return false;
  OpBuilder builder(mix.getContext());
  builder.setInsertionPointAfter(mix);
  Location loc = mix.getLoc();
  auto type = cast<RankedTensorType>(mix.getResult().getType());
  // (b, h, i) in the layout of the result.
  Layout layout = mix.getLayout();
  SmallVector<AffineExpr> row = {builder.getAffineDimExpr(batchDim(layout)),
                                 builder.getAffineDimExpr(headDim(layout)),
                                 builder.getAffineDimExpr(sequenceDim(layout))};
  AffineMap same = builder.getMultiDimIdentityMap(4);
  AffineMap rows = AffineMap::get(4, 0, row, builder.getContext());
  SmallVector<Value> sizes;
  for (unsigned dim = 0; dim < 4; ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(
          tensor::DimOp::create(builder, loc, mix.getResult(), dim));
  Value empty = tensor::EmptyOp::create(builder, loc, type, sizes);
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange(type),
      ValueRange{mix.getResult(), softmax.getLse()}, ValueRange(empty),
      ArrayRef<AffineMap>{same, rows, same},
      SmallVector<utils::IteratorType>(4, utils::IteratorType::parallel),
      [](OpBuilder &body, Location loc, ValueRange arguments) {
        auto constant = [&](TypedAttr value) -> Value {
          return arith::ConstantOp::create(body, loc, value);
        };
        Value bits = arith::BitcastOp::create(body, loc, body.getI32Type(),
                                              arguments[1]);
        Value isDead = arith::CmpIOp::create(
            body, loc, arith::CmpIPredicate::eq, bits,
            constant(body.getI32IntegerAttr(static_cast<int32_t>(0xff800000))));
        Value nan = constant(
            body.getF32FloatAttr(std::numeric_limits<float>::quiet_NaN()));
        Value result =
            arith::SelectOp::create(body, loc, isDead, nan, arguments[0]);
        linalg::YieldOp::create(body, loc, result);
      });
  mix.getResult().replaceUsesWithIf(generic.getResult(0), [](OpOperand &use) {
    return isa<func::ReturnOp>(use.getOwner());
  });
  return true;
}

} // namespace attn::run::fuzz
