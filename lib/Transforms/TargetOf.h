//===- TargetOf.h - the target an operation is compiled for ----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TRANSFORMS_TARGETOF_H
#define ATTN_LIB_TRANSFORMS_TARGETOF_H

#include "attn/Analysis/TargetInfo.h"
#include "mlir/IR/Operation.h"

namespace attn {

/// The target that `attn.target` of the nearest module names, or an error at
/// `op` that says how to choose one.
mlir::FailureOr<const TargetInfo *> getTargetOf(mlir::Operation *op);

} // namespace attn

#endif // ATTN_LIB_TRANSFORMS_TARGETOF_H
