//===- Scratch.cpp - a folder for temporary files --------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Scratch.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include <csignal>
#include <cstdlib>
#include <unistd.h>

using namespace attn;

/// The folder that a signal has to remove, empty if there is none. A plain
/// array: it is read while the process may be anywhere.
static char interruptedFolder[4096];

/// Removes the folder and ends the process the way the signal would have.
static void removeAndEnd(int signal) {
  if (interruptedFolder[0])
    (void)llvm::sys::fs::remove_directories(interruptedFolder);
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

std::error_code Scratch::create() {
  llvm::SmallString<128> path;
  if (std::error_code error =
          llvm::sys::fs::createUniqueDirectory("attn-opt", path))
    return error;
  folder = path.str().str();
  if (folder.size() < sizeof(interruptedFolder)) {
    folder.copy(interruptedFolder, folder.size());
    interruptedFolder[folder.size()] = '\0';
    for (int signal : {SIGINT, SIGTERM, SIGHUP})
      std::signal(signal, removeAndEnd);
  }
  if (const char *value = std::getenv("TMPDIR")) {
    before = value;
    hadBefore = true;
  }
  ::setenv("TMPDIR", folder.c_str(), /*overwrite=*/1);
  return {};
}

Scratch::~Scratch() {
  if (folder.empty())
    return;
  if (hadBefore)
    ::setenv("TMPDIR", before.c_str(), /*overwrite=*/1);
  else
    ::unsetenv("TMPDIR");
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    std::signal(signal, SIG_DFL);
  interruptedFolder[0] = '\0';
  (void)llvm::sys::fs::remove_directories(folder);
}
