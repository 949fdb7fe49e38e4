//===- OutputFiles.h - files that are all written, or none -----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_SUPPORT_OUTPUTFILES_H
#define ATTN_SUPPORT_OUTPUTFILES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <string>
#include <vector>

namespace attn {

/// Files that belong together. Each is written under a temporary name beside
/// its own one and takes its place when all are complete. Without that, after
/// any failure and after an interruption (CleanUp.h) everything is as it was
/// before. A link is followed; a device is written as it is.
class OutputFiles {
public:
  OutputFiles() = default;
  OutputFiles(const OutputFiles &) = delete;
  OutputFiles &operator=(const OutputFiles &) = delete;
  ~OutputFiles();

  /// Opens a file that becomes `path`. Writing to the stream may fail without a
  /// word until check or commit.
  llvm::Expected<llvm::raw_fd_ostream *> open(llvm::StringRef path);

  /// What writing has failed on so far: a full disk, for example.
  llvm::Error check();

  /// Closes all files and puts them in place. The one that was opened first
  /// comes last, so that its time tells a build that all are there.
  llvm::Error commit();

private:
  struct File {
    std::string path;
    /// Where it is written; empty for a device.
    std::string temporary;
    std::unique_ptr<llvm::raw_fd_ostream> stream;
  };
  void discard();

  std::vector<File> files;
};

} // namespace attn

#endif // ATTN_SUPPORT_OUTPUTFILES_H
