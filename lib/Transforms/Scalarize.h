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

/// Creates the same operation on single elements.
mlir::Value createScalar(mlir::OpBuilder &builder, mlir::Operation *op,
                         mlir::ValueRange operands);

/// The type in which a kernel computes with `type`: f32 for narrower floats.
mlir::Type widenedType(mlir::Type type);

/// `value` in its widened type.
mlir::Value widen(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value value);

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
