//===- Scalarize.h - element-wise operations inside regions ----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What moving an element-wise tensor operation into a region over single
// elements takes: which operations those are, the scalar form of one, and the
// element of a captured tensor.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TRANSFORMS_SCALARIZE_H
#define ATTN_LIB_TRANSFORMS_SCALARIZE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace attn {

/// True for an operation that computes each element of its only result, a
/// tensor, from the elements at the same place of its operands, all of that
/// shape (or scalars).
bool isElementwise(mlir::Operation *op);

/// True for f16, bf16, and tensors of them.
bool isHalf(mlir::Type type);

/// Creates the same operation on single elements. Where `compute` is given,
/// numbers of narrower types are of that type instead, as the operands are.
mlir::Value createScalar(mlir::OpBuilder &builder, mlir::Operation *op,
                         mlir::ValueRange operands,
                         mlir::FloatType compute = {});

/// A float of another type.
mlir::Value convertFloat(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value value, mlir::FloatType type);

/// True unless a score is -inf. Compared as integers: code generation may
/// assume that floats are finite.
mlir::Value isNotHidden(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value score);

/// The element that a constant tensor consists of; null if `value` is no
/// constant or has different elements.
mlir::TypedAttr splatElement(mlir::Value value);

/// Reads the element of `tensor` at `position` by NumPy's rule of broadcasting:
/// the last dimension at the last index, and so on; a dimension of static size
/// 1 is read at 0.
mlir::Value extractBroadcast(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value tensor, mlir::ValueRange position);

/// `dim` of `tensor` as a number or as the result of a new tensor.dim.
mlir::OpFoldResult sizeOf(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value tensor, unsigned dim);

} // namespace attn

#endif // ATTN_LIB_TRANSFORMS_SCALARIZE_H
