//===- RuleInliner.cpp - rules of attention as arithmetic ------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RuleInliner.h"
#include "Scalarize.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attn;

Value RuleInliner::index(Side &side, Location loc, int64_t value) {
  OpBuilder builder = side.builder();
  return arith::ConstantIndexOp::create(builder, loc, value);
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

Value RuleInliner::aligned(Side &side, Alignment alignment,
                           std::optional<unsigned> offsets) {
  if (alignment == Alignment::BottomRight)
    return addKeysMinusQueries(side, side.i());
  if (alignment == Alignment::TopLeft)
    return side.i();
  Value offset = loadIndex(side, *offsets, side.b());
  OpBuilder builder = side.builder();
  return arith::AddIOp::create(builder, loc, side.i(), offset);
}

/// bound + M - N, with the sizes of the key and of the query.
Value RuleInliner::addKeysMinusQueries(Side &side, Value bound) {
  TensorDim queries = context.queries, keys = context.keys;
  if (keys.tensor == queries.tensor && keys.dim == queries.dim)
    return bound;
  auto staticSize = [](TensorDim dim) {
    return cast<RankedTensorType>(dim.tensor.getType()).getDimSize(dim.dim);
  };
  int64_t m = staticSize(keys), n = staticSize(queries);
  Value shift;
  if (!ShapedType::isDynamic(m) && !ShapedType::isDynamic(n)) {
    if (m == n)
      return bound;
    shift = index(side, m - n);
  }
  if (!shift) {
    Value sizeM = size(side, keys), sizeN = size(side, queries);
    OpBuilder builder = side.builder();
    shift = arith::SubIOp::create(builder, loc, sizeM, sizeN);
  }
  OpBuilder builder = side.builder();
  return arith::AddIOp::create(builder, loc, bound, shift);
}

Value RuleInliner::distance(Side &side, Alignment alignment,
                            std::optional<unsigned> offsets) {
  Value center = aligned(side, alignment, offsets);
  OpBuilder builder = side.builder();
  return arith::SubIOp::create(builder, loc, side.j(), center);
}

Value RuleInliner::clip(Side &side, Value value, int64_t low, int64_t high) {
  Value first = index(side, low), last = index(side, high);
  OpBuilder builder = side.builder();
  value = arith::MinSIOp::create(builder, loc, value, last);
  value = arith::MaxSIOp::create(builder, loc, value, first);
  return arith::SubIOp::create(builder, loc, value, first);
}

Value RuleInliner::size(Side &side, TensorDim dim) {
  auto *known = llvm::find_if(sizes, [&](const auto &entry) {
    return entry.first.tensor == dim.tensor && entry.first.dim == dim.dim;
  });
  if (known != sizes.end())
    return side.captured(known->second);
  OpFoldResult outside = sizeOf(context.outside, loc, dim.tensor, dim.dim);
  if (auto number = getConstantIntValue(outside))
    return index(side, *number);
  unsigned capture = regions.capture(cast<Value>(outside));
  sizes.push_back({dim, capture});
  return side.captured(capture);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value RuleInliner::load(Side &side, unsigned capture, ValueRange indices) {
  OpBuilder builder = side.builder();
  return tensor::ExtractOp::create(builder, loc, side.captured(capture),
                                   indices);
}

Value RuleInliner::loadIndex(Side &side, unsigned capture, ValueRange indices) {
  Value value = load(side, capture, indices);
  if (value.getType().isIndex())
    return value;
  OpBuilder builder = side.builder();
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    value);
}

Value RuleInliner::loadNumber(Side &side, unsigned capture,
                              ValueRange indices) {
  return toCompute(side, load(side, capture, indices));
}

Value RuleInliner::toCompute(Side &side, Value number) {
  OpBuilder builder = side.builder();
  return convertFloat(builder, loc, number, regions.computeType());
}

//===----------------------------------------------------------------------===//
// Broadcasts
//===----------------------------------------------------------------------===//

SmallVector<Value> RuleInliner::broadcastIndices(Side &side, OpOperand &operand,
                                                 Value *inside) {
  Value tensor = operand.get();
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> indices;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    Value place = side.position()[4 - type.getRank() + dim];
    if (type.getDimSize(dim) == 1) {
      indices.push_back(index(side, 0));
      continue;
    }
    if (context.broadcasts.isExact(operand, dim)) {
      indices.push_back(place);
      continue;
    }
    // Of a size of 1, and past a short last dimension, the last element.
    Value end = size(side, {tensor, unsigned(dim)}), one = index(side, 1);
    OpBuilder builder = side.builder();
    Value last = arith::SubIOp::create(builder, loc, end, one);
    indices.push_back(arith::MinSIOp::create(builder, loc, place, last));
    if (!inside || dim + 1 != type.getRank())
      continue;
    *inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                    place, end);
    if (!type.isDynamicDim(dim))
      continue;
    Value repeats =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, end, one);
    *inside = arith::OrIOp::create(builder, loc, *inside, repeats);
  }
  return indices;
}
