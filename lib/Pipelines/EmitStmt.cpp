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

/// The loop nests of one variant.
static LogicalResult emitVariant(ModuleOp variant, const TargetInfo &target,
                                 StringRef folder, llvm::raw_ostream &os) {
  KernelOptions options;
  options.stmt = true;
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
    llvm::sys::path::append(path, symbol + ".stmt");
    llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> text =
        llvm::MemoryBuffer::getFile(path);
    if (!text)
      return kernel.emitOpError()
             << "cannot read '" << path << "': " << text.getError().message();
    os << "// ---- " << symbol << " (" << target.name << ")\n"
       << (*text)->getBuffer() << "\n";
  }
  return success();
}

LogicalResult attn::emitStmt(ModuleOp module, StringRef folder,
                             llvm::raw_ostream &os) {
  bool ok = true;
  module.walk([&](ModuleOp variant) {
    auto name = variant->getAttrOfType<StringAttr>("attn.target");
    const TargetInfo *target = name ? lookupTarget(name.getValue()) : nullptr;
    if (target)
      ok &= succeeded(emitVariant(variant, *target, folder, os));
  });
  return success(ok);
}
