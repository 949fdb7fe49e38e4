//===- Reduce.cpp - operators that combine elements along axes ------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A reduction is what an element becomes first (a square), how two are
// combined, what nothing gives, and what the outcome becomes (a mean).
//
//===----------------------------------------------------------------------===//

#include "Build.h"
#include "ElementOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace mlir;

namespace attn::onnx {

namespace {
enum class Reduction { Max, Min, Sum, Mean, Prod, SumSquare, L1, L2 };

struct ReductionRow {
  StringLiteral name;
  Reduction kind;
  /// The first version in which the axes are an input.
  int64_t axesAreInput;
};
} // namespace

static constexpr ReductionRow reductionRows[] = {
    {"ReduceL1", Reduction::L1, 18},
    {"ReduceL2", Reduction::L2, 18},
    {"ReduceMax", Reduction::Max, 18},
    {"ReduceMean", Reduction::Mean, 18},
    {"ReduceMin", Reduction::Min, 18},
    {"ReduceProd", Reduction::Prod, 18},
    {"ReduceSum", Reduction::Sum, 13},
    {"ReduceSumSquare", Reduction::SumSquare, 18},
};

/// What an empty set gives.
static Scalar initOf(Reduction kind, ElementType type) {
  bool floats = isFloat(type);
  unsigned width = type == ElementType::Bool ? 1 : elementTypeBits(type);
  switch (kind) {
  case Reduction::Max:
    if (floats)
      return Scalar::ofFloat(-std::numeric_limits<double>::infinity());
    return Scalar::ofInteger(
        isUnsigned(type) ? 0
                         : static_cast<int64_t>(uint64_t(-1) << (width - 1)));
  case Reduction::Min:
    if (floats)
      return Scalar::ofFloat(std::numeric_limits<double>::infinity());
    return Scalar::ofInteger(static_cast<int64_t>(
        isUnsigned(type) ? llvm::maskTrailingOnes<uint64_t>(width)
                         : llvm::maskTrailingOnes<uint64_t>(width - 1)));
  case Reduction::Prod:
    return floats ? Scalar::ofFloat(1) : Scalar::ofInteger(1);
  default:
    return floats ? Scalar::ofFloat(0) : Scalar::ofInteger(0);
  }
}

/// The element as it is combined.
static mlir::Value prepare(Reduction kind, ElementType type, OpBuilder &builder,
                           Location loc, mlir::Value element) {
  switch (kind) {
  case Reduction::SumSquare:
  case Reduction::L2:
    return emitElement(ElementOp::Mul, type, builder, loc, {element, element});
  case Reduction::L1:
    return emitElement(ElementOp::Abs, type, builder, loc, element);
  default:
    return element;
  }
}

static ElementOp combinerOf(Reduction kind) {
  switch (kind) {
  case Reduction::Max:
    return ElementOp::Max;
  case Reduction::Min:
    return ElementOp::Min;
  case Reduction::Prod:
    return ElementOp::Mul;
  default:
    return ElementOp::Add;
  }
}

/// Sizes and other numbers that are known, without axes: all of them.
static std::optional<Datum> foldReduction(NodeImport &node, Datum &operand,
                                          Reduction kind,
                                          ArrayRef<int64_t> axes, bool keep) {
  bool isAll = static_cast<int64_t>(axes.size()) == operand.rank();
  bool isSimple = kind == Reduction::Max || kind == Reduction::Min ||
                  kind == Reduction::Sum || kind == Reduction::Prod;
  if (!operand.known || !isAll || !isSimple || !isInteger(operand.element) ||
      operand.element == ElementType::Bool)
    return std::nullopt;
  std::optional<Scalar> total = initOf(kind, operand.element);
  for (const Scalar &scalar : *operand.known) {
    Scalar pair[] = {*total, scalar};
    total = foldElement(node, combinerOf(kind), operand.element, pair);
    if (!total)
      return std::nullopt;
  }
  SmallVector<Size> sizes(keep ? operand.rank() : 0, sizeOf(node, 1));
  return makeKnown(operand.element, sizes, {*total});
}

static LogicalResult importReduction(NodeImport &node) {
  const auto *row = llvm::find_if(reductionRows, [&](const ReductionRow &row) {
    return row.name == node.getNode().opType;
  });
  Reduction kind = row->kind;
  Datum operand = node.input(0);
  ElementType type = operand.element;
  bool isBool = type == ElementType::Bool;
  bool takes = isBool ? kind == Reduction::Max || kind == Reduction::Min
                      : isFloat(type) || isInteger(type);
  if (operand.isList || !takes ||
      (isInteger(type) && (kind == Reduction::Mean || kind == Reduction::L2)))
    return node.error("expected numbers that this operator takes, got " +
                      describe(operand));
  bool keep = node.integer("keepdims", 1) != 0;
  bool isNothing = node.integer("noop_with_empty_axes", 0) != 0;
  std::optional<SmallVector<int64_t>> given;
  if (node.opset < row->axesAreInput) {
    given = node.integerList("axes");
  } else if (node.has(1)) {
    FailureOr<SmallVector<int64_t>> axes =
        node.integers(1, "names the axes that are reduced");
    if (failed(axes))
      return failure();
    given = *axes;
  }
  SmallVector<int64_t> axes;
  if (given && !given->empty()) {
    FailureOr<SmallVector<int64_t>> valid = node.axes(*given, operand.rank());
    if (failed(valid))
      return failure();
    axes = *valid;
  } else if (!isNothing) {
    for (int64_t axis = 0; axis < operand.rank(); ++axis)
      axes.push_back(axis);
  }
  // Nothing to combine: the operand itself, prepared.
  bool isIdentity = axes.empty() && kind != Reduction::SumSquare &&
                    kind != Reduction::L1 && kind != Reduction::L2;
  if (isIdentity) {
    node.setResult(0, operand);
    return success();
  }
  if (std::optional<Datum> folded =
          foldReduction(node, operand, kind, axes, keep)) {
    node.setResult(0, *folded);
    return success();
  }

  ElementType inner = isHalf(type) ? ElementType::Float : type;
  auto body = [&](OpBuilder &builder, Location loc, ValueRange values) {
    mlir::Value element = prepare(kind, inner, builder, loc, values[0]);
    return emitElement(combinerOf(kind), inner, builder, loc,
                       {values[1], element});
  };
  std::optional<Datum> count;
  if (kind == Reduction::Mean) {
    Size total = sizeOf(node, 1);
    for (int64_t axis : axes)
      total = multiply(node, total, operand.sizes[axis]);
    if (std::optional<int64_t> number = numberOf(total)) {
      count = makeScalar(inner, static_cast<double>(*number));
    } else {
      // A size that is known when the model runs, as a number.
      Datum size = makeKnown(ElementType::Int64, {}, {Scalar::ofSize(total)});
      FailureOr<Datum> converted =
          elementwise(node, size, inner,
                      [&](OpBuilder &builder, Location loc, ValueRange values) {
                        return emitCast(ElementType::Int64, inner, true,
                                        builder, loc, values[0]);
                      });
      count = *converted;
    }
  }
  Scalar init = initOf(kind, type);
  bool hasFinish =
      kind == Reduction::L2 || (count && count->splat().has_value());
  auto finish = [&](OpBuilder &builder, Location loc,
                    ValueRange values) -> mlir::Value {
    if (kind == Reduction::L2)
      return math::SqrtOp::create(builder, loc, values[0]);
    mlir::Value divisor =
        constantLike(builder, loc, values[0].getType(), count->splat()->number);
    return arith::DivFOp::create(builder, loc, values[0], divisor);
  };
  Datum result = reduce(node, operand, axes, keep, init, body,
                        hasFinish ? ElementFn(finish) : ElementFn(nullptr));
  if (count && !hasFinish) {
    Datum pair[] = {result, *count};
    FailureOr<Datum> mean = elementwise(
        node, pair, type,
        [&](OpBuilder &builder, Location loc, ValueRange values) {
          return arith::DivFOp::create(builder, loc, values[0], values[1])
              .getResult();
        });
    if (failed(mean))
      return failure();
    result = *mean;
  }
  node.setResult(0, result);
  return success();
}

static constexpr StringLiteral known = "axes known at import";

ArrayRef<Operator> reduceOperators() {
  static const Operator rows[] = {
      {"ReduceL1", 1, 1, 2, 1, importReduction, known},
      {"ReduceL2", 1, 1, 2, 1, importReduction, known},
      {"ReduceMax", 1, 1, 2, 1, importReduction, known},
      {"ReduceMean", 1, 1, 2, 1, importReduction, known},
      {"ReduceMin", 1, 1, 2, 1, importReduction, known},
      {"ReduceProd", 1, 1, 2, 1, importReduction, known},
      {"ReduceSum", 1, 1, 2, 1, importReduction, known},
      {"ReduceSumSquare", 1, 1, 2, 1, importReduction, known},
  };
  return rows;
}

} // namespace attn::onnx
