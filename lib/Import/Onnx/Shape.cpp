//===- Shape.cpp - operators on shapes and views --------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the elements are stays; how they are arranged changes. The sizes of a
// result must be known at import, as numbers or in terms of sizes of inputs.
//
//===----------------------------------------------------------------------===//

#include "Build.h"
#include "Importer.h"

#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace attn::onnx {

static constexpr StringLiteral decidesShape = "decides the shape of a result";
static constexpr StringLiteral isAxis = "names an axis";

/// The input as a tensor; lists have no shape.
static LogicalResult checkTensor(NodeImport &node, unsigned number = 0) {
  if (!node.input(number).isList)
    return success();
  return node.error("expected a tensor in input " + Twine(number) +
                    ", got a list");
}

//===----------------------------------------------------------------------===//
// Shapes as values
//===----------------------------------------------------------------------===//

static LogicalResult importShape(NodeImport &node) {
  if (failed(checkTensor(node)))
    return failure();
  const Datum &operand = node.input(0);
  auto clamp = [&](int64_t value) {
    if (value < 0)
      value += operand.rank();
    return std::clamp<int64_t>(value, 0, operand.rank());
  };
  int64_t start = clamp(node.integer("start", 0));
  int64_t end = clamp(node.integer("end", operand.rank()));
  Scalars scalars;
  for (int64_t dim = start; dim < end; ++dim)
    scalars.push_back(Scalar::ofSize(operand.sizes[dim]));
  auto count = static_cast<int64_t>(scalars.size());
  node.setResult(0, makeKnown(ElementType::Int64, sizeOf(node, count),
                              std::move(scalars)));
  return success();
}

static LogicalResult importSize(NodeImport &node) {
  if (failed(checkTensor(node)))
    return failure();
  Size size = product(node, node.input(0).sizes);
  node.setResult(0, makeKnown(ElementType::Int64, {}, {Scalar::ofSize(size)}));
  return success();
}

static LogicalResult importConstant(NodeImport &node) {
  if (const Tensor *tensor = node.tensorAttribute("value")) {
    if (!mlirType(tensor->type, node.context()) ||
        elementTypeBits(tensor->type) < 8)
      return node.error("expected a value of numbers or BOOL, got " +
                        describe(tensor->type, tensor->shape));
    node.setResult(0, node.getImporter().makeStored(*tensor));
    return success();
  }
  if (node.hasAttribute("value_float")) {
    node.setResult(
        0, makeScalar(ElementType::Float, node.number("value_float", 0)));
    return success();
  }
  auto makeIntegers = [&](ArrayRef<int64_t> values, ArrayRef<Size> sizes) {
    Scalars scalars;
    for (int64_t value : values)
      scalars.push_back(Scalar::ofInteger(value));
    return makeKnown(ElementType::Int64, sizes, std::move(scalars));
  };
  if (node.hasAttribute("value_int")) {
    node.setResult(0, makeIntegers(node.integer("value_int", 0), {}));
    return success();
  }
  if (auto values = node.integerList("value_ints")) {
    node.setResult(0, makeIntegers(*values, sizeOf(node, values->size())));
    return success();
  }
  if (auto values = node.numberList("value_floats")) {
    Scalars scalars;
    for (float value : *values)
      scalars.push_back(Scalar::ofFloat(value));
    node.setResult(0,
                   makeKnown(ElementType::Float, sizeOf(node, values->size()),
                             std::move(scalars)));
    return success();
  }
  return node.error("expected a dense tensor, a number or a list of numbers as "
                    "value, got none");
}

/// The shape in an input, a list of sizes of 0 or more.
static FailureOr<SmallVector<Size>> shapeFrom(NodeImport &node,
                                              unsigned number) {
  FailureOr<SmallVector<Size>> sizes = node.sizes(number, decidesShape);
  if (failed(sizes))
    return failure();
  for (Size size : *sizes)
    if (numberOf(size).value_or(0) < 0)
      return node.error("expected sizes of 0 or more in input " +
                        Twine(number) + ", got " + Twine(*numberOf(size)));
  return sizes;
}

