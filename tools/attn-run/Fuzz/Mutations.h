//===- Mutations.h - deliberate faults -------------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The fuzzer's own test: faults that attention kernels have had, each a small
// rewrite of the IR of some level on the way to the object. The oracle sees the
// graph before that.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_FUZZ_MUTATIONS_H
#define ATTN_TOOLS_ATTN_RUN_FUZZ_MUTATIONS_H

#include "Fuzz/Kernel.h"
#include "attn/Pipelines/Driver.h"

namespace attn::run::fuzz {

struct Mutation {
  llvm::StringLiteral name;
  /// What goes wrong.
  llvm::StringLiteral fault;
  /// The level whose IR is rewritten.
  Emit level;
  /// Whether such a kernel can show the fault.
  bool (*fits)(const Kernel &kernel);
  /// Returns whether there was something to change.
  bool (*apply)(mlir::ModuleOp module);
};

/// All of them.
llvm::ArrayRef<Mutation> mutations();

/// The one of that name, or null.
const Mutation *lookupMutation(llvm::StringRef name);

/// Applies one mutation on the way through the compiler.
class Mutator {
public:
  explicit Mutator(llvm::StringRef name) : mutation(lookupMutation(name)) {}

  void run(mlir::ModuleOp module, Emit level) {
    if (mutation && mutation->level == level)
      changed |= mutation->apply(module);
  }
  bool hasChanged() const { return changed; }

private:
  const Mutation *mutation;
  bool changed = false;
};

} // namespace attn::run::fuzz

#endif // ATTN_TOOLS_ATTN_RUN_FUZZ_MUTATIONS_H
