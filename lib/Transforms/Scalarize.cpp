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

Value attn::createScalar(OpBuilder &builder, Operation *op,
                         ValueRange operands) {
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  return builder
      .create(op->getLoc(), op->getName().getIdentifier(), operands, type,
              op->getAttrs())
      ->getResult(0);
}

Type attn::widenedType(Type type) {
  auto number = dyn_cast<FloatType>(type);
  return number && number.getWidth() < 32 ? Float32Type::get(type.getContext())
                                          : type;
}

Value attn::widen(OpBuilder &builder, Location loc, Value value) {
  Type type = widenedType(value.getType());
  return type == value.getType()
             ? value
             : arith::ExtFOp::create(builder, loc, type, value).getResult();
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
