//===- HostSizes.cpp - sizes of values in a host function ------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Walks up from a value to the arguments, asking each operation for the sizes
// of its result in terms of its operands (ReifyRankedShapedTypeOpInterface).
//
//===----------------------------------------------------------------------===//

#include "HostSizes.h"
#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attn;

/// The name that attn.dims gives to a dimension of an argument of the entry.
static StringRef dimName(BlockArgument arg, unsigned dim) {
  auto func = dyn_cast<func::FuncOp>(arg.getOwner()->getParentOp());
  if (!func)
    return {};
  auto names =
      func.getArgAttrOfType<ArrayAttr>(arg.getArgNumber(), "attn.dims");
  if (!names || dim >= names.size())
    return {};
  return cast<StringAttr>(names[dim]).getValue();
}

StringRef attn::argumentName(Value value, StringRef otherwise) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
      if (auto name = func.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                        "attn.name"))
        return name;
  return otherwise;
}

/// Product of two sizes.
static OpFoldResult multiply(OpBuilder &builder, Location loc, OpFoldResult a,
                             OpFoldResult b) {
  std::optional<int64_t> x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x && y)
    return builder.getIndexAttr(*x * *y);
  if (x == 1)
    return b;
  if (y == 1)
    return a;
  return arith::MulIOp::create(builder, loc,
                               getValueOrCreateConstantIndexOp(builder, loc, a),
                               getValueOrCreateConstantIndexOp(builder, loc, b))
      .getResult();
}

/// Asks the operation for the size and replaces each tensor.dim that it makes.
static OpFoldResult reify(OpBuilder &builder, Location loc, OpResult result,
                          unsigned dim) {
  ReifiedRankedShapedTypeDims sizes;
  auto op = dyn_cast<ReifyRankedShapedTypeOpInterface>(result.getOwner());
  if (!op || failed(op.reifyResultShapes(builder, sizes)))
    return tensor::DimOp::create(builder, loc, result, dim).getResult();
  OpFoldResult size = sizes[result.getResultNumber()][dim];
  if (auto value = dyn_cast<Value>(size))
    if (auto other = value.getDefiningOp<tensor::DimOp>())
      if (std::optional<int64_t> index = other.getConstantIndex())
        size = hostSize(builder, loc, other.getSource(), *index);
  // The interface makes the sizes of all dimensions; drop the others.
  for (OpFoldResult made : sizes[result.getResultNumber()])
    if (auto value = dyn_cast<Value>(made))
      if (Operation *definition = value.getDefiningOp())
        if (isOpTriviallyDead(definition) && made != size)
          definition->erase();
  return size;
}

OpFoldResult attn::hostSize(OpBuilder &builder, Location loc, Value tensor,
                            unsigned dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return builder.getIndexAttr(type.getDimSize(dim));
  if (auto arg = dyn_cast<BlockArgument>(tensor)) {
    StringRef name = dimName(arg, dim);
    if (!name.empty())
      return DimSizeOp::create(builder, loc, builder.getIndexType(), name)
          .getResult();
    return tensor::DimOp::create(builder, loc, tensor, dim).getResult();
  }

  auto result = cast<OpResult>(tensor);
  Operation *op = result.getOwner();
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
    return hostSize(builder, loc, dps.getTiedOpOperand(result)->get(), dim);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return hostSize(builder, loc, loop.getTiedLoopInit(result)->get(), dim);
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return hostSize(builder, loc, cast.getSource(), dim);
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return empty.getMixedSizes()[dim];
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return expand.getMixedOutputShape()[dim];
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    OpFoldResult size = builder.getIndexAttr(1);
    SmallVector<ReassociationIndices> groups =
        collapse.getReassociationIndices();
    for (int64_t source : groups[dim])
      size = multiply(builder, loc, size,
                      hostSize(builder, loc, collapse.getSrc(), source));
    return size;
  }
  if (auto attention = dyn_cast<AttentionOp>(op);
      attention && attention.getChunk() && dim == 0)
    return countChunks(builder, loc, attention,
                       hostSize(builder, loc, attention.getKey(),
                                sequenceDim(attention.getLayout())));
  if (op->hasTrait<OpTrait::Elementwise>())
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        return hostSize(builder, loc, operand, dim);
  return reify(builder, loc, result, dim);
}

SmallVector<OpFoldResult> attn::hostSizes(OpBuilder &builder, Location loc,
                                          Value tensor) {
  SmallVector<OpFoldResult> sizes;
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  for (int64_t dim = 0; dim < rank; ++dim)
    sizes.push_back(hostSize(builder, loc, tensor, dim));
  return sizes;
}
