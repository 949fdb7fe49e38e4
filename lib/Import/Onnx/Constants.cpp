//===- Constants.cpp - known values as tensors of the function ------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Small values are constants of the function; initializers are weights that
// are read from the model's file when the weights file is written.
//
//===----------------------------------------------------------------------===//

#include "Importer.h"

#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace attn::onnx {

Datum Importer::makeStored(const Tensor &tensor) {
  Datum datum;
  datum.element = tensor.type;
  for (int64_t size : tensor.shape)
    datum.sizes.push_back(builder.getIndexAttr(size));
  datum.known = readScalars(tensor);
  datum.stored = &tensor;
  return datum;
}

/// Elements of which some are sizes.
static mlir::Value makeFromSizes(OpBuilder &builder, Location loc,
                                 const Datum &datum, RankedTensorType type) {
  SmallVector<mlir::Value> elements;
  for (const Scalar &scalar : *datum.known)
    if (scalar.isSize())
      elements.push_back(arith::IndexCastOp::create(
          builder, loc, type.getElementType(), scalar.size));
    else
      elements.push_back(arith::ConstantOp::create(
          builder, loc,
          builder.getIntegerAttr(type.getElementType(), scalar.integer)));
  return tensor::FromElementsOp::create(builder, loc, type, elements);
}

mlir::Value Importer::makeConstant(const Datum &datum, Location loc) {
  auto type =
      RankedTensorType::get(datum.shape(), mlirType(datum.element, context));
  if (llvm::any_of(*datum.known,
                   [](const Scalar &scalar) { return scalar.isSize(); }))
    return makeFromSizes(builder, loc, datum, type);
  SmallVector<mlir::Attribute> elements;
  for (const Scalar &scalar : *datum.known) {
    if (auto floatType = dyn_cast<FloatType>(type.getElementType())) {
      elements.push_back(
          FloatAttr::get(floatType, toAPFloat(floatType, scalar.number)));
      continue;
    }
    APInt bits(type.getElementTypeBitWidth(),
               static_cast<uint64_t>(scalar.integer), /*isSigned=*/true,
               /*implicitTrunc=*/true);
    elements.push_back(IntegerAttr::get(type.getElementType(), bits));
  }
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, elements));
}

mlir::Value Importer::makeWeight(const Datum &datum, Location loc) {
  const Tensor &tensor = *datum.stored;
  auto type =
      RankedTensorType::get(tensor.shape, mlirType(tensor.type, context));
  mlir::Value &known = weights[&tensor];
  if (known)
    return known;
  mlir::Attribute recipe;
  if (!tensor.file.empty()) {
    recipe = BytesAttr::get(context, tensor.file,
                            static_cast<int64_t>(tensor.offset));
  } else {
    ArrayRef<char> data(reinterpret_cast<const char *>(tensor.data.data()),
                        tensor.data.size());
    ElementsAttr elements;
    if (tensor.type == ElementType::Bool) {
      SmallVector<bool> bits(tensor.data.begin(), tensor.data.end());
      elements = DenseElementsAttr::get(type, ArrayRef<bool>(bits));
    } else {
      elements = DenseElementsAttr::getFromRawBuffer(type, data);
    }
    recipe = ValueAttr::get(context, elements);
  }
  OpBuilder atFunction(function);
  StringRef name = tensor.name.empty() ? "constant" : tensor.name;
  auto weight = WeightOp::create(
      atFunction, loc, atFunction.getStringAttr(name),
      /*sym_visibility=*/StringAttr(), recipe, TypeAttr::get(type));
  symbols->insert(weight);
  known = WeightRefOp::create(builder, loc, type, weight.getSymName());
  return known;
}

mlir::Value Importer::materialize(Datum &datum, Location loc) {
  if (datum.tensor)
    return datum.tensor;
  // A few numbers are easier to read in place than to look up.
  constexpr int64_t maxInPlace = 64;
  bool isSmall =
      datum.known && static_cast<int64_t>(datum.known->size()) <= maxInPlace;
  datum.tensor = datum.stored && !isSmall && datum.numElements() != 0
                     ? makeWeight(datum, loc)
                     : makeConstant(datum, loc);
  return datum.tensor;
}

} // namespace attn::onnx
