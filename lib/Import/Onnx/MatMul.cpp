//===- MatMul.cpp - matrix products ---------------------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A product is a linalg.generic over batch dimensions, rows, columns and the
// summed dimension; operands are read as they lie, transposed or broadcast.
// FLOAT16 and BFLOAT16 are summed in f32.
//
//===----------------------------------------------------------------------===//

#include "Build.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace attn::onnx {

/// An operand and the loop of each of its dimensions.
namespace {
struct Factor {
  Datum *datum;
  SmallVector<unsigned> loops;
};
} // namespace

/// The operand without the sizes of 1 that repeat.
static BroadcastInput makeFactor(NodeImport &node, const Factor &factor,
                                 ArrayRef<Size> extents) {
  SmallVector<Size> kept;
  SmallVector<unsigned> loops;
  for (auto [size, loop] : llvm::zip_equal(factor.datum->sizes, factor.loops)) {
    if (numberOf(size) == 1 && numberOf(extents[loop]) != 1)
      continue;
    kept.push_back(size);
    loops.push_back(loop);
  }
  Datum view = reshape(node, *factor.datum, kept);
  return {node.tensor(view), AffineMap::getMultiDimMapWithTargets(
                                 extents.size(), loops, node.context())};
}

/// Sums products over the last loop; the result has the loops before it.
static Datum contract(NodeImport &node, const Factor &a, const Factor &b,
                      ArrayRef<Size> extents) {
  OpBuilder &builder = node.builder;
  ElementType type = a.datum->element;
  ElementType sumType = isHalf(type) ? ElementType::Float : type;
  mlir::Type element = mlirType(sumType, node.context());
  ArrayRef<Size> sizes = extents.drop_back();
  mlir::Value zero = arith::ConstantOp::create(builder, node.loc,
                                               builder.getZeroAttr(element));
  BroadcastInput lhs = makeFactor(node, a, extents),
                 rhs = makeFactor(node, b, extents);
  mlir::Value sum = linalg::FillOp::create(builder, node.loc, zero,
                                           makeEmpty(node, sumType, sizes))
                        .getResult(0);
  SmallVector<utils::IteratorType> iterators(extents.size(),
                                             utils::IteratorType::parallel);
  iterators.back() = utils::IteratorType::reduction;
  auto outer = llvm::to_vector(llvm::seq<unsigned>(0, sizes.size()));
  AffineMap map = AffineMap::getMultiDimMapWithTargets(extents.size(), outer,
                                                       node.context());
  auto body = [&](OpBuilder &inner, Location at, ValueRange elements) {
    auto widen = [&](mlir::Value value) -> mlir::Value {
      return isHalf(type) ? arith::ExtFOp::create(inner, at, element, value)
                          : value;
    };
    mlir::Value x = widen(elements[0]), y = widen(elements[1]), next;
    if (isFloat(type))
      next = arith::AddFOp::create(inner, at, elements[2],
                                   arith::MulFOp::create(inner, at, x, y));
    else
      next = arith::AddIOp::create(inner, at, elements[2],
                                   arith::MulIOp::create(inner, at, x, y));
    linalg::YieldOp::create(inner, at, next);
  };
  sum = linalg::GenericOp::create(builder, node.loc, sum.getType(),
                                  ValueRange{lhs.tensor, rhs.tensor}, sum,
                                  ArrayRef<AffineMap>{lhs.map, rhs.map, map},
                                  iterators, body)
            .getResult(0);
  Datum result = makeDatum(sumType, sizes, sum);
  if (sumType == type)
    return result;
  return *elementwise(node, result, type,
                      [](OpBuilder &, Location, ValueRange values) {
                        return mlir::Value(values[0]);
                      });
}

static LogicalResult checkFactors(NodeImport &node, const Datum &a,
                                  const Datum &b) {
  bool takes = isFloat(a.element) ||
               (isInteger(a.element) && a.element != ElementType::Bool);
  if (a.isList || b.isList || a.element != b.element || !takes ||
      a.sizes.empty() || b.sizes.empty())
    return node.error("expected two tensors of one type of numbers, got " +
                      describe(a) + " and " + describe(b));
  return success();
}

/// The size that is summed over, of both operands.
static FailureOr<Size> summedSize(NodeImport &node, const Datum &a, Size x,
                                  const Datum &b, Size y) {
  if (numberOf(x) && numberOf(y) && !isEqual(x, y))
    return node.error("expected the size that is summed over to be the same in "
                      "both operands, got " +
                      describe(a) + " and " + describe(b));
  return numberOf(x) ? x : y;
}

