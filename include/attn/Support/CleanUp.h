//===- CleanUp.h - what an ended process must not leave behind -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Temporary files and folders have owners that remove them, and processes have
// one that waits for them. An owner lists what it owns here too, for when it
// does not come to that: an interruption, a call of exit(), a crash.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_SUPPORT_CLEANUP_H
#define ATTN_SUPPORT_CLEANUP_H

#include "llvm/ADT/StringRef.h"

namespace attn {

/// Lets SIGINT, SIGTERM, SIGHUP and SIGPIPE stop the listed processes and
/// remove the listed paths before they end this one, silently and with the
/// status that they would have without. A signal that is ignored (nohup) stays
/// ignored. A crash and a call of exit() do the same; a file that grows beyond
/// a limit of the system is from now on an error of that file and no crash.
///
/// To be called in main() before llvm::InitLLVM: the handlers which that
/// installs remove LLVM's own files and then hand on to the ones from here.
void cleanUpOnInterruption();

/// The list. While one of these lives, interruptions wait: for steps that must
/// happen together, such as making a file and listing it, or replacing several.
/// Short ones; and not one inside another.
class [[nodiscard]] CleanUpList {
public:
  CleanUpList();
  ~CleanUpList();
  CleanUpList(const CleanUpList &) = delete;
  CleanUpList &operator=(const CleanUpList &) = delete;

  /// Files, and folders with all that is in them.
  void addPath(llvm::StringRef path);
  void dropPath(llvm::StringRef path);

  /// Child processes. One that was waited for must be dropped in the same step:
  /// the system may give its number to another.
  void addProcess(int number);
  void dropProcess(int number);
};

} // namespace attn

#endif // ATTN_SUPPORT_CLEANUP_H
