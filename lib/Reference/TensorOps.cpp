//===- TensorOps.cpp - upstream's tensor operations -------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Views, copies and sizes. Sizes that the IR leaves open come from the
// operands.
//
//===----------------------------------------------------------------------===//

#include "EvaluatorImpl.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::reference;

static Tensor::Kind kindOfResult(Operation *op) {
  return Tensor::kindOf(getElementTypeOrSelf(op->getResult(0).getType()));
}

/// Static sizes with the dynamic ones filled in from operands, in order.
static SmallVector<int64_t> fillIn(ArrayRef<int64_t> sizes, Operands dynamic) {
  SmallVector<int64_t> result;
  for (int64_t size : sizes) {
    if (ShapedType::isDynamic(size)) {
      size = dynamic.front()->get(0).integer;
      dynamic = dynamic.drop_front();
    }
    result.push_back(size);
  }
  return result;
}

static llvm::Error checkNotNegative(Operation *op, ArrayRef<int64_t> sizes) {
  for (int64_t size : sizes)
    if (size < 0)
      return makeError(op, "expected sizes >= 0, got " + llvm::Twine(size));
  return llvm::Error::success();
}

/// Nothing may read an element before it is written: floats are NaN.
static llvm::Expected<Tensor> evaluateOp(tensor::EmptyOp op,
                                         Operands operands) {
  SmallVector<int64_t> shape = fillIn(op.getType().getShape(), operands);
  if (llvm::Error error = checkNotNegative(op, shape))
    return std::move(error);
  Tensor result = Tensor::zeros(kindOfResult(op), shape);
  std::fill(result.numbers.begin(), result.numbers.end(), NAN);
  return result;
}

static llvm::Expected<Tensor> evaluateOp(tensor::DimOp op, Operands operands) {
  int64_t dim = operands[1]->get(0).integer;
  if (dim < 0 || dim >= operands[0]->rank())
    return makeError(op, "expected a dimension below the rank " +
                             llvm::Twine(operands[0]->rank()) + ", got " +
                             llvm::Twine(dim));
  return Tensor::scalar(Tensor::Kind::I64, {0.0, operands[0]->size(dim)});
}

static llvm::Expected<Tensor> withShape(Operation *op, const Tensor &tensor,
                                        ArrayRef<int64_t> shape) {
  Tensor result = tensor;
  result.shape.assign(shape.begin(), shape.end());
  if (result.numElements() != tensor.numElements())
    return makeError(op, "expected as many elements as before, " +
                             llvm::Twine(tensor.numElements()) + ", got " +
                             llvm::Twine(result.numElements()));
  return result;
}

static llvm::Expected<Tensor> evaluateOp(tensor::ExpandShapeOp op,
                                         Operands operands) {
  return withShape(op, *operands[0],
                   fillIn(op.getStaticOutputShape(), operands.drop_front()));
}

static llvm::Expected<Tensor> evaluateOp(tensor::CollapseShapeOp op,
                                         Operands operands) {
  SmallVector<int64_t> shape;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    int64_t size = 1;
    for (int64_t dim : group)
      size *= operands[0]->size(dim);
    shape.push_back(size);
  }
  return withShape(op, *operands[0], shape);
}

static llvm::Expected<Tensor> evaluateOp(tensor::ReshapeOp op,
                                         Operands operands) {
  SmallVector<int64_t> shape(operands[1]->integers.begin(),
                             operands[1]->integers.end());
  return withShape(op, *operands[0], shape);
}

static llvm::Expected<Tensor> evaluateOp(tensor::CastOp op, Operands operands) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  for (int64_t dim = 0; type && dim < type.getRank(); ++dim)
    if (!type.isDynamicDim(dim) &&
        type.getDimSize(dim) != operands[0]->size(dim))
      return makeError(op, "expected size " +
                               llvm::Twine(type.getDimSize(dim)) +
                               " in dimension " + llvm::Twine(dim) + ", got " +
                               llvm::Twine(operands[0]->size(dim)));
  return *operands[0];
}

/// Offsets, sizes and strides of a slice, all known.
struct Slice {
  SmallVector<int64_t> offsets, sizes, strides;
};

/// `dynamic` are the operands for what is not static, in the order of the op.
template <typename OpTy> static Slice getSlice(OpTy op, Operands dynamic) {
  Slice slice;
  slice.offsets = fillIn(op.getStaticOffsets(), dynamic);
  dynamic = dynamic.drop_front(op.getOffsets().size());
  slice.sizes = fillIn(op.getStaticSizes(), dynamic);
  dynamic = dynamic.drop_front(op.getSizes().size());
  slice.strides = fillIn(op.getStaticStrides(), dynamic);
  return slice;
}

static llvm::Error checkSlice(Operation *op, const Slice &slice,
                              ArrayRef<int64_t> shape) {
  for (auto [dim, size] : llvm::enumerate(slice.sizes)) {
    int64_t first = slice.offsets[dim];
    int64_t last = first + (size - 1) * slice.strides[dim];
    if (size < 0 || (size > 0 && (std::min(first, last) < 0 ||
                                  std::max(first, last) >= shape[dim])))
      return makeError(op, "expected a slice inside size " +
                               llvm::Twine(shape[dim]) + " of dimension " +
                               llvm::Twine(dim) + ", got elements " +
                               llvm::Twine(first) + " to " + llvm::Twine(last));
  }
  return llvm::Error::success();
}

