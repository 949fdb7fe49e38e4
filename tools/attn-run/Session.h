//===- Session.h - progress, clean-up, interruption ------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Compiling a model takes seconds to minutes. On a terminal the tool says what
// it does and for how long; Ctrl-C ends it at once and leaves no files behind.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_SESSION_H
#define ATTN_TOOLS_ATTN_RUN_SESSION_H

#include "llvm/Support/Error.h"

#include <string>

namespace attn::run {

/// Says `what` and the seconds so far on standard error while it lives, if
/// that is a terminal and it lives for more than a second.
class Progress {
public:
  explicit Progress(const llvm::Twine &what);
  ~Progress();

private:
  struct Impl;
  Impl *impl = nullptr;
};

/// A new folder that goes with this object, and on Ctrl-C. It becomes the place
/// of temporary files (TMPDIR). One in a process.
class TemporaryFolder {
public:
  static llvm::Expected<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder &&other) : path(std::move(other.path)) {
    other.path.clear();
  }
  ~TemporaryFolder();
  llvm::StringRef str() const { return path; }

private:
  TemporaryFolder() = default;
  std::string path;
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_SESSION_H
