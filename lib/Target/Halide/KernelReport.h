//===- KernelReport.h - diagnostics of another process ----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_KERNELREPORT_H
#define ATTN_LIB_TARGET_HALIDE_KERNELREPORT_H

#include "attn/Dialect/IR/Attn.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/JSON.h"

namespace attn {

/// The first argument of a process that compiles a kernel.
inline constexpr llvm::StringLiteral compileKernelFlag =
    "--attn-compile-kernel";

/// {severity, message, notes} and, where it is known, {file, line, column}.
llvm::json::Object toJson(mlir::Diagnostic &diagnostic);

/// Emits what a process reported about a kernel. Returns whether there was an
/// error among it.
bool replay(const llvm::json::Array &report, KernelOp kernel);

} // namespace attn

#endif // ATTN_LIB_TARGET_HALIDE_KERNELREPORT_H
