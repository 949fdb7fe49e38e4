//===- Movement.cpp - tensors whose elements are those of others ----------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reshapes and slices are views (tensor.expand_shape, collapse_shape,
// extract_slice), the others copies. Known elements are moved right here.
//
//===----------------------------------------------------------------------===//

#include "Build.h"
#include "Importer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace attn::onnx {

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

Datum makeKnown(ElementType element, ArrayRef<Size> sizes, Scalars scalars) {
  Datum datum;
  datum.element = element;
  datum.sizes.assign(sizes.begin(), sizes.end());
  datum.known = std::make_shared<const Scalars>(std::move(scalars));
  return datum;
}

Datum makeScalar(ElementType element, double number) {
  if (isFloat(element))
    return makeKnown(element, {}, {Scalar::ofFloat(roundTo(element, number))});
  return makeKnown(element, {},
                   {Scalar::ofInteger(static_cast<int64_t>(number))});
}

Datum makeDatum(ElementType element, ArrayRef<Size> sizes, mlir::Value tensor) {
  Datum datum;
  datum.element = element;
  datum.sizes.assign(sizes.begin(), sizes.end());
  datum.tensor = tensor;
  return datum;
}

RankedTensorType tensorType(NodeImport &node, ElementType element,
                            ArrayRef<Size> sizes) {
  SmallVector<int64_t> shape;
  for (Size size : sizes)
    shape.push_back(numberOf(size).value_or(ShapedType::kDynamic));
  return RankedTensorType::get(shape, mlirType(element, node.context()));
}

mlir::Value makeEmpty(NodeImport &node, ElementType element,
                      ArrayRef<Size> sizes) {
  return tensor::EmptyOp::create(node.builder, node.loc, sizes,
                                 mlirType(element, node.context()));
}

/// Moves known elements into a shape of numbers: `from` gives for each position
/// of the result the position in the operand, in row-major order.
static std::optional<Datum>
moveKnown(const Datum &operand, ArrayRef<Size> sizes,
          llvm::function_ref<int64_t(ArrayRef<int64_t>)> from) {
  Datum shape;
  shape.sizes.assign(sizes.begin(), sizes.end());
  std::optional<int64_t> count = shape.numElements();
  if (!operand.known || !operand.isStatic() || !count || *count > maxKnown)
    return std::nullopt;
  SmallVector<int64_t> position(sizes.size());
  SmallVector<int64_t, 4> extents = shape.shape();
  Scalars scalars;
  for (int64_t i = 0; i < *count; ++i) {
    scalars.push_back((*operand.known)[from(position)]);
    for (size_t dim = position.size(); dim-- > 0;) {
      if (++position[dim] < extents[dim])
        break;
      position[dim] = 0;
    }
  }
  return makeKnown(operand.element, sizes, std::move(scalars));
}

/// Row-major strides.
static SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

/// Whether a tensor of these sizes surely has no elements: there is nothing to
/// move then, and views of such a tensor are not allowed everywhere.
static bool isEmpty(ArrayRef<Size> sizes) {
  return llvm::any_of(sizes, [](Size size) { return numberOf(size) == 0; });
}

static bool isEqual(ArrayRef<Size> a, ArrayRef<Size> b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           return isEqual(std::get<0>(pair), std::get<1>(pair));
         });
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

namespace {
/// A run of dimensions of both shapes with the same number of elements.
struct Group {
  ReassociationIndices from, to;
};
} // namespace

/// Cuts both shapes into the smallest groups; one group where that fails.
static SmallVector<Group> groupsOf(ArrayRef<Size> from, ArrayRef<Size> to) {
  SmallVector<Group> groups;
  size_t i = 0, j = 0;
  // The first pair of ends (in order of their sum) whose products agree.
  auto next = [&]() -> std::optional<Group> {
    for (size_t sum = 2; sum <= from.size() - i + to.size() - j; ++sum)
      for (size_t m = 1; m < sum && m <= from.size() - i; ++m) {
        size_t n = sum - m;
        if (n > to.size() - j)
          continue;
        Factors a, b;
        for (size_t k = 0; k < m; ++k)
          a = a * factorsOf(from[i + k]);
        for (size_t k = 0; k < n; ++k)
          b = b * factorsOf(to[j + k]);
        if (!(a == b))
          continue;
        Group group;
        for (size_t k = 0; k < m; ++k)
          group.from.push_back(static_cast<int64_t>(i + k));
        for (size_t k = 0; k < n; ++k)
          group.to.push_back(static_cast<int64_t>(j + k));
        return group;
      }
    return std::nullopt;
  };
  while (i < from.size() && j < to.size()) {
    std::optional<Group> group = next();
    if (!group)
      break;
    i += group->from.size();
    j += group->to.size();
    groups.push_back(std::move(*group));
  }
  // What is left are sizes of 1, or the shapes do not correspond in groups.
  auto isOne = [](Size size) { return numberOf(size) == 1; };
  bool isRest = llvm::all_of(from.drop_front(i), isOne) &&
                llvm::all_of(to.drop_front(j), isOne) && !groups.empty();
  if (!isRest) {
    groups.assign(1, Group());
    i = j = 0;
  }
  for (; i < from.size(); ++i)
    groups.back().from.push_back(static_cast<int64_t>(i));
  for (; j < to.size(); ++j)
    groups.back().to.push_back(static_cast<int64_t>(j));
  return groups;
}

