//===- Fuzz.h - random attentions, against the definition ------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Kernels are compiled and run one a process, so that a crash or an endless
// loop is a failure of that kernel. See docs/Fuzzing.md.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_FUZZ_FUZZ_H
#define ATTN_TOOLS_ATTN_RUN_FUZZ_FUZZ_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace attn::run {

struct FuzzOptions {
  uint64_t kernels = 0;
  /// That of the first kernel; each kernel has the next one.
  uint64_t seed = 1;
  uint64_t sets = 15;
  /// No kernel is started after this time, if it is not 0.
  double seconds = 0;
  /// Where failures are written.
  std::string folder = ".";
  std::string target;
  /// By plain loops instead of Halide.
  bool loops = false;
  /// What to do with each kernel before it is compiled and with its sets, see
  /// Reductions.h.
  std::vector<std::string> reductions;
  /// Only set number `set`, if that is not negative.
  int64_t set = -1;
  /// A fault to build into each kernel, see Mutations.h.
  std::string mutation;
  /// Find every such fault.
  bool selfTest = false;
};

namespace fuzz {

/// An error for targets, words and mutations that do not exist, and for a
/// folder that cannot be written to.
llvm::Error checkFuzzOptions(const FuzzOptions &options);

/// Compiles and runs one kernel in this process, that of `options.seed`. Prints
/// lines that Worker understands on the standard output. With a prefix,
/// writes PREFIX.mlir, and PREFIX.npz with the inputs and exact outputs of the
/// last set that was started. Returns the exit status.
int runKernel(const FuzzOptions &options, llvm::StringRef prefix);

} // namespace fuzz

/// Runs `options.kernels` kernels, two at a time, shrinks and reports failures,
/// and prints `N kernels, M sets, F failures`. Returns the exit status: 0 if
/// there were none.
int runFuzzer(const FuzzOptions &options, llvm::StringRef executable);

/// Builds each fault of Mutations.h into kernels and looks whether it is found.
int runFuzzSelfTest(const FuzzOptions &options, llvm::StringRef executable);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_FUZZ_FUZZ_H
