//===- ChildProcess.h - this program, once more ----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Work that may crash or not come back is done by a child process whose output
// goes to a file.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_CHILDPROCESS_H
#define ATTN_TOOLS_ATTN_RUN_CHILDPROCESS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Program.h"

#include <chrono>
#include <string>
#include <vector>

namespace attn::run {

class ChildProcess {
public:
  /// Runs `args`, the first of which is the program. Both outputs go to `log`.
  void start(llvm::ArrayRef<std::string> args, const std::string &log,
             unsigned timeLimitSeconds);

  /// True when it has ended, or could not start. Stops it when it is late.
  bool poll();

  /// Asks it to end, which it does after it has cleaned up.
  void terminate();

  /// Whether it ended with status 0.
  bool hasPassed() const { return isStarted && status == 0; }
  bool hasCrashed() const { return isStarted && status < 0; }
  /// Why it did not run to its end, in words; empty if it did.
  const std::string &problem() const { return text; }

private:
  llvm::sys::ProcessInfo process;
  std::chrono::steady_clock::time_point deadline;
  unsigned limit = 0;
  bool isStarted = false, isLate = false;
  int status = 0;
  std::string text;
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_CHILDPROCESS_H
