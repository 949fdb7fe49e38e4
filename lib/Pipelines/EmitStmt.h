//===- EmitStmt.h - the loop nests of all kernels --------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_PIPELINES_EMITSTMT_H
#define ATTN_LIB_PIPELINES_EMITSTMT_H

#include "attn/Analysis/TargetInfo.h"
#include "attn/Dialect/IR/Attn.h"
#include "mlir/IR/BuiltinOps.h"

namespace attn {

/// Compiles the kernels of a tiled module for all its targets and writes
/// Halide's loop nest of each to `os`, under a line that names it. Problems are
/// diagnostics. `folder` holds temporary files.
llvm::LogicalResult emitStmt(mlir::ModuleOp module, llvm::StringRef folder,
                             llvm::raw_ostream &os);

/// What is done with the text or code of a kernel.
using UseCode = llvm::function_ref<llvm::LogicalResult(
    KernelOp kernel, const TargetInfo &target, llvm::StringRef code)>;

/// Compiles the same for targets that all have this interface, and calls `use`
/// with what it is given of each kernel: PTX, OpenCL C, Metal, or SPIR-V with
/// Halide's headers.
llvm::LogicalResult forEachDeviceCode(mlir::ModuleOp module, DeviceApi api,
                                      llvm::StringRef folder, UseCode use);

/// Writes that text as emitStmt does.
llvm::LogicalResult emitDeviceCode(mlir::ModuleOp module, DeviceApi api,
                                   llvm::StringRef folder,
                                   llvm::raw_ostream &os);

} // namespace attn

#endif // ATTN_LIB_PIPELINES_EMITSTMT_H
