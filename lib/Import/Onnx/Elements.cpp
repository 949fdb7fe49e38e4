//===- Elements.cpp - element-wise operations and reductions --------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// f32 tensors of one shape are handed to arith and math as they are, so that
// what follows (fusion into linear layers, row-wise kernels) sees operations
// and not loops. Everything else is a linalg.generic.
//
//===----------------------------------------------------------------------===//

#include "Build.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace attn::onnx {

//===----------------------------------------------------------------------===//
// linalg.generic
//===----------------------------------------------------------------------===//

BroadcastInput makeBroadcastInput(NodeImport &node, Datum &operand,
                                  ArrayRef<Size> sizes) {
  // Sizes of 1 that repeat are dropped: each index is then one loop.
  int64_t skipped = static_cast<int64_t>(sizes.size()) - operand.rank();
  SmallVector<Size> kept;
  SmallVector<unsigned> loops;
  for (auto [dim, size] : llvm::enumerate(operand.sizes)) {
    if (numberOf(size) == 1 && numberOf(sizes[skipped + dim]) != 1)
      continue;
    kept.push_back(size);
    loops.push_back(skipped + dim);
  }
  Datum view = reshape(node, operand, kept);
  return {node.tensor(view), AffineMap::getMultiDimMapWithTargets(
                                 sizes.size(), loops, node.context())};
}