Datum reshape(NodeImport &node, Datum &operand, ArrayRef<Size> sizes) {
  if (isEqual(operand.sizes, sizes))
    return operand;
  if (operand.known) {
    Datum result = operand;
    result.sizes.assign(sizes.begin(), sizes.end());
    result.tensor = {};
    return result;
  }
  OpBuilder &builder = node.builder;
  RankedTensorType type = tensorType(node, operand.element, sizes);
  mlir::Value tensor = node.tensor(operand);
  auto done = [&](mlir::Value value) {
    node.getImporter().noteReshape(value, operand);
    return makeDatum(operand.element, sizes, value);
  };
  // What was reshaped before may have had these sizes.
  Importer &importer = node.getImporter();
  if (const Datum *before = importer.lookupReshape(tensor);
      before && isEqual(before->sizes, sizes))
    return *before;
  if (isEmpty(sizes))
    return done(makeEmpty(node, operand.element, sizes));
  // Shapes without dimensions have one element.
  if (operand.sizes.empty() || sizes.empty()) {
    if (sizes.empty())
      return done(tensor::CollapseShapeOp::create(
          builder, node.loc, type, tensor, ArrayRef<ReassociationIndices>()));
    return done(tensor::ExpandShapeOp::create(builder, node.loc, type, tensor,
                                              ArrayRef<ReassociationIndices>(),
                                              sizes));
  }
  // Join the dimensions of each group, then cut it.
  SmallVector<Group> groups = groupsOf(operand.sizes, sizes);
  SmallVector<Size> joined;
  SmallVector<ReassociationIndices> joins, cuts;
  for (Group &group : groups) {
    SmallVector<Size> factors;
    for (int64_t dim : group.from)
      factors.push_back(operand.sizes[dim]);
    joined.push_back(product(node, factors));
    joins.push_back(std::move(group.from));
    cuts.push_back(std::move(group.to));
  }
  if (joined.size() != operand.sizes.size())
    tensor = tensor::CollapseShapeOp::create(
        builder, node.loc, tensorType(node, operand.element, joined), tensor,
        joins);
  if (joined.size() != sizes.size())
    tensor = tensor::ExpandShapeOp::create(builder, node.loc, type, tensor,
                                           cuts, sizes);
  if (tensor.getType() != type) // A size that is known to be another's.
    tensor = tensor::CastOp::create(builder, node.loc, type, tensor);
  return done(tensor);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

Datum transpose(NodeImport &node, Datum &operand,
                ArrayRef<int64_t> permutation) {
  SmallVector<Size> sizes;
  for (int64_t dim : permutation)
    sizes.push_back(operand.sizes[dim]);
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, operand.rank())))
    return operand;
  SmallVector<int64_t> strides = stridesOf(operand.shape());
  if (auto known = moveKnown(operand, sizes, [&](ArrayRef<int64_t> position) {
        int64_t from = 0;
        for (auto [dim, index] : llvm::enumerate(position))
          from += index * strides[permutation[dim]];
        return from;
      }))
    return *known;
  mlir::Value result = linalg::TransposeOp::create(
                           node.builder, node.loc, node.tensor(operand),
                           makeEmpty(node, operand.element, sizes), permutation)
                           ->getResult(0);
  return makeDatum(operand.element, sizes, result);
}

Datum broadcastTo(NodeImport &node, Datum &operand, ArrayRef<Size> sizes) {
  if (isEqual(operand.sizes, sizes))
    return operand;
  int64_t skipped = static_cast<int64_t>(sizes.size()) - operand.rank();
  SmallVector<int64_t, 4> shape = operand.shape();
  SmallVector<int64_t> strides = stridesOf(shape);
  if (auto known = moveKnown(operand, sizes, [&](ArrayRef<int64_t> position) {
        int64_t from = 0;
        for (int64_t dim = 0; dim < operand.rank(); ++dim)
          if (shape[dim] != 1)
            from += position[skipped + dim] * strides[dim];
        return from;
      }))
    return *known;
  BroadcastInput input = makeBroadcastInput(node, operand, sizes);
  auto body = [&](OpBuilder &inner, Location at, ValueRange elements) {
    linalg::YieldOp::create(inner, at, elements.front());
  };
  mlir::Value result =
      makeGeneric(node, {input}, makeEmpty(node, operand.element, sizes), body);
  return makeDatum(operand.element, sizes, result);
}