static LogicalResult importConstantOfShape(NodeImport &node) {
  FailureOr<SmallVector<Size>> sizes = shapeFrom(node, 0);
  if (failed(sizes))
    return failure();
  Datum value = makeScalar(ElementType::Float, 0);
  if (const Tensor *tensor = node.tensorAttribute("value")) {
    if (tensor->numElements() != 1 || !readScalars(*tensor))
      return node.error("expected a value of one number, got " +
                        describe(tensor->type, tensor->shape));
    value = node.getImporter().makeStored(*tensor);
    value.sizes.clear();
    value.stored = nullptr;
  }
  node.setResult(0, broadcastTo(node, value, *sizes));
  return success();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

static LogicalResult importReshape(NodeImport &node) {
  if (failed(checkTensor(node)))
    return failure();
  Datum operand = node.input(0);
  bool allowZero = node.integer("allowzero", 0) != 0;
  FailureOr<SmallVector<Size>> wanted = node.sizes(1, decidesShape);
  if (failed(wanted))
    return failure();
  SmallVector<Size> sizes = *wanted;
  std::optional<size_t> inferred;
  SmallVector<Size> others;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    std::optional<int64_t> number = numberOf(size);
    if (number == 0 && !allowZero) {
      if (static_cast<int64_t>(dim) >= operand.rank())
        return node.error("expected 0 (keep the size) only for a dimension "
                          "that the operand has, got it for dimension " +
                          Twine(dim) + " of " + describe(operand));
      size = operand.sizes[dim];
    } else if (number == -1 && !inferred) {
      inferred = dim;
      continue;
    } else if (number && *number < 0) {
      return node.error("expected sizes of 0 or more and at most one -1 in the "
                        "shape, got " +
                        Twine(*number) + " for dimension " + Twine(dim));
    }
    others.push_back(size);
  }
  Size total = product(node, operand.sizes);
  if (inferred) {
    Size known = product(node, others);
    if (numberOf(known) == 0)
      return node.error("expected sizes other than 0 beside -1 (because it is "
                        "inferred from them), got 0");
    sizes[*inferred] = divide(node, total, known);
  }
  Size count = product(node, sizes);
  if (numberOf(total) && numberOf(count) && !isEqual(total, count)) {
    Datum result = operand;
    result.sizes.assign(sizes.begin(), sizes.end());
    return node.error("expected a shape of " + Twine(*numberOf(total)) +
                      " elements (because the operand is " + describe(operand) +
                      "), got " + describe(result));
  }
  node.setResult(0, reshape(node, operand, sizes));
  return success();
}

static LogicalResult importFlatten(NodeImport &node) {
  if (failed(checkTensor(node)))
    return failure();
  Datum operand = node.input(0);
  int64_t value = node.integer("axis", 1), rank = operand.rank();
  // Behind the last dimension is allowed.
  if (value < -rank || value > rank)
    return node.error("expected an axis of " + Twine(-rank) + " to " +
                      Twine(rank) + ", got " + Twine(value));
  ArrayRef<Size> sizes = operand.sizes;
  int64_t axis = value < 0 ? value + rank : value;
  Size outer = product(node, sizes.take_front(axis));
  Size inner = product(node, sizes.drop_front(axis));
  node.setResult(0, reshape(node, operand, {outer, inner}));
  return success();
}

/// The axes of an input since version 13, of an attribute before.
static FailureOr<std::optional<SmallVector<int64_t>>>
axesFrom(NodeImport &node, unsigned number, int64_t since) {
  if (node.opset < since)
    return node.integerList("axes");
  if (!node.has(number))
    return std::optional<SmallVector<int64_t>>();
  FailureOr<SmallVector<int64_t>> axes = node.integers(number, isAxis);
  if (failed(axes))
    return failure();
  return std::optional<SmallVector<int64_t>>(std::move(*axes));
}

static LogicalResult importSqueeze(NodeImport &node) {
  if (failed(checkTensor(node)))
    return failure();
  Datum operand = node.input(0);
  auto given = axesFrom(node, 1, 13);
  if (failed(given))
    return failure();
  SmallVector<int64_t> axes;
  if (*given) {
    FailureOr<SmallVector<int64_t>> valid = node.axes(**given, operand.rank());
    if (failed(valid))
      return failure();
    axes = *valid;
  }
  SmallVector<Size> sizes;
  for (auto [dim, size] : llvm::enumerate(operand.sizes)) {
    bool isNamed = llvm::is_contained(axes, int64_t(dim));
    if (isNamed && numberOf(size).value_or(1) != 1)
      return node.error("expected a size of 1 in axis " + Twine(dim) +
                        ", got " + describe(operand));
    if (!isNamed && (*given || numberOf(size) != 1))
      sizes.push_back(size);
  }
  node.setResult(0, reshape(node, operand, sizes));
  return success();
}

