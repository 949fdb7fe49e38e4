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

/// The files with this ending that compiling the kernels of a variant leaves,
/// each under a line that names the kernel.
static LogicalResult emitFiles(ModuleOp variant, const TargetInfo &target,
                               StringRef folder, const KernelOptions &options,
                               StringRef ending, llvm::raw_ostream &os) {
  if (failed(compileKernels(variant, target, folder, options)))
    return failure();
  for (auto kernel : variant.getOps<KernelOp>()) {
    std::string symbol = getKernelSymbol(kernel, target);
    if (kernel.isLoopKernel()) {
      os << "// ---- " << symbol << " (" << target.name
         << "): plain loops, see --emit=host\n\n";
      continue;
    }
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, symbol + ending);
    llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> text =
        llvm::MemoryBuffer::getFile(path);
    if (!text)
      return kernel.emitOpError()
             << "cannot read '" << path << "': " << text.getError().message();
    os << "// ---- " << symbol << " (" << target.name << ")\n"
       << (*text)->getBuffer().rtrim('\0') << "\n";
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

LogicalResult attn::emitStmt(ModuleOp module, StringRef folder,
                             llvm::raw_ostream &os) {
  return forEachVariant(
      module, [&](ModuleOp variant, const TargetInfo &target) {
        KernelOptions options;
        options.stmt = true;
        return emitFiles(variant, target, folder, options, ".stmt", os);
      });
}

LogicalResult attn::emitDeviceCode(ModuleOp module, DeviceApi api,
                                   StringRef folder, llvm::raw_ostream &os) {
  return forEachVariant(
      module, [&](ModuleOp variant, const TargetInfo &target) -> LogicalResult {
        if (target.api != api)
          return variant.emitError("expected a target of the interface whose "
                                   "code is asked for, got ")
                 << target.name;
        KernelOptions options;
        options.deviceCode = true;
        return emitFiles(variant, target, folder, options, ".device", os);
      });
}
