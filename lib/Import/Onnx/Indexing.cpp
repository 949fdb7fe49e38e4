//===- Indexing.cpp - operators that choose elements by position ----------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Gathers, padding, triangles, ranges, running sums. An index that is data is
// counted from the end where it is negative and then clamped: a model cannot be
// made to read outside of a tensor.
//
//===----------------------------------------------------------------------===//

#include "Build.h"
#include "Importer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;

namespace attn::onnx {

namespace {
/// Index arithmetic inside of a loop nest.
struct IndexMath {
  OpBuilder &builder;
  Location loc;

  mlir::Value number(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  mlir::Value add(mlir::Value a, mlir::Value b) {
    return arith::AddIOp::create(builder, loc, a, b);
  }
  mlir::Value subtract(mlir::Value a, mlir::Value b) {
    return arith::SubIOp::create(builder, loc, a, b);
  }
  mlir::Value compare(arith::CmpIPredicate predicate, mlir::Value a,
                      mlir::Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  mlir::Value both(mlir::Value a, mlir::Value b) {
    return arith::AndIOp::create(builder, loc, a, b);
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  /// An element of a tensor of integers.
  mlir::Value fromInteger(mlir::Value element) {
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      element);
  }
  mlir::Value clamp(mlir::Value index, mlir::Value size) {
    mlir::Value zero = number(0);
    mlir::Value last = subtract(size, number(1));
    index = arith::MinSIOp::create(builder, loc, index, last);
    return arith::MaxSIOp::create(builder, loc, index, zero);
  }
  /// An index of data, -size to size - 1, as one of 0 to size - 1.
  mlir::Value fromData(mlir::Value element, mlir::Value size) {
    mlir::Value index = fromInteger(element);
    mlir::Value isNegative =
        compare(arith::CmpIPredicate::slt, index, number(0));
    return clamp(select(isNegative, add(index, size), index), size);
  }
};

using GatherFn = llvm::function_ref<mlir::Value(IndexMath &, ValueRange inputs,
                                                ValueRange position)>;
} // namespace

/// Elements by position and by elements of inputs that broadcast to the result.
static Datum gather(NodeImport &node, ElementType element, ArrayRef<Size> sizes,
                    ArrayRef<BroadcastInput> inputs, GatherFn body) {
  auto withIndices = [&](OpBuilder &inner, Location at, ValueRange elements) {
    SmallVector<mlir::Value> position;
    for (size_t dim = 0; dim < sizes.size(); ++dim)
      position.push_back(linalg::IndexOp::create(inner, at, dim));
    IndexMath math{inner, at};
    linalg::YieldOp::create(
        inner, at, body(math, elements.take_front(inputs.size()), position));
  };
  mlir::Value result =
      makeGeneric(node, inputs, makeEmpty(node, element, sizes), withIndices);
  return makeDatum(element, sizes, result);
}

/// For loops over `loops` that index a tensor of `sizes`: null where the index
/// is in the tensor, else the size that it must be clamped to.
static SmallVector<mlir::Value> boundsOf(NodeImport &node, ArrayRef<Size> loops,
                                         ArrayRef<Size> sizes) {
  SmallVector<mlir::Value> bounds;
  for (auto [loop, size] : llvm::zip_equal(loops, sizes)) {
    std::optional<int64_t> a = numberOf(loop), b = numberOf(size);
    bool isInside = isEqual(loop, size) || (a && b && *a <= *b);
    bounds.push_back(isInside ? mlir::Value() : toIndex(node, size));
  }
  return bounds;
}

static mlir::Value clampTo(IndexMath &math, mlir::Value index,
                           mlir::Value bound) {
  return bound ? math.clamp(index, bound) : index;
}

/// Whether sizes that are numbers are equal.
static bool agrees(Size a, Size b) {
  std::optional<int64_t> x = numberOf(a), y = numberOf(b);
  return !x || !y || *x == *y;
}

/// A tensor of integers that is an input.
static LogicalResult checkIndices(NodeImport &node, unsigned number) {
  ElementType type = node.input(number).element;
  if (type == ElementType::Int64 || type == ElementType::Int32)
    return success();
  return node.error("expected INT32 or INT64 in input " + Twine(number) +
                    ", got " + describe(node.input(number)));
}

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

static LogicalResult importGather(NodeImport &node) {
  Datum data = node.input(0), indices = node.input(1);
  if (failed(checkIndices(node, 1)))
    return failure();
  FailureOr<int64_t> axis = node.axis(node.integer("axis", 0), data.rank());
  if (failed(axis))
    return failure();
  SmallVector<Size> sizes(data.sizes.begin(), data.sizes.begin() + *axis);
  llvm::append_range(sizes, indices.sizes);
  sizes.append(data.sizes.begin() + *axis + 1, data.sizes.end());
  std::optional<int64_t> extent = numberOf(data.sizes[*axis]);

  // Known indices choose slices: of what is known, or one view.
  if (indices.known && extent && (data.known || indices.known->size() == 1) &&
      llvm::none_of(*indices.known,
                    [](const Scalar &scalar) { return scalar.isSize(); })) {
    SmallVector<Datum> parts;
    for (const Scalar &scalar : *indices.known) {
      int64_t index = scalar.integer;
      if (index < -*extent || index >= *extent)
        return node.error("expected indices of " + Twine(-*extent) + " to " +
                          Twine(*extent - 1) + ", got " + Twine(index));
      parts.push_back(slice(node, data, *axis,
                            sizeOf(node, index < 0 ? index + *extent : index),
                            sizeOf(node, 1)));
    }
    if (!parts.empty()) {
      Datum joined = concatenate(node, parts, *axis);
      node.setResult(0, reshape(node, joined, sizes));
      return success();
    }
  }
  mlir::Value source = node.tensor(data);
  mlir::Value size = toIndex(node, data.sizes[*axis]);
  SmallVector<unsigned> loops;
  for (int64_t dim = 0; dim < indices.rank(); ++dim)
    loops.push_back(static_cast<unsigned>(*axis + dim));
  BroadcastInput input{node.tensor(indices),
                       AffineMap::getMultiDimMapWithTargets(sizes.size(), loops,
                                                            node.context())};
  node.setResult(
      0, gather(node, data.element, sizes, input,
                [&](IndexMath &math, ValueRange inputs, ValueRange position) {
                  SmallVector<mlir::Value> from(position.begin(),
                                                position.begin() + *axis);
                  from.push_back(math.fromData(inputs[0], size));
                  llvm::append_range(
                      from, position.drop_front(*axis + indices.rank()));
                  return extract(math.builder, math.loc, source, from);
                }));
  return success();
}

static LogicalResult importGatherElements(NodeImport &node) {
  Datum data = node.input(0), indices = node.input(1);
  if (failed(checkIndices(node, 1)))
    return failure();
  FailureOr<int64_t> axis = node.axis(node.integer("axis", 0), data.rank());
  if (failed(axis))
    return failure();
  bool fits = indices.rank() == data.rank();
  for (int64_t dim = 0; fits && dim < data.rank(); ++dim) {
    std::optional<int64_t> a = numberOf(indices.sizes[dim]),
                           b = numberOf(data.sizes[dim]);
    fits = dim == *axis || !a || !b || *a <= *b;
  }
  if (!fits)
    return node.error("expected indices that are not larger than the data in "
                      "all but axis " +
                      Twine(*axis) + ", got " + describe(indices) + " and " +
                      describe(data));
  mlir::Value source = node.tensor(data);
  mlir::Value extent = toIndex(node, data.sizes[*axis]);
  SmallVector<mlir::Value> bounds = boundsOf(node, indices.sizes, data.sizes);
  BroadcastInput input = makeBroadcastInput(node, indices, indices.sizes);
  node.setResult(
      0, gather(node, data.element, indices.sizes, input,
                [&](IndexMath &math, ValueRange inputs, ValueRange position) {
                  SmallVector<mlir::Value> from;
                  for (auto [at, bound] : llvm::zip_equal(position, bounds))
                    from.push_back(clampTo(math, at, bound));
                  from[*axis] = math.fromData(inputs[0], extent);
                  return extract(math.builder, math.loc, source, from);
                }));
  return success();
}

static LogicalResult importGatherND(NodeImport &node) {
  Datum data = node.input(0), indices = node.input(1);
  int64_t batch = node.integer("batch_dims", 0);
  if (failed(checkIndices(node, 1)))
    return failure();
  std::optional<int64_t> depth =
      indices.sizes.empty() ? std::nullopt : numberOf(indices.sizes.back());
  if (!depth || *depth < 1 || batch < 0 || batch >= indices.rank() ||
      batch + *depth > data.rank())
    return node.error(
        "expected indices whose last size is a number, with "
        "batch_dims less than their rank and batch_dims plus that "
        "number at most the rank of the data, got " +
        describe(indices) + " for " + describe(data) +
        " with batch_dims = " + Twine(batch));
  for (int64_t dim = 0; dim < batch; ++dim)
    if (!agrees(indices.sizes[dim], data.sizes[dim]))
      return node.error("expected batch dimensions of equal sizes, got " +
                        describe(indices) + " for " + describe(data));
  SmallVector<Size> sizes(indices.sizes.begin(), indices.sizes.end() - 1);
  SmallVector<mlir::Value> bounds =
      boundsOf(node, ArrayRef<Size>(indices.sizes).take_front(batch),
               ArrayRef<Size>(data.sizes).take_front(batch));
  sizes.append(data.sizes.begin() + batch + *depth, data.sizes.end());
  mlir::Value source = node.tensor(data), table = node.tensor(indices);
  SmallVector<mlir::Value> extents;
  for (Size size : data.sizes)
    extents.push_back(toIndex(node, size));
  node.setResult(
      0, gather(node, data.element, sizes, {},
                [&](IndexMath &math, ValueRange, ValueRange position) {
                  auto outer = position.take_front(indices.rank() - 1);
                  SmallVector<mlir::Value> from;
                  for (auto [at, bound] :
                       llvm::zip_equal(outer.take_front(batch), bounds))
                    from.push_back(clampTo(math, at, bound));
                  for (int64_t i = 0; i < *depth; ++i) {
                    SmallVector<mlir::Value> at(outer);
                    at.push_back(math.number(i));
                    mlir::Value index =
                        extract(math.builder, math.loc, table, at);
                    from.push_back(math.fromData(index, extents[batch + i]));
                  }
                  llvm::append_range(from,
                                     position.drop_front(indices.rank() - 1));
                  return extract(math.builder, math.loc, source, from);
                }));
  return success();
}

/// present[b, ..., p, ...] is update[b, ..., p - w[b], ...] where that exists,
/// else past[b, ..., p, ...].
static LogicalResult importTensorScatter(NodeImport &node) {
  Datum past = node.input(0), update = node.input(1);
  StringRef mode = node.text("mode", "linear");
  if (mode != "linear" && mode != "circular")
    return node.error("expected mode = linear or circular, got '" + mode + "'");
  FailureOr<int64_t> axis = node.axis(node.integer("axis", -2), past.rank());
  if (failed(axis))
    return failure();
  if (*axis == 0 || update.rank() != past.rank() ||
      update.element != past.element)
    return node.error("expected an update of the rank and type of the cache, "
                      "and an axis other than 0, got " +
                      describe(update) + " for " + describe(past));
  for (int64_t dim = 0; dim < past.rank(); ++dim)
    if (dim != *axis && !agrees(past.sizes[dim], update.sizes[dim]))
      return node.error("expected an update of the cache's sizes in all but "
                        "axis " +
                        Twine(*axis) + ", got " + describe(update) + " for " +
                        describe(past));
  SmallVector<mlir::Value> bounds = boundsOf(node, past.sizes, update.sizes);
  mlir::Value cache = node.tensor(past), source = node.tensor(update);
  mlir::Value length = toIndex(node, past.sizes[*axis]);
  mlir::Value count = toIndex(node, update.sizes[*axis]);
  SmallVector<BroadcastInput> inputs;
  if (node.has(2)) {
    if (failed(checkIndices(node, 2)))
      return failure();
    if (node.input(2).rank() != 1 ||
        !agrees(node.input(2).sizes[0], past.sizes[0]))
      return node.error("expected an index for each of the batch, got " +
                        describe(node.input(2)));
    unsigned loop = 0;
    inputs.push_back({node.tensor(2), AffineMap::getMultiDimMapWithTargets(
                                          past.rank(), loop, node.context())});
  }
  node.setResult(
      0,
      gather(
          node, past.element, past.sizes, inputs,
          [&](IndexMath &math, ValueRange elements, ValueRange position) {
            mlir::Value first = elements.empty()
                                    ? math.number(0)
                                    : math.fromInteger(elements[0]);
            mlir::Value at = math.subtract(position[*axis], first);
            if (mode == "circular") {
              // The remainder of a position that may be negative.
              at = arith::RemSIOp::create(math.builder, math.loc, at, length);
              mlir::Value isNegative =
                  math.compare(arith::CmpIPredicate::slt, at, math.number(0));
              at = math.select(isNegative, math.add(at, length), at);
            }
            // As unsigned numbers, negative ones are large.
            mlir::Value isNew =
                math.compare(arith::CmpIPredicate::ult, at, count);
            SmallVector<mlir::Value> from;
            for (auto [where, bound] : llvm::zip_equal(position, bounds))
              from.push_back(clampTo(math, where, bound));
            from[*axis] = math.clamp(at, count);
            mlir::Value fresh = extract(math.builder, math.loc, source, from);
            mlir::Value old = extract(math.builder, math.loc, cache, position);
            return math.select(isNew, fresh, old);
          }));
  return success();
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// Keeps what is on or above (below) a diagonal; 0 elsewhere.
static LogicalResult importTrilu(NodeImport &node) {
  Datum operand = node.input(0);
  bool isUpper = node.integer("upper", 1) != 0;
  int64_t rank = operand.rank();
  if (rank < 2)
    return node.error("expected a rank of 2 or more, got " + describe(operand));
  Datum diagonal = makeScalar(ElementType::Int64, 0);
  if (node.has(1)) {
    if (failed(checkIndices(node, 1)))
      return failure();
    diagonal = node.input(1);
    if (diagonal.numElements() != 1)
      return node.error("expected one number k, got " + describe(diagonal));
    diagonal = reshape(node, diagonal, {});
  }
  auto keeps = [&](int64_t row, int64_t column, int64_t k) {
    return isUpper ? column >= row + k : column <= row + k;
  };
  std::optional<Scalar> k = diagonal.splat();
  if (operand.known && operand.isStatic() && k) {
    SmallVector<int64_t, 4> shape = operand.shape();
    Scalars scalars;
    for (auto [i, scalar] : llvm::enumerate(*operand.known)) {
      int64_t column = static_cast<int64_t>(i) % shape[rank - 1];
      int64_t row = static_cast<int64_t>(i) / shape[rank - 1] % shape[rank - 2];
      Scalar zero = scalar;
      zero.integer = 0;
      zero.number = 0;
      scalars.push_back(keeps(row, column, k->integer) ? scalar : zero);
    }
    node.setResult(0, makeKnown(operand.element, operand.sizes, scalars));
    return success();
  }
  mlir::Type element = mlirType(operand.element, node.context());
  BroadcastInput inputs[] = {makeBroadcastInput(node, operand, operand.sizes),
                             makeBroadcastInput(node, diagonal, operand.sizes)};
  node.setResult(
      0,
      gather(node, operand.element, operand.sizes, inputs,
             [&](IndexMath &math, ValueRange elements, ValueRange position) {
               mlir::Value limit =
                   math.add(position[rank - 2], math.fromInteger(elements[1]));
               auto predicate = isUpper ? arith::CmpIPredicate::sge
                                        : arith::CmpIPredicate::sle;
               mlir::Value isKept =
                   math.compare(predicate, position[rank - 1], limit);
               mlir::Value zero = arith::ConstantOp::create(
                   math.builder, math.loc, math.builder.getZeroAttr(element));
               return math.select(isKept, elements[0], zero);
             }));
  return success();
}

/// The number of elements of a range, none if that is not a number of moderate
/// size.
static std::optional<int64_t>
countRange(const Scalar &start, const Scalar &limit, const Scalar &delta) {
  double count;
  if (start.kind == Scalar::Kind::Float)
    count = (limit.number - start.number) / delta.number;
  else
    count = (static_cast<double>(limit.integer) -
             static_cast<double>(start.integer)) /
            static_cast<double>(delta.integer);
  count = std::ceil(count);
  if (!(count <= INT32_MAX))
    return std::nullopt;
  return std::max<int64_t>(0, static_cast<int64_t>(std::max(count, 0.0)));
}

static LogicalResult importRange(NodeImport &node) {
  Datum operands[] = {node.input(0), node.input(1), node.input(2)};
  ElementType type = operands[0].element;
  for (Datum &operand : operands) {
    if (operand.element != type || operand.numElements() != 1 ||
        !(isFloat(type) || isInteger(type)))
      return node.error("expected three numbers of one type, got " +
                        describe(operand));
    operand = reshape(node, operand, {});
  }
  auto scalarOf = [](const Datum &datum) {
    return datum.known ? std::optional<Scalar>(datum.known->front())
                       : std::nullopt;
  };
  std::optional<Scalar> start = scalarOf(operands[0]),
                        limit = scalarOf(operands[1]),
                        delta = scalarOf(operands[2]);
  bool isKnown = start && limit && delta;
  bool hasSizes = isKnown && (start->isSize() || limit->isSize());
  Size count = sizeOf(node, 0);
  if (isKnown && !hasSizes && !delta->isSize()) {
    bool isZero = delta->kind == Scalar::Kind::Float ? delta->number == 0
                                                     : delta->integer == 0;
    std::optional<int64_t> number =
        isZero ? std::nullopt : countRange(*start, *limit, *delta);
    if (!number)
      return node.error("expected a delta other than 0 and at most 2147483647 "
                        "elements, got others");
    count = sizeOf(node, *number);
    if (*number <= maxKnown) {
      Scalars scalars;
      for (int64_t i = 0; i < *number; ++i)
        scalars.push_back(
            start->kind == Scalar::Kind::Float
                ? Scalar::ofFloat(
                      roundTo(type, start->number +
                                        static_cast<double>(i) * delta->number))
                : Scalar::ofInteger(start->integer + i * delta->integer));
      node.setResult(0, makeKnown(type, count, std::move(scalars)));
      return success();
    }
  } else if (hasSizes && !delta->isSize() && delta->integer == 1) {
    auto sizeFrom = [&](const Scalar &scalar) -> Size {
      return scalar.isSize() ? Size(scalar.size) : sizeOf(node, scalar.integer);
    };
    count = subtract(node, sizeFrom(*limit), sizeFrom(*start));
  } else {
    // The values come when the model runs; their number must be stated.
    auto stated = node.statedShape(0);
    if (!stated || stated->size() != 1) {
      for (unsigned i = 0; i < 3; ++i)
        if (!scalarOf(operands[i]))
          (void)node.unknown(i, "decides the shape of a result");
      return failure();
    }
    count = sizeOf(node, stated->front());
  }
  mlir::Type element = mlirType(type, node.context());
  BroadcastInput inputs[] = {makeBroadcastInput(node, operands[0], count),
                             makeBroadcastInput(node, operands[2], count)};
  node.setResult(
      0, gather(node, type, count, inputs,
                [&](IndexMath &math, ValueRange elements,
                    ValueRange position) -> mlir::Value {
                  OpBuilder &builder = math.builder;
                  Location loc = math.loc;
                  mlir::Value i = arith::IndexCastOp::create(
                      builder, loc, builder.getI64Type(), position[0]);
                  if (!isFloat(type)) {
                    unsigned width = element.getIntOrFloatBitWidth();
                    if (width < 64)
                      i = arith::TruncIOp::create(builder, loc, element, i);
                    return arith::AddIOp::create(
                        builder, loc, elements[0],
                        arith::MulIOp::create(builder, loc, i, elements[1]));
                  }
                  // f64 holds each step exactly; rounded once.
                  mlir::Type wide = builder.getF64Type();
                  auto widen = [&](mlir::Value value) -> mlir::Value {
                    if (element.isF64())
                      return value;
                    return arith::ExtFOp::create(builder, loc, wide, value);
                  };
                  mlir::Value step = arith::MulFOp::create(
                      builder, loc,
                      arith::SIToFPOp::create(builder, loc, wide, i),
                      widen(elements[1]));
                  mlir::Value value = arith::AddFOp::create(
                      builder, loc, widen(elements[0]), step);
                  if (element.isF64())
                    return value;
                  return arith::TruncFOp::create(builder, loc, element, value);
                }));
  return success();
}

/// Sums of slices, one after the other: a loop over the axis that carries the
/// sum so far and the result.
static LogicalResult importCumSum(NodeImport &node) {
  Datum operand = node.input(0);
  bool isExclusive = node.integer("exclusive", 0) != 0;
  bool isReverse = node.integer("reverse", 0) != 0;
  if (!isFloat(operand.element) && !isInteger(operand.element))
    return node.error("expected numbers, got " + describe(operand));
  FailureOr<SmallVector<int64_t>> axes = node.integers(1, "names an axis");
  if (failed(axes))
    return failure();
  if (axes->size() != 1)
    return node.error("expected one axis, got " + Twine(axes->size()));
  FailureOr<int64_t> axis = node.axis(axes->front(), operand.rank());
  if (failed(axis))
    return failure();

  OpBuilder &builder = node.builder;
  Location loc = node.loc;
  ElementType sumType =
      isHalf(operand.element) ? ElementType::Float : operand.element;
  mlir::Type sumElement = mlirType(sumType, node.context());
  mlir::Type element = mlirType(operand.element, node.context());
  SmallVector<Size> rest(operand.sizes);
  rest.erase(rest.begin() + *axis);
  SmallVector<OpFoldResult> offsets(operand.rank(), sizeOf(node, 0)),
      strides(operand.rank(), sizeOf(node, 1)),
      sizes(operand.sizes.begin(), operand.sizes.end());
  sizes[*axis] = sizeOf(node, 1);
  mlir::Value source = node.tensor(operand);
  mlir::Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(sumElement));
  mlir::Value sum =
      linalg::FillOp::create(builder, loc, zero, makeEmpty(node, sumType, rest))
          .getResult(0);
  mlir::Value result = makeEmpty(node, operand.element, operand.sizes);
  RankedTensorType sliceType = tensorType(node, operand.element, rest);
  mlir::Value begin = toIndex(node, sizeOf(node, 0)),
              end = toIndex(node, operand.sizes[*axis]),
              step = toIndex(node, sizeOf(node, 1));
  AffineMap identity = builder.getMultiDimIdentityMap(rest.size());
  SmallVector<utils::IteratorType> iterators(rest.size(),
                                             utils::IteratorType::parallel);
  auto loop = scf::ForOp::create(
      builder, loc, begin, end, step, ValueRange{sum, result},
      [&](OpBuilder &inner, Location at, mlir::Value i, ValueRange carried) {
        IndexMath math{inner, at};
        SmallVector<OpFoldResult> here = offsets;
        here[*axis] =
            isReverse ? math.subtract(math.subtract(end, step), i) : i;
        mlir::Value part = tensor::ExtractSliceOp::create(
            inner, at, sliceType, source, here, sizes, strides);
        // The new sum, and what is written in its place: it, or the sum before.
        mlir::Value written = tensor::ExtractSliceOp::create(
            inner, at, sliceType, carried[1], here, sizes, strides);
        auto both = linalg::GenericOp::create(
            inner, at, TypeRange{carried[0].getType(), sliceType}, part,
            ValueRange{carried[0], written},
            ArrayRef<AffineMap>{identity, identity, identity}, iterators,
            [&](OpBuilder &body, Location where, ValueRange elements) {
              mlir::Value value = elements[0];
              if (element != sumElement)
                value = arith::ExtFOp::create(body, where, sumElement, value);
              mlir::Value next = isFloat(sumType)
                                     ? mlir::Value(arith::AddFOp::create(
                                           body, where, elements[1], value))
                                     : mlir::Value(arith::AddIOp::create(
                                           body, where, elements[1], value));
              mlir::Value out = isExclusive ? mlir::Value(elements[1]) : next;
              if (element != sumElement)
                out = arith::TruncFOp::create(body, where, element, out);
              linalg::YieldOp::create(body, where, ValueRange{next, out});
            });
        mlir::Value grown = tensor::InsertSliceOp::create(
            inner, at, both.getResult(1), carried[1], here, sizes, strides);
        scf::YieldOp::create(inner, at, ValueRange{both.getResult(0), grown});
      });
  node.setResult(0,
                 makeDatum(operand.element, operand.sizes, loop.getResult(1)));
  return success();
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// The position in the operand of a position outside of it.
static mlir::Value wrapPosition(IndexMath &math, StringRef mode, mlir::Value at,
                                mlir::Value size) {
  mlir::Value zero = math.number(0), one = math.number(1);
  if (mode == "edge")
    return math.clamp(at, size);
  using Predicate = arith::CmpIPredicate;
  if (mode == "wrap") {
    at = math.select(math.compare(Predicate::slt, at, zero), math.add(at, size),
                     at);
    at = math.select(math.compare(Predicate::sge, at, size),
                     math.subtract(at, size), at);
    return math.clamp(at, size);
  }
  // reflect: without repeating the border.
  at = math.select(math.compare(Predicate::slt, at, zero),
                   math.subtract(zero, at), at);
  mlir::Value last = math.subtract(size, one);
  at = math.select(math.compare(Predicate::sgt, at, last),
                   math.subtract(math.add(last, last), at), at);
  return math.clamp(at, size);
}

static LogicalResult importPad(NodeImport &node) {
  Datum operand = node.input(0);
  StringRef mode = node.text("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" &&
      mode != "wrap")
    return node.error("expected mode = constant, reflect, edge or wrap, got '" +
                      mode + "'");
  FailureOr<SmallVector<Size>> pads =
      node.sizes(1, "decides the shape of a result");
  if (failed(pads))
    return failure();
  SmallVector<int64_t> axes;
  if (node.has(3)) {
    FailureOr<SmallVector<int64_t>> given = node.integers(3, "names an axis");
    if (failed(given) || failed(node.axes(*given, operand.rank())))
      return failure();
    for (int64_t axis : *given)
      axes.push_back(*node.axis(axis, operand.rank()));
  } else {
    for (int64_t axis = 0; axis < operand.rank(); ++axis)
      axes.push_back(axis);
  }
  if (pads->size() != 2 * axes.size())
    return node.error("expected two pads for each of " + Twine(axes.size()) +
                      " axes, got " + Twine(pads->size()));
  SmallVector<Size> before(operand.rank(), sizeOf(node, 0));
  SmallVector<Size> sizes(operand.sizes);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    Size low = (*pads)[i], high = (*pads)[i + axes.size()];
    // Negative pads cut first.
    Size cutLow =
        sizeOf(node, std::max<int64_t>(0, -numberOf(low).value_or(0)));
    Size cutHigh =
        sizeOf(node, std::max<int64_t>(0, -numberOf(high).value_or(0)));
    Size kept = subtract(node, operand.sizes[axis], add(node, cutLow, cutHigh));
    if (numberOf(kept).value_or(0) < 0)
      return node.error("expected pads that leave 0 or more elements of axis " +
                        Twine(axis) + ", got others");
    operand = slice(node, operand, axis, cutLow, kept);
    before[axis] = add(node, low, cutLow);
    sizes[axis] =
        add(node, kept, add(node, before[axis], add(node, high, cutHigh)));
  }
  if (llvm::equal(sizes, operand.sizes, isEqual)) {
    node.setResult(0, operand);
    return success();
  }
  OpBuilder &builder = node.builder;
  if (mode != "constant") {
    mlir::Value source = node.tensor(operand);
    SmallVector<mlir::Value> first, extents;
    for (auto [low, size] : llvm::zip_equal(before, operand.sizes)) {
      first.push_back(toIndex(node, low));
      extents.push_back(toIndex(node, size));
    }
    node.setResult(
        0, gather(node, operand.element, sizes, {},
                  [&](IndexMath &math, ValueRange, ValueRange position) {
                    SmallVector<mlir::Value> from;
                    for (auto [at, low, size] :
                         llvm::zip_equal(position, first, extents))
                      from.push_back(wrapPosition(
                          math, mode, math.subtract(at, low), size));
                    return extract(math.builder, math.loc, source, from);
                  }));
    return success();
  }
  Datum value = makeScalar(operand.element, 0);
  if (node.has(2)) {
    value = node.input(2);
    if (value.element != operand.element || value.numElements() != 1)
      return node.error("expected one number of the operand's type as value, "
                        "got " +
                        describe(value));
    value = reshape(node, value, {});
  }
  mlir::Value number;
  if (std::optional<Scalar> scalar = value.splat()) {
    mlir::Type element = mlirType(operand.element, node.context());
    number = scalar->kind == Scalar::Kind::Float
                 ? constantLike(builder, node.loc, element, scalar->number)
                 : constantLike(builder, node.loc, element, scalar->integer);
  } else {
    number = extract(builder, node.loc, node.tensor(value), {});
  }
  mlir::Value filled =
      linalg::FillOp::create(builder, node.loc, number,
                             makeEmpty(node, operand.element, sizes))
          .getResult(0);
  SmallVector<OpFoldResult> strides(sizes.size(), sizeOf(node, 1));
  SmallVector<OpFoldResult> inner(operand.sizes.begin(), operand.sizes.end());
  SmallVector<OpFoldResult> offsets(before.begin(), before.end());
  mlir::Value result = filled;
  if (operand.numElements() != 0)
    result =
        tensor::InsertSliceOp::create(builder, node.loc, node.tensor(operand),
                                      filled, offsets, inner, strides);
  node.setResult(0, makeDatum(operand.element, sizes, result));
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

ArrayRef<Operator> indexingOperators() {
  static const Operator rows[] = {
      {"CumSum", 11, 2, 2, 1, importCumSum, "axis known at import"},
      {"Gather", 1, 2, 2, 1, importGather, ""},
      {"GatherElements", 11, 2, 2, 1, importGatherElements, ""},
      {"GatherND", 11, 2, 2, 1, importGatherND, ""},
      {"Pad", 11, 2, 4, 1, importPad, "pads and axes known at import"},
      {"Range", 11, 3, 3, 1, importRange,
       "values known at import, or the result's shape stated"},
      {"TensorScatter", 24, 2, 3, 1, importTensorScatter, ""},
      {"Trilu", 14, 1, 2, 1, importTrilu, ""},
  };
  return rows;
}

} // namespace attn::onnx