static LogicalResult importUnsqueeze(NodeImport &node) {
  if (failed(checkTensor(node)))
    return failure();
  Datum operand = node.input(0);
  auto given = axesFrom(node, 1, 13);
  if (failed(given))
    return failure();
  if (!*given)
    return node.error("expected axes, got none");
  int64_t rank = operand.rank() + static_cast<int64_t>((*given)->size());
  FailureOr<SmallVector<int64_t>> axes = node.axes(**given, rank);
  if (failed(axes))
    return failure();
  SmallVector<Size> sizes;
  ArrayRef<Size> rest = operand.sizes;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (llvm::is_contained(*axes, dim)) {
      sizes.push_back(sizeOf(node, 1));
      continue;
    }
    sizes.push_back(rest.front());
    rest = rest.drop_front();
  }
  node.setResult(0, reshape(node, operand, sizes));
  return success();
}

static LogicalResult importTranspose(NodeImport &node) {
  if (failed(checkTensor(node)))
    return failure();
  Datum operand = node.input(0);
  SmallVector<int64_t> permutation;
  if (auto given = node.integerList("perm"))
    permutation = *given;
  else
    for (int64_t dim = operand.rank(); dim-- > 0;)
      permutation.push_back(dim);
  SmallVector<int64_t> sorted = permutation;
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, operand.rank())))
    return node.error("expected perm to name each of the " +
                      Twine(operand.rank()) + " dimensions once, got " +
                      Twine(permutation.size()) + " numbers that do not");
  node.setResult(0, transpose(node, operand, permutation));
  return success();
}

//===----------------------------------------------------------------------===//
// Slices and joins
//===----------------------------------------------------------------------===//

static LogicalResult importConcat(NodeImport &node) {
  SmallVector<Datum> parts;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    if (!node.has(i))
      return node.error("expected a tensor in input " + Twine(i) +
                        ", got none");
    if (failed(checkTensor(node, i)))
      return failure();
    parts.push_back(node.input(i));
  }
  int64_t rank = parts.front().rank();
  FailureOr<int64_t> axis = node.axis(node.integer("axis", 0), rank);
  if (failed(axis))
    return failure();
  for (const Datum &part : parts) {
    bool agrees = part.rank() == rank && part.element == parts.front().element;
    for (int64_t dim = 0; agrees && dim < rank; ++dim) {
      std::optional<int64_t> a = numberOf(part.sizes[dim]);
      std::optional<int64_t> b = numberOf(parts.front().sizes[dim]);
      agrees = dim == *axis || !a || !b || *a == *b;
    }
    if (!agrees)
      return node.error("expected inputs that agree in all but axis " +
                        Twine(*axis) + ", got " + describe(parts.front()) +
                        " and " + describe(part));
  }
  node.setResult(0, concatenate(node, parts, *axis));
  return success();
}

static LogicalResult importSplit(NodeImport &node) {
  if (failed(checkTensor(node)))
    return failure();
  Datum operand = node.input(0);
  FailureOr<int64_t> axis = node.axis(node.integer("axis", 0), operand.rank());
  if (failed(axis))
    return failure();
  Size total = operand.sizes[*axis];
  SmallVector<Size> sizes;
  std::optional<SmallVector<int64_t>> listed;
  if (node.opset < 13)
    listed = node.integerList("split");
  int64_t count = node.getNode().outputs.size();
  if (node.hasAttribute("num_outputs") &&
      node.integer("num_outputs", count) != count)
    return node.error("expected num_outputs to be the number of outputs, " +
                      Twine(count) + ", got " +
                      Twine(node.integer("num_outputs", count)));
  if (listed) {
    for (int64_t size : *listed)
      sizes.push_back(sizeOf(node, size));
  } else if (node.opset >= 13 && node.has(1)) {
    FailureOr<SmallVector<Size>> given = shapeFrom(node, 1);
    if (failed(given))
      return failure();
    sizes = *given;
  } else {
    // Equal parts; the last one may be smaller.
    Size part = divide(
        node, add(node, total, sizeOf(node, numberOf(total) ? count - 1 : 0)),
        sizeOf(node, count));
    sizes.assign(count, part);
    if (numberOf(total))
      sizes.back() =
          subtract(node, total, multiply(node, part, sizeOf(node, count - 1)));
  }
  Size sum = sizeOf(node, 0);
  for (Size size : sizes) {
    if (numberOf(size).value_or(0) < 0)
      return node.error("expected parts of 0 or more elements, got " +
                        Twine(*numberOf(size)));
    sum = add(node, sum, size);
  }
  if (static_cast<int64_t>(sizes.size()) != count ||
      (numberOf(sum) && numberOf(total) && !isEqual(sum, total)))
    return node.error("expected as many sizes as outputs, " + Twine(count) +
                      ", that add up to the axis of " + describe(operand) +
                      ", got " + Twine(sizes.size()) + " sizes of " +
                      Twine(numberOf(sum).value_or(-1)));
  Size begin = sizeOf(node, 0);
  for (auto [i, size] : llvm::enumerate(sizes)) {
    node.setResult(i, slice(node, operand, *axis, begin, size));
    begin = add(node, begin, size);
  }
  return success();
}

