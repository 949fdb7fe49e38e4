//===- IndexBuilder.cpp - readable index arithmetic ------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "IndexBuilder.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/AffineMap.h"

using namespace mlir;
using namespace attn;

Location IndexBuilder::named(StringRef name) const {
  return NameLoc::get(builder.getStringAttr(name), loc);
}

OpFoldResult IndexBuilder::build(StringRef name, Kind kind,
                                 ArrayRef<AffineExpr> exprs,
                                 ArrayRef<OpFoldResult> operands) const {
  // Constants go into the expressions, and so do not count as operands.
  SmallVector<AffineExpr> replacements;
  SmallVector<Value> values;
  for (OpFoldResult operand : operands)
    if (std::optional<int64_t> number = getConstantIntValue(operand)) {
      replacements.push_back(constant(*number));
    } else {
      replacements.push_back(dim(values.size()));
      values.push_back(cast<Value>(operand));
    }

  // Of several constants one decides; of equal results one is enough.
  SmallVector<AffineExpr> results;
  std::optional<int64_t> bound;
  for (AffineExpr expr : exprs) {
    expr = simplifyAffineExpr(expr.replaceDims(replacements), values.size(), 0);
    if (auto number = dyn_cast<AffineConstantExpr>(expr)) {
      int64_t value = number.getValue();
      if (bound)
        value = kind == Kind::Min ? std::min(*bound, value)
                                  : std::max(*bound, value);
      bound = value;
    } else if (!llvm::is_contained(results, expr)) {
      results.push_back(expr);
    }
  }
  if (bound)
    results.push_back(constant(*bound));

  if (results.size() == 1) {
    if (bound)
      return builder.getIndexAttr(*bound);
    if (auto operand = dyn_cast<AffineDimExpr>(results.front()))
      return values[operand.getPosition()];
  }

  // Only operands that are left in an expression are passed.
  AffineMap map =
      AffineMap::get(values.size(), 0, results, builder.getContext());
  SmallVector<Value> used;
  for (auto [position, value] : llvm::enumerate(values))
    if (map.isFunctionOfDim(position))
      used.push_back(value);
  map = compressUnusedDims(map);

  if (results.size() == 1)
    return affine::AffineApplyOp::create(builder, named(name), map, used)
        .getResult();
  if (kind == Kind::Min)
    return affine::AffineMinOp::create(builder, named(name), map, used)
        .getResult();
  return affine::AffineMaxOp::create(builder, named(name), map, used)
      .getResult();
}

OpFoldResult IndexBuilder::apply(StringRef name, AffineExpr expr,
                                 ArrayRef<OpFoldResult> operands) const {
  return build(name, Kind::Min, expr, operands);
}
OpFoldResult IndexBuilder::min(StringRef name, ArrayRef<AffineExpr> exprs,
                               ArrayRef<OpFoldResult> operands) const {
  return build(name, Kind::Min, exprs, operands);
}
OpFoldResult IndexBuilder::max(StringRef name, ArrayRef<AffineExpr> exprs,
                               ArrayRef<OpFoldResult> operands) const {
  return build(name, Kind::Max, exprs, operands);
}

Value IndexBuilder::value(OpFoldResult index) {
  if (std::optional<int64_t> number = getConstantIntValue(index))
    return value(*number);
  return cast<Value>(index);
}

Value IndexBuilder::value(int64_t constant) {
  Value &value = constants[constant];
  if (!value) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(entry);
    value = arith::ConstantIndexOp::create(builder, loc, constant);
  }
  return value;
}

OpFoldResult IndexBuilder::size(StringRef name, Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return builder.getIndexAttr(type.getDimSize(dim));
  return tensor::DimOp::create(builder, named(name), tensor, value(dim))
      .getResult();
}
