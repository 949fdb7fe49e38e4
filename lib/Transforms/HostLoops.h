//===- HostLoops.h - what the host function computes itself ----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A kernel is f32 arithmetic on tensors that are worth one. Everything else
// becomes plain loops in the host function, with the exact meaning of each
// operation: other element types, gathers and other data movement, comparisons
// and maxima that must not lose a NaN (kernels are compiled with fast-math).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TRANSFORMS_HOSTLOOPS_H
#define ATTN_LIB_TRANSFORMS_HOSTLOOPS_H

#include "mlir/IR/Operation.h"

namespace attn {

/// Whether the operation is a loop nest (of linalg, or scf.for) that stays in
/// the host function.
bool isHostLoop(mlir::Operation *op);

/// Whether the operation is an element-wise one on tensors that no kernel
/// takes.
bool isHostElementwise(mlir::Operation *op);

/// Makes a linalg.generic of such an operation.
void makeHostLoop(mlir::Operation *elementwise);

} // namespace attn

#endif // ATTN_LIB_TRANSFORMS_HOSTLOOPS_H