/// Where a slice begins, counted from the end where it is negative.
static int64_t clampStart(int64_t value, int64_t size, int64_t step) {
  if (value < 0)
    value += size;
  return std::clamp<int64_t>(value, 0, step > 0 ? size : size - 1);
}

/// Where it ends: past the last element, or before the first one backwards.
static int64_t clampEnd(int64_t value, int64_t size, int64_t step) {
  if (value < 0)
    value += size;
  return step > 0 ? std::clamp<int64_t>(value, 0, size)
                  : std::clamp<int64_t>(value, -1, size - 1);
}

/// Whether the size is that of a dimension of an input.
static bool isNamed(Size size) {
  auto value = dyn_cast<mlir::Value>(size);
  return value && value.getDefiningOp<DimSizeOp>();
}

/// start:end of an axis of which not all is a number.
static Datum sliceUnknown(NodeImport &node, Datum &operand, int64_t axis,
                          Size start, Size end) {
  Size size = operand.sizes[axis];
  auto position = [&](Size at) -> Size {
    std::optional<int64_t> number = numberOf(at);
    if (number && *number >= INT32_MAX)
      return size;
    return number && *number < 0 ? add(node, size, at) : at;
  };
  Size begin = position(start), stop = position(end);
  // The front of an axis, as long as another: attn-name-dims limits that size.
  if (numberOf(begin) == 0 &&
      (isEqual(stop, size) || (isNamed(stop) && numberOf(size))))
    return slice(node, operand, axis, begin, stop);
  auto clamp = [&](Size value, Size low, Size high) -> Size {
    OpBuilder &builder = node.builder;
    mlir::Value least = arith::MinSIOp::create(
        builder, node.loc, toIndex(node, value), toIndex(node, high));
    return arith::MaxSIOp::create(builder, node.loc, least, toIndex(node, low))
        .getResult();
  };
  begin = clamp(begin, sizeOf(node, 0), size);
  stop = clamp(stop, begin, size);
  return slice(node, operand, axis, begin, subtract(node, stop, begin));
}

/// Applies start:end:step to one axis.
static FailureOr<Datum> sliceAxis(NodeImport &node, Datum &operand,
                                  int64_t axis, Size start, Size end,
                                  int64_t step) {
  std::optional<int64_t> extent = numberOf(operand.sizes[axis]),
                         first = numberOf(start), last = numberOf(end);
  if (extent && first && last) {
    int64_t begin = 0, count = 0;
    if (*extent > 0) {
      begin = clampStart(*first, *extent, step);
      int64_t stop = clampEnd(*last, *extent, step);
      count = step > 0 ? (stop - begin + step - 1) / step
                       : (begin - stop - step - 1) / -step;
    }
    return slice(node, operand, axis, sizeOf(node, begin),
                 sizeOf(node, std::max<int64_t>(count, 0)), step);
  }
  if (step == 1)
    return sliceUnknown(node, operand, axis, start, end);
  return node.error("expected numbers for start and end, or a step of 1 "
                    "(because the size of axis " +
                    Twine(axis) + " is not known at import), got a step of " +
                    Twine(step));
}

