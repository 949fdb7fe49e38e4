//===- ChildProcess.cpp - this program, once more -------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See ChildProcess.h.
//
//===----------------------------------------------------------------------===//

#include "ChildProcess.h"

#include "attn/Support/CleanUp.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"

#include <csignal>

using namespace llvm;
using Clock = std::chrono::steady_clock;

namespace attn::run {

void ChildProcess::start(ArrayRef<std::string> args, const std::string &log,
                         unsigned timeLimitSeconds) {
  SmallVector<StringRef> refs(args.begin(), args.end());
  bool failedToStart = false;
  std::string why;
  // An old log would be written over and not emptied.
  sys::fs::remove(log);
  CleanUpList list;
  process = sys::ExecuteNoWait(args.front(), refs, std::nullopt,
                               {StringRef(""), StringRef(log), StringRef(log)},
                               /*MemoryLimit=*/0, &why, &failedToStart);
  isStarted = !failedToStart;
  if (isStarted)
    list.addProcess(process.Pid);
  else
    text = "cannot start a process: " + why;
  limit = timeLimitSeconds;
  deadline = Clock::now() + std::chrono::seconds(limit);
}

bool ChildProcess::poll() {
  if (!isStarted)
    return true;
  if (!isLate && Clock::now() > deadline) {
    isLate = true;
    ::kill(process.Pid, SIGKILL);
  }
  std::string why;
  {
    CleanUpList list;
    sys::ProcessInfo ended = sys::Wait(process, 0, &why);
    if (ended.Pid == 0)
      return false;
    list.dropProcess(process.Pid);
    status = ended.ReturnCode;
  }
  if (isLate)
    text = "stopped after " + std::to_string(limit) + " s";
  else if (status != 0)
    text = why;
  return true;
}

void ChildProcess::terminate() {
  if (isStarted)
    ::kill(process.Pid, SIGTERM);
}

} // namespace attn::run
