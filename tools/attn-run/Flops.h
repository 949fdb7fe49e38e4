//===- Flops.h - work of a run, counted from the fused level ---*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Multiplications and additions of the products: 2 M N K for a linear layer,
// 2 B H N M (D + Dv) for attention, whether or not a mask hides a part. What
// is element-wise or row-wise is not counted: it is a small part of a model's
// work, and there is no agreed way to count it.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_FLOPS_H
#define ATTN_TOOLS_ATTN_RUN_FLOPS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

namespace attn::run {

/// Counts the operations of one run of a module at fused level. `dims` gives
/// the values of the module's dims. None if a size cannot be worked out.
std::optional<double> countFlops(mlir::ModuleOp module,
                                 const llvm::StringMap<int64_t> &dims);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_FLOPS_H
