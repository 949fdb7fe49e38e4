//===- ObjectLinker.h - parts of an object become one module ----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HOST_OBJECTLINKER_H
#define ATTN_LIB_TARGET_HOST_OBJECTLINKER_H

#include "ObjectModule.h"
#include "Variants.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace attn {

/// Merges modules into `object.module`, which is the first that is added. To be
/// called in the order of the methods. Errors are at `top`.
class ObjectLinker {
public:
  ObjectLinker(mlir::ModuleOp top, ObjectModule &object)
      : top(top), object(object) {}

  /// Adds a module of the object's context.
  llvm::LogicalResult add(std::unique_ptr<llvm::Module> module);
  /// Adds the kernels of a variant from `folder`.
  llvm::LogicalResult addKernels(Variant variant, llvm::StringRef folder);
  /// Adds our run-time, for the variants' architecture.
  llvm::LogicalResult addRuntime(llvm::StringRef triple);
  /// Adds what is still undefined of Halide's run-time, which is written to
  /// `folder` first.
  llvm::LogicalResult addHalideRuntime(llvm::ArrayRef<Variant> variants,
                                       llvm::StringRef folder);
  /// Gives the C API its names, makes the rest internal and drops what is dead.
  llvm::LogicalResult finish();

private:
  /// Reads bitcode and adapts it to the object's target.
  mlir::FailureOr<std::unique_ptr<llvm::Module>>
  read(llvm::MemoryBufferRef buffer);
  mlir::FailureOr<std::unique_ptr<llvm::Module>> readFile(llvm::StringRef path);
  llvm::LogicalResult link(std::unique_ptr<llvm::Module> module,
                           unsigned flags);
  /// Drops what of our run-time none of the variants needs.
  void dropUnusedRuntime(llvm::ArrayRef<Variant> variants);

  mlir::ModuleOp top;
  ObjectModule &object;
  std::unique_ptr<llvm::Linker> linker;
};

} // namespace attn

#endif // ATTN_LIB_TARGET_HOST_OBJECTLINKER_H
