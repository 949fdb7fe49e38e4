//===- ScalarOps.h - element-wise operations as functions -------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_REFERENCE_SCALAROPS_H
#define ATTN_LIB_REFERENCE_SCALAROPS_H

#include "attn/Reference/Tensor.h"
#include "mlir/IR/Operation.h"

#include <functional>

namespace attn::reference {

/// What an operation makes of one element of each operand.
using ScalarFunction = std::function<Scalar(llvm::ArrayRef<Scalar>)>;

/// The function of an operation of arith, math or attn (gelu, relu) with one
/// result, by its element types; null for one that is not element-wise.
ScalarFunction getScalarFunction(mlir::Operation *op);

/// x * Phi(x), exactly or by tanh.
double gelu(double x, bool exact);

} // namespace attn::reference

#endif // ATTN_LIB_REFERENCE_SCALAROPS_H