static LogicalResult importSlice(NodeImport &node) {
  if (failed(checkTensor(node)))
    return failure();
  Datum operand = node.input(0);
  SmallVector<Size> starts, ends;
  SmallVector<int64_t> axes, steps;
  auto toSizes = [&](const std::optional<SmallVector<int64_t>> &list) {
    SmallVector<Size> sizes;
    if (list)
      for (int64_t value : *list)
        sizes.push_back(sizeOf(node, value));
    return sizes;
  };
  std::optional<SmallVector<int64_t>> givenAxes;
  if (node.opset < 10) {
    starts = toSizes(node.integerList("starts"));
    ends = toSizes(node.integerList("ends"));
    givenAxes = node.integerList("axes");
  } else {
    if (!node.has(1) || !node.has(2))
      return node.error("expected starts and ends, got none");
    FailureOr<SmallVector<Size>> first = node.sizes(1, decidesShape);
    FailureOr<SmallVector<Size>> last = node.sizes(2, decidesShape);
    if (failed(first) || failed(last))
      return failure();
    starts = *first;
    ends = *last;
    if (node.has(3)) {
      FailureOr<SmallVector<int64_t>> list = node.integers(3, isAxis);
      if (failed(list))
        return failure();
      givenAxes = *list;
    }
    if (node.has(4)) {
      FailureOr<SmallVector<int64_t>> list = node.integers(4, decidesShape);
      if (failed(list))
        return failure();
      steps = *list;
    }
  }
  if (givenAxes)
    axes = *givenAxes;
  else
    for (size_t i = 0; i < starts.size(); ++i)
      axes.push_back(static_cast<int64_t>(i));
  if (steps.empty())
    steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size())
    return node.error("expected as many ends, axes and steps as starts, " +
                      Twine(starts.size()) + ", got " + Twine(ends.size()) +
                      ", " + Twine(axes.size()) + " and " +
                      Twine(steps.size()));
  if (failed(node.axes(axes, operand.rank())))
    return failure();
  for (size_t i = 0; i < starts.size(); ++i) {
    if (steps[i] == 0 || steps[i] < -INT32_MAX)
      return node.error("expected steps other than 0, got " + Twine(steps[i]));
    FailureOr<Datum> next =
        sliceAxis(node, operand, *node.axis(axes[i], operand.rank()), starts[i],
                  ends[i], std::min<int64_t>(steps[i], INT32_MAX));
    if (failed(next))
      return failure();
    operand = *next;
  }
  node.setResult(0, operand);
  return success();
}

//===----------------------------------------------------------------------===//
// Repetition
//===----------------------------------------------------------------------===//

static LogicalResult importExpand(NodeImport &node) {
  if (failed(checkTensor(node)))
    return failure();
  FailureOr<SmallVector<Size>> wanted = shapeFrom(node, 1);
  if (failed(wanted))
    return failure();
  // Both broadcast to the result.
  Datum shape = makeDatum(node.input(0).element, *wanted, {});
  FailureOr<SmallVector<Size>> sizes =
      broadcastSizes(node, {node.input(0), shape});
  if (failed(sizes))
    return failure();
  node.setResult(0, broadcastTo(node, node.input(0), *sizes));
  return success();
}

static LogicalResult importTile(NodeImport &node) {
  if (failed(checkTensor(node)))
    return failure();
  Datum operand = node.input(0);
  FailureOr<SmallVector<Size>> repeats = shapeFrom(node, 1);
  if (failed(repeats))
    return failure();
  if (static_cast<int64_t>(repeats->size()) != operand.rank())
    return node.error("expected a number of repetitions for each of the " +
                      Twine(operand.rank()) + " dimensions, got " +
                      Twine(repeats->size()));
  // (a, b) as (1, a, 1, b), repeated to (r, a, s, b), as (r a, s b).
  SmallVector<Size> split, repeated, joined;
  for (auto [size, repeat] : llvm::zip_equal(operand.sizes, *repeats)) {
    split.append({sizeOf(node, 1), size});
    repeated.append({repeat, size});
    joined.push_back(multiply(node, repeat, size));
  }
  Datum view = reshape(node, operand, split);
  Datum copy = broadcastTo(node, view, repeated);
  node.setResult(0, reshape(node, copy, joined));
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static constexpr StringLiteral known = "shape known at import";

ArrayRef<Operator> shapeOperators() {
  static const Operator rows[] = {
      {"Concat", 4, 1, -1, 1, importConcat, ""},
      {"Constant", 1, 0, 0, 1, importConstant, "no strings, no sparse values"},
      {"ConstantOfShape", 9, 1, 1, 1, importConstantOfShape, known},
      {"Expand", 8, 2, 2, 1, importExpand, known},
      {"Flatten", 1, 1, 1, 1, importFlatten, ""},
      {"Reshape", 5, 2, 2, 1, importReshape, known},
      {"Shape", 1, 1, 1, 1, importShape, ""},
      {"Size", 1, 1, 1, 1, importSize, ""},
      {"Slice", 1, 1, 5, 1, importSlice,
       "all but the data known at import; a step of 1 where a size is no "
       "number"},
      {"Split", 2, 1, 2, INT_MAX, importSplit, "sizes known at import"},
      {"Squeeze", 1, 1, 2, 1, importSqueeze, "axes known at import"},
      {"Tile", 6, 2, 2, 1, importTile, "repetitions known at import"},
      {"Transpose", 1, 1, 1, 1, importTranspose, ""},
      {"Unsqueeze", 1, 1, 2, 1, importUnsqueeze, "axes known at import"},
  };
  return rows;
}

} // namespace attn::onnx