Datum concatenate(NodeImport &node, MutableArrayRef<Datum> parts,
                  int64_t axis) {
  SmallVector<Size> sizes(parts.front().sizes);
  sizes[axis] = sizeOf(node, 0);
  bool isKnown = true;
  for (Datum &part : parts) {
    sizes[axis] = add(node, sizes[axis], part.sizes[axis]);
    isKnown &= part.known && part.isStatic();
    // Numbers say more than names.
    for (auto [dim, size] : llvm::enumerate(part.sizes))
      if (int64_t(dim) != axis && !numberOf(sizes[dim]))
        sizes[dim] = size;
  }
  ElementType element = parts.front().element;
  Datum shape = makeDatum(element, sizes, {});
  std::optional<int64_t> count = shape.numElements();
  if (isKnown && count && *count <= maxKnown) {
    // Runs of each part, in turn.
    SmallVector<int64_t, 4> extents = shape.shape();
    int64_t outer = 1;
    for (int64_t extent : ArrayRef(extents).take_front(axis))
      outer *= extent;
    Scalars scalars;
    for (int64_t i = 0; i < outer; ++i)
      for (const Datum &part : parts) {
        auto run = static_cast<int64_t>(part.known->size()) / outer;
        llvm::append_range(scalars, ArrayRef(*part.known).slice(i * run, run));
      }
    return makeKnown(element, sizes, std::move(scalars));
  }
  if (parts.size() == 1)
    return parts.front();
  OpBuilder &builder = node.builder;
  mlir::Value result = makeEmpty(node, element, sizes);
  SmallVector<OpFoldResult> offsets(sizes.size(), sizeOf(node, 0));
  SmallVector<OpFoldResult> strides(sizes.size(), sizeOf(node, 1));
  for (Datum &part : parts) {
    if (isEmpty(part.sizes))
      continue;
    SmallVector<OpFoldResult> partSizes(part.sizes.begin(), part.sizes.end());
    result = tensor::InsertSliceOp::create(builder, node.loc, node.tensor(part),
                                           result, offsets, partSizes, strides);
    offsets[axis] = add(node, offsets[axis], part.sizes[axis]);
  }
  return makeDatum(element, sizes, result);
}

Datum slice(NodeImport &node, Datum &operand, int64_t axis, Size begin,
            Size size, int64_t step) {
  SmallVector<Size> sizes(operand.sizes);
  sizes[axis] = size;
  if (numberOf(begin) == 0 && step == 1 && isEqual(operand.sizes[axis], size))
    return operand;
  if (std::optional<int64_t> first = numberOf(begin)) {
    SmallVector<int64_t> strides = stridesOf(operand.shape());
    if (auto known = moveKnown(operand, sizes, [&](ArrayRef<int64_t> position) {
          int64_t from = 0;
          for (auto [dim, index] : llvm::enumerate(position))
            from += strides[dim] *
                    (int64_t(dim) == axis ? *first + index * step : index);
          return from;
        }))
      return *known;
  }
  OpBuilder &builder = node.builder;
  if (isEmpty(sizes))
    return makeDatum(operand.element, sizes,
                     makeEmpty(node, operand.element, sizes));
  // A view has strides of 1 or more.
  if (step < 0) {
    mlir::Value source = node.tensor(operand), first = toIndex(node, begin);
    return generate(
        node, operand.element, sizes, [&](OpBuilder &inner, ValueRange index) {
          SmallVector<mlir::Value> position(index);
          mlir::Value factor =
              arith::ConstantIndexOp::create(inner, node.loc, step);
          mlir::Value offset =
              arith::MulIOp::create(inner, node.loc, index[axis], factor);
          position[axis] =
              arith::AddIOp::create(inner, node.loc, offset, first);
          return extract(inner, node.loc, source, position);
        });
  }
  SmallVector<OpFoldResult> offsets(sizes.size(), sizeOf(node, 0));
  SmallVector<OpFoldResult> strides(sizes.size(), sizeOf(node, 1));
  offsets[axis] = begin;
  strides[axis] = sizeOf(node, step);
  SmallVector<OpFoldResult> resultSizes(sizes.begin(), sizes.end());
  mlir::Value result = tensor::ExtractSliceOp::create(
      builder, node.loc, tensorType(node, operand.element, sizes),
      node.tensor(operand), offsets, resultSizes, strides);
  return makeDatum(operand.element, sizes, result);
}

mlir::Value extract(OpBuilder &builder, Location loc, mlir::Value tensor,
                    ValueRange position) {
  return tensor::ExtractOp::create(builder, loc, tensor, position);
}

Datum generate(NodeImport &node, ElementType element, ArrayRef<Size> sizes,
               llvm::function_ref<mlir::Value(OpBuilder &, ValueRange)> body) {
  auto withIndices = [&](OpBuilder &inner, Location at, ValueRange) {
    SmallVector<mlir::Value> position;
    for (size_t dim = 0; dim < sizes.size(); ++dim)
      position.push_back(linalg::IndexOp::create(inner, at, dim));
    linalg::YieldOp::create(inner, at, body(inner, position));
  };
  mlir::Value result =
      makeGeneric(node, {}, makeEmpty(node, element, sizes), withIndices);
  return makeDatum(element, sizes, result);
}

} // namespace attn::onnx