/// Calls `function` with the place in the whole of each element of the slice,
/// in row-major order.
static void forEachElement(const Slice &slice, const Tensor &whole,
                           function_ref<void(int64_t)> function) {
  if (!hasElements(slice.sizes))
    return;
  SmallVector<int64_t> at(slice.sizes.size(), 0), place(at);
  do {
    for (size_t dim = 0; dim < at.size(); ++dim)
      place[dim] = slice.offsets[dim] + at[dim] * slice.strides[dim];
    function(whole.offset(place));
  } while (nextIndices(at, slice.sizes));
}

static llvm::Expected<Tensor> evaluateOp(tensor::ExtractSliceOp op,
                                         Operands operands) {
  const Tensor &source = *operands[0];
  Slice slice = getSlice(op, operands.drop_front());
  if (llvm::Error error = checkSlice(op, slice, source.shape))
    return std::move(error);
  // A result of lower rank leaves out dimensions of size 1.
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(slice.sizes))
    if (!dropped[dim])
      shape.push_back(size);
  Tensor result = Tensor::zeros(source.kind, shape);
  int64_t next = 0;
  forEachElement(slice, source, [&](int64_t offset) {
    result.set(next++, source.get(offset));
  });
  return result;
}

template <typename OpTy>
static llvm::Expected<Tensor> evaluateInsert(OpTy op, Operands operands) {
  const Tensor &source = *operands[0];
  Tensor result = *operands[1];
  Slice slice = getSlice(op, operands.drop_front(2));
  if (llvm::Error error = checkSlice(op, slice, result.shape))
    return std::move(error);
  int64_t elements = 1;
  for (int64_t size : slice.sizes)
    elements *= size;
  if (elements != source.numElements())
    return makeError(op, "expected as many elements as the slice has, " +
                             llvm::Twine(elements) + ", got " +
                             llvm::Twine(source.numElements()));
  int64_t next = 0;
  forEachElement(slice, result, [&](int64_t offset) {
    result.set(offset, source.get(next++));
  });
  return result;
}

static llvm::Expected<Tensor> evaluateOp(tensor::InsertSliceOp op,
                                         Operands operands) {
  return evaluateInsert(op, operands);
}

static llvm::Expected<Tensor> evaluateOp(tensor::ExtractOp op,
                                         Operands operands) {
  SmallVector<int64_t> place;
  for (const TensorRef &index : operands.drop_front())
    place.push_back(index->get(0).integer);
  if (!operands[0]->contains(place))
    return makeError(op, "expected indices inside the tensor");
  return Tensor::scalar(operands[0]->kind,
                        operands[0]->get(operands[0]->offset(place)));
}

static llvm::Expected<Tensor> evaluateOp(tensor::SplatOp op,
                                         Operands operands) {
  SmallVector<int64_t> shape =
      fillIn(op.getType().getShape(), operands.drop_front());
  if (llvm::Error error = checkNotNegative(op, shape))
    return std::move(error);
  Tensor result = Tensor::zeros(operands[0]->kind, shape);
  for (int64_t index = 0; index < result.numElements(); ++index)
    result.set(index, operands[0]->get(0));
  return result;
}

static llvm::Expected<Tensor> evaluateOp(tensor::FromElementsOp op,
                                         Operands operands) {
  Tensor result = Tensor::zeros(kindOfResult(op), op.getType().getShape());
  for (auto [index, element] : llvm::enumerate(operands))
    result.set(index, element->get(0));
  return result;
}

static llvm::Expected<Tensor> evaluateOp(tensor::ConcatOp op,
                                         Operands operands) {
  int64_t axis = op.getDim();
  SmallVector<int64_t> shape(operands[0]->shape.begin(),
                             operands[0]->shape.end());
  shape[axis] = 0;
  for (const TensorRef &part : operands)
    shape[axis] += part->size(axis);
  Tensor result = Tensor::zeros(operands[0]->kind, shape);
  Slice slice;
  slice.offsets.assign(shape.size(), 0);
  slice.strides.assign(shape.size(), 1);
  for (const TensorRef &part : operands) {
    slice.sizes.assign(part->shape.begin(), part->shape.end());
    if (llvm::Error error = checkSlice(op, slice, shape))
      return std::move(error);
    int64_t next = 0;
    forEachElement(slice, result, [&](int64_t offset) {
      result.set(offset, part->get(next++));
    });
    slice.offsets[axis] += part->size(axis);
  }
  return result;
}

FamilyResult reference::evaluateTensorOp(Operation *op, Operands operands) {
  return TypeSwitch<Operation *, FamilyResult>(op)
      .Case<tensor::EmptyOp, tensor::DimOp, tensor::ExpandShapeOp,
            tensor::CollapseShapeOp, tensor::ReshapeOp, tensor::CastOp,
            tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ExtractOp,
            tensor::SplatOp, tensor::FromElementsOp, tensor::ConcatOp>(
          [&](auto op) { return oneResult(evaluateOp(op, operands)); })
      .Default([](Operation *) { return std::nullopt; });
}
