//===- Norms.cpp - softmax and normalisations -----------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// ONNX's Softmax of a row of -inf is NaN, that of attn.softmax is zero: they
// are different operations, and the first is built from its definition. Halves
// are computed in f32 and rounded at the end.
//
//===----------------------------------------------------------------------===//

#include "Build.h"
#include "ElementOps.h"

#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace mlir;

namespace attn::onnx {

Datum castTo(NodeImport &node, Datum &operand, ElementType type) {
  if (operand.element == type)
    return operand;
  ElementType from = operand.element;
  return *elementwise(
      node, operand, type, [&](OpBuilder &builder, Location loc, ValueRange v) {
        return emitCast(from, type, /*saturate=*/true, builder, loc, v[0]);
      });
}

/// One operation of two operands that broadcast.
static Datum apply(NodeImport &node, ElementOp op, Datum a, Datum b) {
  Datum operands[] = {std::move(a), std::move(b)};
  ElementType type = operands[0].element;
  return *elementwise(node, operands, type,
                      [&](OpBuilder &builder, Location loc, ValueRange v) {
                        return emitElement(op, type, builder, loc, v);
                      });
}

static Datum apply(NodeImport &node, ElementOp op, Datum operand) {
  ElementType type = operand.element;
  return *elementwise(node, operand, type,
                      [&](OpBuilder &builder, Location loc, ValueRange v) {
                        return emitElement(op, type, builder, loc, v);
                      });
}

static Datum reduceBy(NodeImport &node, ElementOp op, Datum operand,
                      ArrayRef<int64_t> axes, double init) {
  ElementType type = operand.element;
  return reduce(node, operand, axes, /*keepSizes=*/true, Scalar::ofFloat(init),
                [&](OpBuilder &builder, Location loc, ValueRange v) {
                  return emitElement(op, type, builder, loc, v);
                });
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

Datum softmax(NodeImport &node, Datum operand, ArrayRef<int64_t> axes,
              bool isLog) {
  Datum largest = reduceBy(node, ElementOp::Max, operand, axes,
                           -std::numeric_limits<double>::infinity());
  Datum shifted = apply(node, ElementOp::Sub, operand, largest);
  Datum powers = apply(node, ElementOp::Exp, shifted);
  Datum sum = reduceBy(node, ElementOp::Add, powers, axes, 0);
  if (isLog)
    return apply(node, ElementOp::Sub, shifted,
                 apply(node, ElementOp::Log, sum));
  return apply(node, ElementOp::Div, powers, sum);
}

static LogicalResult importSoftmax(NodeImport &node) {
  Datum operand = node.input(0);
  ElementType type = operand.element;
  if (operand.isList || !isFloat(type))
    return node.error("expected floating-point numbers, got " +
                      describe(operand));
  bool isOld = node.opset < 13;
  int64_t rank = operand.rank();
  FailureOr<int64_t> axis =
      node.axis(node.integer("axis", isOld ? 1 : -1), rank);
  if (failed(axis))
    return failure();
  // Before version 13 all dimensions from the axis on are one.
  SmallVector<int64_t> axes;
  for (int64_t dim = *axis; dim < (isOld ? rank : *axis + 1); ++dim)
    axes.push_back(dim);
  Datum wide = castTo(node, operand, isHalf(type) ? ElementType::Float : type);
  Datum result =
      softmax(node, wide, axes, node.getNode().opType == "LogSoftmax");
  node.setResult(0, castTo(node, result, type));
  return success();
}

//===----------------------------------------------------------------------===//
// Normalisations
//===----------------------------------------------------------------------===//

namespace {
/// What both normalisations have: x (outer..., D) and parameters of D, all f32.
struct NormOperands {
  ElementType type;
  SmallVector<Size> sizes; // of x as it came
  SmallVector<Size> outer; // the sizes that stay, then 1 for each other
  Datum input;             // (outer elements..., D)
  Datum scale;             // (D)
  std::optional<Datum> bias;
  double epsilon;
};
} // namespace

/// A parameter, which broadcasts to the normalised dimensions.
static FailureOr<Datum> parameter(NodeImport &node, unsigned number,
                                  ArrayRef<Size> inner, ElementType type) {
  Datum operand = node.input(number);
  Datum shape = makeDatum(type, inner, {});
  if (operand.isList || !isFloat(operand.element))
    return node.error("expected floating-point numbers in input " +
                      Twine(number) + ", got " + describe(operand));
  FailureOr<SmallVector<Size>> sizes = broadcastSizes(node, {operand, shape});
  if (failed(sizes))
    return failure();
  if (sizes->size() != inner.size())
    return node.error("expected input " + Twine(number) +
                      " to broadcast to the normalised dimensions, got " +
                      describe(operand));
  Datum full = broadcastTo(node, operand, inner);
  Datum flat = reshape(node, full, product(node, inner));
  return castTo(node, flat, ElementType::Float);
}

static FailureOr<NormOperands> normOperands(NodeImport &node) {
  NormOperands result;
  Datum operand = node.input(0);
  result.type = operand.element;
  result.sizes.assign(operand.sizes.begin(), operand.sizes.end());
  result.epsilon = node.number("epsilon", 1e-5f);
  if (operand.isList || !isFloat(operand.element))
    return node.error("expected floating-point numbers, got " +
                      describe(operand));
  if (int64_t stash = node.integer("stash_type", 1); stash != 1)
    return node.error("expected stash_type = 1 (FLOAT), got " + Twine(stash));
  FailureOr<int64_t> axis = node.axis(node.integer("axis", -1), operand.rank());
  if (failed(axis))
    return failure();
  ArrayRef<Size> all = result.sizes;
  ArrayRef<Size> inner = all.drop_front(*axis);
  SmallVector<Size> rows(all.take_front(*axis));
  result.outer = rows;
  result.outer.append(inner.size(), sizeOf(node, 1));
  rows.push_back(product(node, inner));
  Datum flat = reshape(node, operand, rows);
  result.input = castTo(node, flat, ElementType::Float);
  FailureOr<Datum> scale = parameter(node, 1, inner, operand.element);
  if (failed(scale))
    return failure();
  result.scale = *scale;
  if (node.has(2)) {
    FailureOr<Datum> bias = parameter(node, 2, inner, operand.element);
    if (failed(bias))
      return failure();
    result.bias = *bias;
  }
  return result;
}

/// The result in the shape and type of x.
static void setNormResult(NodeImport &node, const NormOperands &norm,
                          mlir::Value rows) {
  Datum datum = makeDatum(ElementType::Float, norm.input.sizes, rows);
  Datum typed = castTo(node, datum, norm.type);
  node.setResult(0, reshape(node, typed, norm.sizes));
}

/// The mean along the last dimension, whose size becomes 1.
static Datum meanOf(NodeImport &node, Datum operand) {
  int64_t last = operand.rank() - 1;
  Datum sum = reduceBy(node, ElementOp::Add, operand, last, 0);
  Size size = operand.sizes.back();
  Datum count =
      numberOf(size)
          ? makeScalar(operand.element, static_cast<double>(*numberOf(size)))
          : makeKnown(ElementType::Int64, {}, {Scalar::ofSize(size)});
  return apply(node, ElementOp::Div, sum, castTo(node, count, operand.element));
}

/// 1 / sqrt(x + epsilon)
static Datum inverseRoot(NodeImport &node, Datum operand, double epsilon) {
  return *elementwise(
      node, operand, operand.element,
      [&](OpBuilder &builder, Location loc, ValueRange v) -> mlir::Value {
        mlir::Type type = v[0].getType();
        mlir::Value sum = arith::AddFOp::create(
            builder, loc, v[0], constantLike(builder, loc, type, epsilon));
        return arith::DivFOp::create(builder, loc,
                                     constantLike(builder, loc, type, 1.0),
                                     math::SqrtOp::create(builder, loc, sum));
      });
}

static LogicalResult importLayerNormalization(NodeImport &node) {
  FailureOr<NormOperands> norm = normOperands(node);
  if (failed(norm))
    return failure();
  if (!norm->bias) {
    Datum zero = makeScalar(ElementType::Float, 0);
    norm->bias = broadcastTo(node, zero, norm->scale.sizes);
  }
  mlir::Value input = node.tensor(norm->input);
  mlir::Value rows = LayerNormOp::create(
      node.builder, node.loc, input.getType(), input, node.tensor(norm->scale),
      node.tensor(*norm->bias), node.builder.getF64FloatAttr(norm->epsilon));
  setNormResult(node, *norm, rows);
  if (!node.wants(1) && !node.wants(2))
    return success();
  Datum mean = meanOf(node, norm->input);
  Datum deviation = apply(node, ElementOp::Sub, norm->input, mean);
  Datum variance =
      meanOf(node, apply(node, ElementOp::Mul, deviation, deviation));
  Datum inverse = inverseRoot(node, variance, norm->epsilon);
  node.setResult(1, reshape(node, mean, norm->outer));
  node.setResult(2, reshape(node, inverse, norm->outer));
  return success();
}

static LogicalResult importRMSNormalization(NodeImport &node) {
  FailureOr<NormOperands> norm = normOperands(node);
  if (failed(norm))
    return failure();
  mlir::Value input = node.tensor(norm->input);
  mlir::Value rows = RmsNormOp::create(
      node.builder, node.loc, input.getType(), input, node.tensor(norm->scale),
      node.builder.getF64FloatAttr(norm->epsilon));
  setNormResult(node, *norm, rows);
  return success();
}

ArrayRef<Operator> normOperators() {
  static const Operator rows[] = {
      {"LayerNormalization", 17, 2, 3, 3, importLayerNormalization,
       "stash_type is FLOAT"},
      {"LogSoftmax", 1, 1, 1, 1, importSoftmax, ""},
      {"RMSNormalization", 23, 2, 2, 1, importRMSNormalization,
       "stash_type is FLOAT"},
      {"Softmax", 1, 1, 1, 1, importSoftmax, ""},
  };
  return rows;
}

} // namespace attn::onnx
