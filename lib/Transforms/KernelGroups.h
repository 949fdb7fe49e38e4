//===- KernelGroups.h - which operations share a kernel --------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TRANSFORMS_KERNELGROUPS_H
#define ATTN_LIB_TRANSFORMS_KERNELGROUPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attn {

/// Operations of one block that become one kernel, in program order.
struct KernelGroup {
  llvm::SmallVector<mlir::Operation *> ops;

  /// The operation that the call takes the place of.
  mlir::Operation *last() const { return ops.back(); }
  bool contains(mlir::Operation *op) const;
  /// The first part of the kernel's name: "attention", "linear_norm", ...
  llvm::StringRef name() const;
  /// Values of the group that others use.
  llvm::SmallVector<mlir::Value> results() const;
};

/// Divides the computing operations of a host function into kernels: each
/// attn.attention, attn.fused_linear and linalg operation for itself, row-wise
/// operations in groups as large as possible. Fails with a diagnostic at each
/// operation that no kernel can express.
llvm::FailureOr<std::vector<KernelGroup>>
formKernelGroups(mlir::func::FuncOp func);

/// True for an operation that stays in the host function: it computes no
/// element of a tensor.
bool isHostOp(mlir::Operation *op);

/// True for what a kernel repeats in its body instead of taking an argument:
/// scalar constants, and constant tensors of one element value.
bool isRepeatedInKernel(mlir::Operation *op);

} // namespace attn

#endif // ATTN_LIB_TRANSFORMS_KERNELGROUPS_H
