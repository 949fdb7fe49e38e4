//===- SafeScalars.cpp - scalar operations that cannot fail ----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SafeScalars.h"
#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

void attn::keepIndicesInside(Operation *root) {
  root->walk([](tensor::ExtractOp extract) {
    OpBuilder builder(extract);
    Location loc = extract.getLoc();
    auto type = extract.getTensor().getType();
    for (auto [dim, operand] : llvm::enumerate(extract.getIndicesMutable())) {
      Value index = operand.get();
      std::optional<int64_t> known = getConstantIntValue(index);
      if (known && *known >= 0 && *known < type.getDimSize(dim))
        continue;
      Value size = getValueOrCreateConstantIndexOp(
          builder, loc,
          tensor::getMixedSize(builder, loc, extract.getTensor(), dim));
      Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
      Value one = arith::ConstantIndexOp::create(builder, loc, 1);
      Value last = builder.createOrFold<arith::SubIOp>(loc, size, one);
      Value least = builder.createOrFold<arith::MaxSIOp>(loc, index, zero);
      operand.set(builder.createOrFold<arith::MinSIOp>(loc, least, last));
    }
  });
}

/// Whether the division has a value for every dividend.
static bool hasSafeDivisor(Operation *op) {
  APInt divisor;
  return matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) &&
         !divisor.isZero() && !divisor.isAllOnes();
}

void attn::makeDivisionsSafe(Operation *root) {
  root->walk([](Operation *op) {
    bool isSigned = isa<arith::CeilDivSIOp, arith::DivSIOp, arith::FloorDivSIOp,
                        arith::RemSIOp>(op);
    bool isDivision =
        isSigned || isa<arith::CeilDivUIOp, arith::DivUIOp, arith::RemUIOp>(op);
    Type type = isDivision ? op->getResult(0).getType() : Type();
    if (!isDivision || !type.isIntOrIndex() || hasSafeDivisor(op))
      return;
    OpBuilder builder(op);
    Location loc = op->getLoc();
    auto constant = [&](const APInt &value) -> Value {
      return arith::ConstantOp::create(builder, loc,
                                       builder.getIntegerAttr(type, value));
    };
    auto isEqual = [&](Value a, Value b) -> Value {
      return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a,
                                   b);
    };
    unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    Value divisor = op->getOperand(1);
    Value zero = constant(APInt::getZero(width));
    Value hasNone = isEqual(divisor, zero);
    if (isSigned) {
      Value overflows = arith::AndIOp::create(
          builder, loc,
          isEqual(op->getOperand(0), constant(APInt::getSignedMinValue(width))),
          isEqual(divisor, constant(APInt::getAllOnes(width))));
      hasNone = arith::OrIOp::create(builder, loc, hasNone, overflows);
    }
    Value one = constant(APInt(width, 1));
    op->setOperand(
        1, arith::SelectOp::create(builder, loc, hasNone, one, divisor));
    builder.setInsertionPointAfter(op);
    auto result =
        arith::SelectOp::create(builder, loc, hasNone, zero, op->getResult(0));
    op->getResult(0).replaceAllUsesExcept(result, result);
  });
}

bool attn::isElementwiseOnTensors(Operation *op) {
  if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1 ||
      op->getNumRegions() != 0)
    return false;
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return result && llvm::all_of(op->getOperandTypes(), [&](Type type) {
           auto tensor = dyn_cast<RankedTensorType>(type);
           return tensor ? tensor.getRank() == result.getRank()
                         : !isa<ShapedType>(type);
         });
}
