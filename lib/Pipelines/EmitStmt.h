//===- EmitStmt.h - the loop nests of all kernels --------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_PIPELINES_EMITSTMT_H
#define ATTN_LIB_PIPELINES_EMITSTMT_H

#include "attn/Analysis/TargetInfo.h"
#include "mlir/IR/BuiltinOps.h"

namespace attn {

/// Compiles the kernels of a tiled module for all its targets and writes
/// Halide's loop nest of each to `os`, under a line that names it. Problems are
/// diagnostics. `folder` holds temporary files.
llvm::LogicalResult emitStmt(mlir::ModuleOp module, llvm::StringRef folder,
                             llvm::raw_ostream &os);

/// The same with the code that the device runs, PTX or OpenCL C, of targets
/// that all have this interface.
llvm::LogicalResult emitDeviceCode(mlir::ModuleOp module, DeviceApi api,
                                   llvm::StringRef folder,
                                   llvm::raw_ostream &os);

} // namespace attn

#endif // ATTN_LIB_PIPELINES_EMITSTMT_H