mlir::Value
makeGeneric(NodeImport &node, ArrayRef<BroadcastInput> inputs, mlir::Value init,
            llvm::function_ref<void(OpBuilder &, Location, ValueRange)> body) {
  auto rank = cast<RankedTensorType>(init.getType()).getRank();
  SmallVector<mlir::Value> tensors;
  SmallVector<AffineMap> maps;
  for (const BroadcastInput &input : inputs) {
    tensors.push_back(input.tensor);
    maps.push_back(input.map);
  }
  maps.push_back(node.builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(node.builder, node.loc, init.getType(),
                                   tensors, init, maps, iterators, body)
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

mlir::Type typeLike(mlir::Type like, mlir::Type element) {
  if (auto tensor = dyn_cast<RankedTensorType>(like))
    return tensor.clone(element);
  return element;
}

mlir::Type boolLike(mlir::Type like) {
  return typeLike(like, IntegerType::get(like.getContext(), 1));
}

static mlir::Value constantLike(OpBuilder &builder, Location loc,
                                mlir::Type like, TypedAttr value) {
  if (auto tensor = dyn_cast<RankedTensorType>(like))
    value = DenseElementsAttr::get(tensor, ArrayRef<mlir::Attribute>(value));
  return arith::ConstantOp::create(builder, loc, value);
}

mlir::Value constantLike(OpBuilder &builder, Location loc, mlir::Type like,
                         double number) {
  auto type = cast<FloatType>(getElementTypeOrSelf(like));
  return constantLike(builder, loc, like,
                      FloatAttr::get(type, toAPFloat(type, number)));
}

mlir::Value constantLike(OpBuilder &builder, Location loc, mlir::Type like,
                         int64_t number) {
  mlir::Type type = getElementTypeOrSelf(like);
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  APInt bits(width, static_cast<uint64_t>(number), /*isSigned=*/true,
             /*implicitTrunc=*/true);
  return constantLike(builder, loc, like, IntegerAttr::get(type, bits));
}

static mlir::Value constantLike(OpBuilder &builder, Location loc,
                                mlir::Type like, const Scalar &scalar) {
  return scalar.kind == Scalar::Kind::Float
             ? constantLike(builder, loc, like, scalar.number)
             : constantLike(builder, loc, like, scalar.integer);
}

/// A half as f32, anything else as it is.
static mlir::Value widen(OpBuilder &builder, Location loc, mlir::Value value) {
  mlir::Type element = getElementTypeOrSelf(value);
  if (!element.isF16() && !element.isBF16())
    return value;
  return arith::ExtFOp::create(
      builder, loc, typeLike(value.getType(), builder.getF32Type()), value);
}

/// An f32 as a half where that is wanted.
static mlir::Value narrow(OpBuilder &builder, Location loc, mlir::Value value,
                          mlir::Type wanted) {
  mlir::Type element = getElementTypeOrSelf(value);
  if (element == wanted || !element.isF32() ||
      (!wanted.isF16() && !wanted.isBF16()))
    return value;
  return arith::TruncFOp::create(builder, loc,
                                 typeLike(value.getType(), wanted), value);
}

//===----------------------------------------------------------------------===//
// Element-wise operations
//===----------------------------------------------------------------------===//

/// Whether the operation can be one on whole tensors.
static bool isOnTensors(ArrayRef<Datum> operands, ElementType result,
                        const Datum &shape) {
  return result == ElementType::Float && shape.isStatic() &&
         llvm::all_of(operands, [&](const Datum &operand) {
           return operand.element == ElementType::Float &&
                  (operand.splat() || operand.shape() == shape.shape());
         });
}

FailureOr<Datum> elementwise(NodeImport &node, MutableArrayRef<Datum> operands,
                             ElementType result, ElementFn body) {
  FailureOr<SmallVector<Size>> sizes = broadcastSizes(node, operands);
  if (failed(sizes))
    return failure();
  OpBuilder &builder = node.builder;
  mlir::Type element = mlirType(result, node.context());
  if (isOnTensors(operands, result, makeDatum(result, *sizes, {}))) {
    mlir::Type type = tensorType(node, result, *sizes);
    SmallVector<mlir::Value> tensors;
    for (Datum &operand : operands) {
      std::optional<Scalar> splat = operand.splat();
      tensors.push_back(splat ? constantLike(builder, node.loc, type, *splat)
                              : node.tensor(operand));
    }
    return makeDatum(result, *sizes, body(builder, node.loc, tensors));
  }
  // A number is a constant of the body.
  SmallVector<BroadcastInput> inputs;
  for (Datum &operand : operands)
    if (!operand.splat())
      inputs.push_back(makeBroadcastInput(node, operand, *sizes));
  auto emit = [&](OpBuilder &inner, Location at, ValueRange elements) {
    SmallVector<mlir::Value> values;
    unsigned next = 0;
    for (const Datum &operand : operands) {
      std::optional<Scalar> splat = operand.splat();
      mlir::Type type = mlirType(operand.element, node.context());
      mlir::Value value = splat ? constantLike(inner, at, type, *splat)
                                : mlir::Value(elements[next++]);
      values.push_back(widen(inner, at, value));
    }
    mlir::Value value = body(inner, at, values);
    linalg::YieldOp::create(inner, at, narrow(inner, at, value, element));
  };
  mlir::Value made =
      makeGeneric(node, inputs, makeEmpty(node, result, *sizes), emit);
  return makeDatum(result, *sizes, made);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Datum reduce(NodeImport &node, Datum &operand, ArrayRef<int64_t> axes,
             bool keepSizes, Scalar init, ElementFn body, ElementFn finish) {
  OpBuilder &builder = node.builder;
  SmallVector<Size> sizes, keptSizes;
  SmallVector<unsigned> kept;
  SmallVector<utils::IteratorType> iterators(operand.rank(),
                                             utils::IteratorType::parallel);
  for (auto [dim, size] : llvm::enumerate(operand.sizes)) {
    bool isReduced = llvm::is_contained(axes, int64_t(dim));
    keptSizes.push_back(isReduced ? sizeOf(node, 1) : size);
    if (isReduced) {
      iterators[dim] = utils::IteratorType::reduction;
      continue;
    }
    sizes.push_back(size);
    kept.push_back(dim);
  }
  ElementType sumType =
      isHalf(operand.element) ? ElementType::Float : operand.element;
  mlir::Type sumElement = mlirType(sumType, node.context());
  mlir::Value start = constantLike(builder, node.loc, sumElement, init);
  mlir::Value sum = linalg::FillOp::create(builder, node.loc, start,
                                           makeEmpty(node, sumType, sizes))
                        .getResult(0);
  SmallVector<AffineMap> maps = {builder.getMultiDimIdentityMap(operand.rank()),
                                 AffineMap::getMultiDimMapWithTargets(
                                     operand.rank(), kept, node.context())};
  sum = linalg::GenericOp::create(
            builder, node.loc, sum.getType(), node.tensor(operand), sum, maps,
            iterators,
            [&](OpBuilder &inner, Location at, ValueRange elements) {
              mlir::Value value =
                  body(inner, at, {widen(inner, at, elements[0]), elements[1]});
              linalg::YieldOp::create(inner, at, value);
            })
            .getResult(0);
  Datum result = makeDatum(sumType, sizes, sum);
  if (finish || sumType != operand.element) {
    auto last = [&](OpBuilder &inner, Location at, ValueRange values) {
      return finish ? finish(inner, at, values) : mlir::Value(values.front());
    };
    result = *elementwise(node, result, operand.element, last);
  }
  return keepSizes ? reshape(node, result, keptSizes) : result;
}

} // namespace attn::onnx
