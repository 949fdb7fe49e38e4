//===- Variants.h - a model for several CPUs --------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HOST_VARIANTS_H
#define ATTN_LIB_TARGET_HOST_VARIANTS_H

#include "attn/Analysis/TargetInfo.h"
#include "mlir/IR/BuiltinOps.h"

namespace attn {

/// A variant of the model: the module that holds its function and kernels.
struct Variant {
  mlir::ModuleOp module;
  const TargetInfo *target;
};

/// The variants of a tiled-level module, the first named one first. Reports
/// unknown targets and mixed architectures.
mlir::FailureOr<llvm::SmallVector<Variant>> getVariants(mlir::ModuleOp module);

} // namespace attn

#endif // ATTN_LIB_TARGET_HOST_VARIANTS_H
