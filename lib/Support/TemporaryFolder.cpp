//===- TemporaryFolder.cpp - folders that go with their owner -------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "attn/Support/TemporaryFolder.h"

#include "attn/Support/CleanUp.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include <cstdlib>

using namespace attn;

std::error_code TemporaryFolder::create(llvm::StringRef prefix) {
  llvm::SmallString<128> path;
  CleanUpList list;
  if (std::error_code error =
          llvm::sys::fs::createUniqueDirectory(prefix, path))
    return error;
  list.addPath(path);
  folder = path.str().str();
  return {};
}

TemporaryFolder::~TemporaryFolder() {
  if (folder.empty())
    return;
  (void)llvm::sys::fs::remove_directories(folder);
  CleanUpList().dropPath(folder);
}

std::error_code ScratchFolder::create(llvm::StringRef prefix) {
  if (std::error_code error = folder.create(prefix))
    return error;
  if (const char *value = std::getenv("TMPDIR"))
    before = value;
  ::setenv("TMPDIR", path().c_str(), /*overwrite=*/1);
  return {};
}

ScratchFolder::~ScratchFolder() {
  if (path().empty())
    return;
  if (before)
    ::setenv("TMPDIR", before->c_str(), /*overwrite=*/1);
  else
    ::unsetenv("TMPDIR");
}
