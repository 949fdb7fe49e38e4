//===- CompiledModel.h - an object file, loaded and run --------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What runs here is the object that a user links, loaded by LLVM's JIT linker
// and driven through its C API (attn-c/model.h) like by any other caller.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_COMPILEDMODEL_H
#define ATTN_TOOLS_ATTN_RUN_COMPILEDMODEL_H

#include "Interface.h"
#include "attn-c/model.h"

#include <functional>
#include <memory>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace attn::run {

/// Memory that the model asked for through the hooks.
struct MemoryUse {
  uint64_t now = 0, peak = 0;
};

class CompiledModel {
public:
  /// Loads `objectPath` and reads what it says about itself.
  static llvm::Expected<std::unique_ptr<CompiledModel>>
  load(llvm::StringRef objectPath);
  ~CompiledModel();

  const Interface &interface() const { return description; }

  struct Options {
    int32_t threads = 1;
    /// The variant to use; the first that this CPU can run if empty.
    std::string target;
    /// Memory for the model comes from GuardedMemory.
    bool guard = false;
  };
  /// Loads the weights, from the file next to the object if there is one, and
  /// makes a context. Called once.
  llvm::Error open(const Options &options);

  /// What a model calls before and after each kernel if it was compiled for it
  /// (ObjectOptions::kernelHook), and who listens: one for the whole program.
  static constexpr llvm::StringLiteral kernelHook = "attnrun_kernel_hook";
  static std::function<void(const char *kernel, bool isDone)> kernelListener;

  /// Runs the model once. Strides are a pointer a tensor, or none at all, and
  /// null for a dense one. Does nothing else, so that it can be timed.
  llvm::Error run(llvm::ArrayRef<int64_t> dims,
                  llvm::ArrayRef<const void *> inputs,
                  llvm::ArrayRef<void *> outputs,
                  llvm::ArrayRef<const int64_t *> inputStrides = {},
                  llvm::ArrayRef<const int64_t *> outputStrides = {});

  /// Bytes of workspace of such a run.
  llvm::Expected<int64_t> workspaceBytes(llvm::ArrayRef<int64_t> dims);

  /// The variant that was chosen.
  llvm::StringRef target() const;

  /// What the model allocated since it was opened.
  const MemoryUse &memory() const;

  /// An error if the model wrote around the memory that it asked for.
  llvm::Error checkMemory() const;

private:
  CompiledModel();

  template <typename Function> llvm::Error lookup(const char *name, Function &);

  struct Hooks;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::unique_ptr<Hooks> hooks;
  std::string objectPath, prefix;
  Interface description;
  attn_model *model = nullptr;
  attn_ctx *context = nullptr;

  attn_load_fn loadMemory = nullptr;
  attn_load_file_fn loadFile = nullptr;
  attn_unload_fn unload = nullptr;
  attn_create_fn createContext = nullptr;
  attn_destroy_fn destroyContext = nullptr;
  attn_run_generic_fn runGeneric = nullptr;
  attn_workspace_size_generic_fn workspaceSize = nullptr;
  attn_last_error_fn lastError = nullptr;
  attn_status_string_fn statusString = nullptr;
  attn_target_fn targetName = nullptr;
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_COMPILEDMODEL_H
