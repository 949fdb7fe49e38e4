//===- ObjectModule.h - everything of a model in one LLVM module *- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TARGET_HOST_OBJECTMODULE_H
#define ATTN_LIB_TARGET_HOST_OBJECTMODULE_H

#include "Manifest.h"
#include "attn/Target/Host/HostTarget.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Target/TargetMachine.h"

namespace attn {

/// The C identifier that all names of the model start with.
std::string getModelName(const ObjectOptions &options);

/// A model on its way to an object.
struct ObjectModule {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
  ModelInterface interface;
  WeightLayout layout;
  llvm::SmallVector<llvm::StringRef> targets;
  /// The JSON of NAME_info.
  llvm::json::Object info;
};

/// Compiles drivers and kernels and links them with the run-time; only the C
/// API stays visible and nothing dead is left.
llvm::LogicalResult buildObjectModule(mlir::ModuleOp module,
                                      const ObjectOptions &options,
                                      ObjectModule &result);

/// Runs the code generator.
llvm::LogicalResult generateCode(ObjectModule &object, mlir::ModuleOp module,
                                 llvm::CodeGenFileType type,
                                 llvm::raw_pwrite_stream &os);

} // namespace attn

#endif // ATTN_LIB_TARGET_HOST_OBJECTMODULE_H
