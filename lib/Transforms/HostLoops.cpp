//===- HostLoops.cpp - what the host function computes itself --*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "HostLoops.h"
#include "HostSizes.h"
#include "Scalarize.h"
#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

/// Whether a kernel can hold the tensor, or floats if it is `computed`; of 16
/// bits if it takes `halves`.
static bool isKernelTensor(Type type, bool computed, bool halves) {
  auto isKernelFloat = [&](Type type) {
    return type.isF32() || (halves && isHalf(type));
  };
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return !isa<FloatType>(type) || isKernelFloat(type);
  Type element = tensor.getElementType();
  if ((computed || isa<FloatType>(element)) && !isKernelFloat(element))
    return false;
  // A kernel has a column; one without elements would still be compiled.
  return tensor.getRank() > 0 && !llvm::is_contained(tensor.getShape(), 0);
}

static bool areKernelTensors(Operation *op, bool halves = false) {
  return llvm::all_of(
             op->getOperandTypes(),
             [&](Type type) { return isKernelTensor(type, false, halves); }) &&
         llvm::all_of(op->getResultTypes(), [&](Type type) {
           return isKernelTensor(type, true, halves);
         });
}

/// Whether Halide computes what the operation says, NaN and infinities
/// included.
static bool isExactFloat(Operation *op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
             arith::NegFOp, math::AbsFOp, math::ExpOp, math::Exp2Op,
             math::SqrtOp, math::RsqrtOp, math::TanhOp, math::ErfOp,
             math::FmaOp, GeluOp, ReluOp>(op);
}

/// The same for an operation on scalars inside of a loop nest.
static bool isExactScalar(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    // With a constant, or with itself: those are done on bits.
    Attribute constant;
    return compare.getLhs() == compare.getRhs() ||
           matchPattern(compare.getRhs(), m_Constant(&constant));
  }
  if (isa<math::MathDialect, AttnDialect>(op->getDialect()))
    return isExactFloat(op);
  return !isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
              arith::MinNumFOp, arith::RemFOp, arith::TruncFOp, arith::ExtFOp>(
      op);
}

/// A fill belongs to the kernel that reads it, if one does.
static bool isHostFill(linalg::FillOp fill) {
  return !areKernelTensors(fill) ||
         llvm::none_of(fill->getUsers(), [](Operation *user) {
           return isa<linalg::LinalgOp>(user) && !isHostLoop(user);
         });
}

bool attn::isHostLoop(Operation *op) {
  if (isa<scf::ForOp>(op))
    return true;
  auto loop = dyn_cast<linalg::LinalgOp>(op);
  if (!loop)
    return false;
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return isHostFill(fill);
  if (!areKernelTensors(op))
    return true;
  if (llvm::any_of(loop.getIndexingMapsArray(),
                   [](AffineMap map) { return !map.isProjectedPermutation(); }))
    return true;
  bool computes = false, gathers = false, isExact = true;
  loop->walk([&](Operation *inner) {
    if (inner == op || inner->hasTrait<OpTrait::IsTerminator>())
      return;
    computes |= isExactFloat(inner);
    // Of integers a loop nest reads masks and lengths.
    gathers |= isa<tensor::ExtractOp>(inner) &&
               isa<FloatType>(inner->getResult(0).getType());
    isExact &= isExactScalar(inner);
  });
  return !isExact || (gathers && !computes);
}

bool attn::isHostElementwise(Operation *op) {
  // Kernels compute with f32 what is stored in 16 bits, so that conversions
  // are part of loading and storing.
  bool isExact = isExactFloat(op) || isa<arith::ExtFOp, arith::TruncFOp>(op);
  return isElementwise(op) &&
         !(areKernelTensors(op, /*halves=*/true) && isExact);
}

void attn::makeHostLoop(Operation *op) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  int64_t rank = type.getRank();
  // Numbers are used inside; tensors full of one number are such.
  SmallVector<Value> tensors;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && !splatElement(operand))
      tensors.push_back(operand);
  SmallVector<OpFoldResult> sizes = hostSizes(builder, loc, op->getResult(0));
  Value init =
      tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  SmallVector<AffineMap> maps(tensors.size() + 1,
                              builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto loop = linalg::GenericOp::create(
      builder, loc, type, tensors, init, maps, iterators,
      [&](OpBuilder &inner, Location at, ValueRange elements) {
        SmallVector<Value> operands;
        unsigned next = 0;
        for (Value operand : op->getOperands()) {
          if (!isa<RankedTensorType>(operand.getType()))
            operands.push_back(operand);
          else if (TypedAttr number = splatElement(operand))
            operands.push_back(arith::ConstantOp::create(inner, at, number));
          else
            operands.push_back(elements[next++]);
        }
        linalg::YieldOp::create(inner, at, createScalar(inner, op, operands));
      });
  op->replaceAllUsesWith(loop);
  op->erase();
}
