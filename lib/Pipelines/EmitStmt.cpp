//===- EmitStmt.cpp - the loop nests of all kernels ------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "EmitStmt.h"
#include "attn/Analysis/TargetInfo.h"
#include "attn/Dialect/IR/Attn.h"
#include "attn/Target/Halide/HalideTarget.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace attn;

/// Compiles the kernels of a variant and calls `use` with the file that has
/// this ending of each, without what kernels of plain loops do not have.
static LogicalResult forEachFile(ModuleOp variant, const TargetInfo &target,
                                 StringRef folder, const KernelOptions &options,
                                 StringRef ending, UseCode use) {
  if (failed(compileKernels(variant, target, folder, options)))
    return failure();
  for (auto kernel : variant.getOps<KernelOp>()) {
    std::unique_ptr<llvm::MemoryBuffer> file;
    if (!kernel.isLoopKernel()) {
      llvm::SmallString<128> path(folder);
      llvm::sys::path::append(path, getKernelSymbol(kernel, target) + ending);
      llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> read =
          llvm::MemoryBuffer::getFile(path);
      if (!read)
        return kernel.emitOpError()
               << "cannot read '" << path << "': " << read.getError().message();
      file = std::move(*read);
    }
    if (failed(use(kernel, target, file ? file->getBuffer() : StringRef())))
      return failure();
  }
  return success();
}

/// Calls `emit` for each variant.
static LogicalResult forEachVariant(
    ModuleOp module,
    llvm::function_ref<LogicalResult(ModuleOp, const TargetInfo &)> emit) {
  bool ok = true;
  module.walk([&](ModuleOp variant) {
    auto name = variant->getAttrOfType<StringAttr>("attn.target");
    const TargetInfo *target = name ? lookupTarget(name.getValue()) : nullptr;
    if (target)
      ok &= succeeded(emit(variant, *target));
  });
  return success(ok);
}

/// Writes the text of each kernel under a line that names it.
static auto writeTo(llvm::raw_ostream &os) {
  return [&os](KernelOp kernel, const TargetInfo &target, StringRef text) {
    os << "// ---- " << getKernelSymbol(kernel, target) << " (" << target.name
       << ")";
    if (target.isSourceOnly())
      os << ": source only, never compiled or run here";
    if (kernel.isLoopKernel())
      os << ": plain loops, see --emit=host\n\n";
    else
      os << "\n" << text.rtrim('\0') << "\n";
    return success();
  };
}

LogicalResult attn::emitStmt(ModuleOp module, StringRef folder,
                             llvm::raw_ostream &os) {
  return forEachVariant(module, [&](ModuleOp variant,
                                    const TargetInfo &target) {
    KernelOptions options;
    options.stmt = true;
    return forEachFile(variant, target, folder, options, ".stmt", writeTo(os));
  });
}

LogicalResult attn::forEachDeviceCode(ModuleOp module, DeviceApi api,
                                      StringRef folder, UseCode use) {
  return forEachVariant(
      module, [&](ModuleOp variant, const TargetInfo &target) -> LogicalResult {
        if (target.api != api)
          return variant.emitError("expected a target of the interface whose "
                                   "code is asked for, got ")
                 << target.name;
        KernelOptions options;
        options.deviceCode = true;
        return forEachFile(variant, target, folder, options, ".device", use);
      });
}

LogicalResult attn::emitDeviceCode(ModuleOp module, DeviceApi api,
                                   StringRef folder, llvm::raw_ostream &os) {
  return forEachDeviceCode(module, api, folder, writeTo(os));
}
