//===- HostSizes.h - sizes of values in a host function --------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TRANSFORMS_HOSTSIZES_H
#define ATTN_LIB_TRANSFORMS_HOSTSIZES_H

#include "mlir/IR/Builders.h"

namespace attn {

/// The size of a dimension of a tensor in a host function, in terms of what is
/// known before anything is computed: numbers, `attn.dim_size` of the entry's
/// named sizes, products of them. Creates what it needs at the insertion point;
/// a tensor.dim only where an operation does not tell the sizes of its result.
mlir::OpFoldResult hostSize(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value tensor, unsigned dim);

/// All sizes of a tensor.
llvm::SmallVector<mlir::OpFoldResult>
hostSizes(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor);

/// What messages call a value: its attn.name if it is an argument of the entry.
llvm::StringRef argumentName(mlir::Value value, llvm::StringRef otherwise);

} // namespace attn

#endif // ATTN_LIB_TRANSFORMS_HOSTSIZES_H
