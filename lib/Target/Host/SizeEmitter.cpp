//===- SizeEmitter.cpp - sizes of temporaries from the dims -----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SizeEmitter.h"
#include "ModelInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn;

Value SizeEmitter::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value SizeEmitter::multiply(Value a, Value b) {
  if (!overflow)
    return arith::MulIOp::create(builder, loc, a, b);
  Type i64 = builder.getI64Type();
  Value x = arith::IndexCastOp::create(builder, loc, i64, a);
  Value y = arith::IndexCastOp::create(builder, loc, i64, b);
  auto product = arith::MulUIExtendedOp::create(builder, loc, x, y);
  Value zero = arith::ConstantIntOp::create(builder, loc, i64, 0);
  Value high = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                     product.getHigh(), zero);
  // 2^55 leaves room for the sum of all slots.
  Value limit = arith::ConstantIntOp::create(builder, loc, i64, 1LL << 55);
  Value large = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt,
                                      product.getLow(), limit);
  overflow = arith::OrIOp::create(builder, loc, overflow, high);
  overflow = arith::OrIOp::create(builder, loc, overflow, large);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    product.getLow());
}

FailureOr<Value> SizeEmitter::emit(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() ||
      !isa_and_present<arith::ArithDialect>(op->getDialect()))
    return failure();
  for (Value operand : op->getOperands())
    if (failed(emit(operand)))
      return failure();
  if (auto product = dyn_cast<arith::MulIOp>(op)) {
    mapping.map(value, multiply(mapping.lookup(product.getLhs()),
                                mapping.lookup(product.getRhs())));
    return mapping.lookup(value);
  }
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

FailureOr<Value> SizeEmitter::bytes(memref::AllocOp alloc) {
  int64_t fixed = getElementBytes(alloc.getType().getElementType());
  for (int64_t extent : alloc.getType().getShape())
    if (!ShapedType::isDynamic(extent) &&
        llvm::MulOverflow(fixed, extent, fixed))
      return failure();
  std::vector<void *> key;
  for (Value extent : alloc.getDynamicSizes())
    key.push_back(extent.getAsOpaquePointer());
  Value &size = known[{fixed, key}];
  if (size)
    return size;
  Value product = constant(fixed);
  for (Value extent : alloc.getDynamicSizes()) {
    FailureOr<Value> value = emit(extent);
    if (failed(value))
      return failure();
    product = multiply(*value, product);
  }
  size = product;
  return size;
}
