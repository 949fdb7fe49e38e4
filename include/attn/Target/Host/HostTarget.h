//===- HostTarget.h - tiled level to object, header, weights ----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What attn-opt calls for --emit=obj, llvm and asm. A tiled-level module holds
// one public function and its kernels, or one nested module of these a target.
// All errors are diagnostics at the operation they are about, or at the module
// where they are about files.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_HOST_HOSTTARGET_H
#define ATTN_TARGET_HOST_HOSTTARGET_H

#include "attn/Analysis/CostModel.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace attn {

/// What the object is called and where everything goes.
struct ObjectOptions {
  /// Outputs are this path with .o, .h, .json and .weights appended.
  std::string prefixPath;
  /// C identifier that all public names start with; the last component of
  /// `prefixPath` where it is empty, with other characters replaced by `_`.
  std::string name;
  /// The weights go into the object instead of a file of their own.
  bool embedWeights = false;
  /// Where the files that the weights' recipes name are looked up.
  std::string sourceDir;
  /// A function `void(const char *kernel, int32_t isDone)` that the driver
  /// calls before and after each kernel, for profiles; none if empty. It is the
  /// caller's to define where the object is loaded.
  std::string kernelHook;
  /// What the manifest says about the model's work, counted before tiling.
  std::optional<ModelCost> cost;
};

/// Writes PREFIX.o, PREFIX.h, PREFIX.json and, unless the model has no weights
/// or embeds them, PREFIX.weights. Two calls with equal input write equal
/// bytes.
llvm::LogicalResult emitObject(mlir::ModuleOp module,
                               const ObjectOptions &options);

/// Writes the LLVM IR of the object: driver, kernels, run-time.
llvm::LogicalResult emitLLVMText(mlir::ModuleOp module,
                                 const ObjectOptions &options,
                                 llvm::raw_ostream &os);

/// Writes the assembly text of the object.
llvm::LogicalResult emitAssemblyText(mlir::ModuleOp module,
                                     const ObjectOptions &options,
                                     llvm::raw_ostream &os);

/// Writes the host function of one variant after bufferization and memory
/// planning, as MLIR in the LLVM dialect if `lowered`, else before that step.
llvm::LogicalResult emitHostText(mlir::ModuleOp module,
                                 const ObjectOptions &options, bool lowered,
                                 llvm::raw_ostream &os);

/// Adds what this library needs beyond attn's own dialects: bufferization
/// models and translations to LLVM. To be called before a context is made.
void registerHostTarget(mlir::DialectRegistry &registry);

} // namespace attn

#endif // ATTN_TARGET_HOST_HOSTTARGET_H
