//===- SafeScalars.h - scalar operations that cannot fail ------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A formula is evaluated for each element of a tile, also for those past the
// edge and for those that another formula hides. So no formula may read outside
// a tensor or divide by zero, whatever a user wrote.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_CONVERSION_ATTNTOLOOPS_SAFESCALARS_H
#define ATTN_LIB_CONVERSION_ATTNTOLOOPS_SAFESCALARS_H

#include "mlir/IR/Operation.h"

namespace attn {

/// Makes each index of a tensor.extract the nearest one inside the tensor.
void keepIndicesInside(mlir::Operation *root);

/// Makes each integer division give 0 where it has no value.
void makeDivisionsSafe(mlir::Operation *root);

/// True for an operation that computes each element of its only result, a
/// tensor, from the elements at the same place of its operands.
bool isElementwiseOnTensors(mlir::Operation *op);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTOLOOPS_SAFESCALARS_H
