//===- EmitSpirv.h - the SPIR-V of all kernels -----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_PIPELINES_EMITSPIRV_H
#define ATTN_LIB_PIPELINES_EMITSPIRV_H

#include "attn/Support/OutputFiles.h"
#include "mlir/IR/BuiltinOps.h"

namespace attn {

/// Compiles the kernels of a tiled module, all of whose targets are Vulkan's,
/// and adds a file to `files` for each launch of each of them:
/// PREFIX.SYMBOL.NUMBER.spv, the numbers from 0 on. Problems are diagnostics.
/// `folder` holds temporary files.
llvm::LogicalResult emitSpirv(mlir::ModuleOp module, llvm::StringRef folder,
                              llvm::StringRef prefix, OutputFiles &files);

} // namespace attn

#endif // ATTN_LIB_PIPELINES_EMITSPIRV_H
