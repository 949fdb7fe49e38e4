//===- TemporaryFolder.h - folders that go with their owner ----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_SUPPORT_TEMPORARYFOLDER_H
#define ATTN_SUPPORT_TEMPORARYFOLDER_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <system_error>

namespace attn {

/// A new folder in the system's folder of temporary files. It is removed with
/// all that is in it when this object is, and when the process is interrupted
/// (CleanUp.h).
class TemporaryFolder {
public:
  TemporaryFolder() = default;
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder();

  /// Makes the folder, whose name starts with `prefix`; once. Fails where the
  /// system's folder cannot be written to.
  std::error_code create(llvm::StringRef prefix);
  /// Empty before it was made.
  const std::string &path() const { return folder; }

private:
  std::string folder;
};

/// One that everything in this process and in its children takes for the
/// system's folder of temporary files as long as it lives: what other libraries
/// and stopped children leave there goes too. At most one at a time.
class ScratchFolder {
public:
  ScratchFolder() = default;
  ScratchFolder(const ScratchFolder &) = delete;
  ScratchFolder &operator=(const ScratchFolder &) = delete;
  ~ScratchFolder();

  std::error_code create(llvm::StringRef prefix);
  const std::string &path() const { return folder.path(); }

private:
  TemporaryFolder folder;
  /// What TMPDIR was.
  std::optional<std::string> before;
};

} // namespace attn

#endif // ATTN_SUPPORT_TEMPORARYFOLDER_H
