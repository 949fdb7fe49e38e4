//===- Worker.h - what became of a kernel ----------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A child process that runs one kernel, and the reading of what it said.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_FUZZ_WORKER_H
#define ATTN_TOOLS_ATTN_RUN_FUZZ_WORKER_H

#include "ChildProcess.h"
#include "Fuzz/Fuzz.h"

namespace attn::run::fuzz {

/// How a kernel fails.
enum class Failure {
  None,
  Wrong,   // A number, a NaN or an infinity.
  Access,  // Outside of a buffer, or an error of the run.
  Compile, // It does not compile.
  Crash,   // The process ended by a signal.
  Late,    // It took too long.
  Fuzzer,  // The fuzzer itself: no disk space, a graph that cannot be read.
};

struct Outcome {
  Failure failure = Failure::None;
  /// One line.
  std::string what;
  /// More lines, such as diagnostics.
  std::vector<std::string> notes;
  /// Sets that were started, the last one, and what it and the kernel were.
  uint64_t sets = 0;
  int64_t lastSet = -1;
  std::string kernel, set;
  /// For attn-run --tolerance, where that shows the failure.
  std::string tolerance;
};

class Worker {
public:
  Worker(llvm::StringRef executable, std::string log)
      : executable(executable), log(std::move(log)) {}

  /// Starts a process for the kernel of `options.seed`.
  void start(const FuzzOptions &options, llvm::StringRef prefix = "");
  /// True when it has ended.
  bool poll() { return process.poll(); }
  void terminate() { process.terminate(); }
  /// After it has ended.
  Outcome outcome() const;

  /// start and poll until it ends; `isStopped` is asked in between.
  Outcome run(const FuzzOptions &options, llvm::StringRef prefix,
              llvm::function_ref<bool()> isStopped);

  /// Of the kernel that was started last.
  uint64_t seed = 0;

private:
  llvm::StringRef executable;
  std::string log;
  ChildProcess process;
};

/// The words of a command that runs the kernel of `options`.
std::vector<std::string> commandOf(const FuzzOptions &options);

} // namespace attn::run::fuzz

#endif // ATTN_TOOLS_ATTN_RUN_FUZZ_WORKER_H
