//===- Scalarize.cpp - element-wise operations inside regions --*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Scalarize.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;

bool attn::isElementwise(Operation *op) {
  if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1 ||
      op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return false;
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return result && llvm::all_of(op->getOperandTypes(), [&](Type type) {
           if (auto tensor = dyn_cast<RankedTensorType>(type))
             return tensor.getShape() == result.getShape();
           return !isa<ShapedType>(type);
         });
}

bool attn::isHalf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

Value attn::createScalar(OpBuilder &builder, Operation *op, ValueRange operands,
                         FloatType compute) {
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  auto number = dyn_cast<FloatType>(type);
  if (compute && number && number.getWidth() < compute.getWidth())
    type = compute;
  // A conversion between types that are one here.
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return convertFloat(builder, op->getLoc(), operands[0],
                        cast<FloatType>(type));
  return builder
      .create(op->getLoc(), op->getName().getIdentifier(), operands, type,
              op->getAttrs())
      ->getResult(0);
}

Value attn::convertFloat(OpBuilder &builder, Location loc, Value value,
                         FloatType type) {
  auto from = cast<FloatType>(value.getType());
  if (from == type)
    return value;
  if (from.getWidth() < type.getWidth())
    return arith::ExtFOp::create(builder, loc, type, value);
  if (from.getWidth() > type.getWidth())
    return arith::TruncFOp::create(builder, loc, type, value);
  // f16 and bf16 meet in f32.
  Value wide = arith::ExtFOp::create(builder, loc, builder.getF32Type(), value);
  return arith::TruncFOp::create(builder, loc, type, wide);
}

Value attn::isNotHidden(OpBuilder &builder, Location loc, Value score) {
  auto type = cast<FloatType>(score.getType());
  Type bits = builder.getIntegerType(type.getWidth());
  APInt infinity = APFloat::getInf(type.getFloatSemantics(), /*Negative=*/true)
                       .bitcastToAPInt();
  Value hidden = arith::ConstantOp::create(
      builder, loc, builder.getIntegerAttr(bits, infinity));
  Value actual = arith::BitcastOp::create(builder, loc, bits, score);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, actual,
                               hidden);
}

TypedAttr attn::splatElement(Value value) {
  SplatElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)))
    return {};
  return dyn_cast<TypedAttr>(elements.getSplatValue<Attribute>());
}

Value attn::extractBroadcast(OpBuilder &builder, Location loc, Value tensor,
                             ValueRange position) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> indices;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (type.getDimSize(dim) == 1)
      indices.push_back(arith::ConstantIndexOp::create(builder, loc, 0));
    else
      indices.push_back(position[position.size() - type.getRank() + dim]);
  }
  return tensor::ExtractOp::create(builder, loc, tensor, indices);
}

OpFoldResult attn::sizeOf(OpBuilder &builder, Location loc, Value tensor,
                          unsigned dim) {
  return tensor::getMixedSize(builder, loc, tensor, dim);
}