/// NumPy's product: leading dimensions broadcast, a vector is a row on the left
/// and a column on the right.
static LogicalResult importMatMul(NodeImport &node) {
  Datum a = node.input(0), b = node.input(1);
  if (failed(checkFactors(node, a, b)))
    return failure();
  bool hasRows = a.rank() > 1, hasColumns = b.rank() > 1;
  FailureOr<Size> summed = summedSize(node, a, a.sizes.back(), b,
                                      b.sizes[hasColumns ? b.rank() - 2 : 0]);
  if (failed(summed))
    return failure();
  // Loops: batch..., row, column, summed.
  Datum batches[] = {a, b};
  batches[0].sizes.truncate(hasRows ? a.rank() - 2 : 0);
  batches[1].sizes.truncate(hasColumns ? b.rank() - 2 : 0);
  FailureOr<SmallVector<Size>> extents = broadcastSizes(node, batches);
  if (failed(extents))
    return failure();
  auto numBatches = static_cast<unsigned>(extents->size());
  unsigned row = numBatches, column = row + hasRows, last = column + hasColumns;
  if (hasRows)
    extents->push_back(a.sizes[a.rank() - 2]);
  if (hasColumns)
    extents->push_back(b.sizes.back());
  extents->push_back(*summed);
  auto loopsOf = [&](const Datum &batch) {
    SmallVector<unsigned> loops;
    for (unsigned i = 0; i < batch.sizes.size(); ++i)
      loops.push_back(numBatches - batch.sizes.size() + i);
    return loops;
  };
  Factor left{&a, loopsOf(batches[0])}, right{&b, loopsOf(batches[1])};
  if (hasRows)
    left.loops.push_back(row);
  left.loops.push_back(last);
  right.loops.push_back(last);
  if (hasColumns)
    right.loops.push_back(column);
  node.setResult(0, contract(node, left, right, *extents));
  return success();
}

/// alpha A' B' + beta C, with A' and B' transposed where asked.
static LogicalResult importGemm(NodeImport &node) {
  Datum a = node.input(0), b = node.input(1);
  if (failed(checkFactors(node, a, b)))
    return failure();
  if (a.rank() != 2 || b.rank() != 2)
    return node.error("expected two matrices, got " + describe(a) + " and " +
                      describe(b));
  bool transA = node.integer("transA", 0) != 0;
  bool transB = node.integer("transB", 0) != 0;
  double alpha = node.number("alpha", 1), beta = node.number("beta", 1);
  FailureOr<Size> summed =
      summedSize(node, a, a.sizes[transA ? 0 : 1], b, b.sizes[transB ? 1 : 0]);
  if (failed(summed))
    return failure();
  Size extents[] = {a.sizes[transA ? 1 : 0], b.sizes[transB ? 0 : 1], *summed};
  Factor left{&a, {0, 2}}, right{&b, {2, 1}};
  if (transA)
    std::swap(left.loops[0], left.loops[1]);
  if (transB)
    std::swap(right.loops[0], right.loops[1]);
  Datum product = contract(node, left, right, extents);
  ElementType type = a.element;
  if (!isFloat(type) && (alpha != 1 || beta != 1))
    return node.error("expected alpha = beta = 1 for integers, got others");
  SmallVector<Datum> operands = {product};
  if (node.has(2)) {
    operands.push_back(node.input(2));
    if (operands.back().element != type)
      return node.error("expected C of the operands' type, got " +
                        describe(operands.back()));
  } else if (alpha == 1) {
    node.setResult(0, product);
    return success();
  }
  auto body = [&](OpBuilder &builder, Location loc,
                  ValueRange values) -> mlir::Value {
    auto scale = [&](mlir::Value value, double factor) -> mlir::Value {
      if (factor == 1)
        return value;
      return arith::MulFOp::create(
          builder, loc, value,
          constantLike(builder, loc, value.getType(), factor));
    };
    mlir::Value result = scale(values[0], alpha);
    if (values.size() == 1)
      return result;
    mlir::Value c = scale(values[1], beta);
    if (!isFloat(type))
      return arith::AddIOp::create(builder, loc, result, c);
    return arith::AddFOp::create(builder, loc, result, c);
  };
  FailureOr<Datum> result = elementwise(node, operands, type, body);
  if (failed(result))
    return failure();
  if (result->rank() != 2)
    return node.error("expected C to broadcast to the product, got " +
                      describe(operands.back()));
  node.setResult(0, *result);
  return success();
}

ArrayRef<Operator> matMulOperators() {
  static const Operator rows[] = {
      {"Gemm", 7, 2, 3, 1, importGemm, ""},
      {"MatMul", 1, 2, 2, 1, importMatMul, ""},
  };
  return rows;
}

} // namespace attn::onnx
