//===- OutputFiles.cpp - files that are all written, or none --------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A file system replaces one file at a time, so the former ones are kept beside
// the new ones until the last is in place. Interruptions wait meanwhile.
//
//===----------------------------------------------------------------------===//

#include "attn/Support/OutputFiles.h"

#include "attn/Support/CleanUp.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

using namespace attn;
using llvm::Error;
using llvm::SmallString;
using llvm::StringRef;
namespace fs = llvm::sys::fs;

static Error cannotWrite(StringRef path, std::error_code error) {
  return llvm::createStringError(error, "cannot write '" + path +
                                            "': " + error.message());
}

OutputFiles::~OutputFiles() { discard(); }

void OutputFiles::discard() {
  for (File &file : files) {
    if (file.stream) {
      file.stream->close();
      file.stream->clear_error();
    }
    if (file.temporary.empty())
      continue;
    (void)fs::remove(file.temporary);
    CleanUpList().dropPath(file.temporary);
  }
  files.clear();
}

/// What a link points at, or the path itself.
static std::string followLink(StringRef path) {
  SmallString<128> target;
  if (fs::is_symlink_file(path) && !fs::real_path(path, target))
    return target.str().str();
  return path.str();
}

llvm::Expected<llvm::raw_fd_ostream *> OutputFiles::open(StringRef name) {
  File file;
  file.path = followLink(name);
  fs::file_status status;
  bool isThere = !fs::status(file.path, status);
  if (isThere && fs::is_directory(status))
    return cannotWrite(name, std::make_error_code(std::errc::is_a_directory));
  std::error_code error;
  if (isThere && !fs::is_regular_file(status)) {
    file.stream = std::make_unique<llvm::raw_fd_ostream>(file.path, error);
    if (error)
      return cannotWrite(name, error);
  } else {
    int descriptor;
    SmallString<128> temporary;
    CleanUpList list;
    error = fs::createUniqueFile(file.path + "-%%%%%%%%.tmp", descriptor,
                                 temporary);
    if (error)
      return cannotWrite(name, error);
    list.addPath(temporary);
    file.temporary = temporary.str().str();
    file.stream = std::make_unique<llvm::raw_fd_ostream>(descriptor,
                                                         /*shouldClose=*/true);
  }
  files.push_back(std::move(file));
  return files.back().stream.get();
}

Error OutputFiles::check() {
  Error error = Error::success();
  for (File &file : files) {
    if (!file.stream->has_error())
      continue;
    error = llvm::joinErrors(std::move(error),
                             cannotWrite(file.path, file.stream->error()));
    file.stream->clear_error();
  }
  return error;
}

/// Puts the file in place, and what was there under a second name.
static std::error_code replace(StringRef path, StringRef temporary,
                               std::string &former) {
  if (fs::is_directory(path))
    return std::make_error_code(std::errc::is_a_directory);
  if (fs::exists(path)) {
    SmallString<128> name;
    if (std::error_code error =
            fs::getPotentiallyUniqueFileName(path + "-%%%%%%%%.old", name))
      return error;
    // Where the file system has no links, nothing stands there for a moment.
    if (fs::create_hard_link(path, name))
      if (std::error_code error = fs::rename(path, name))
        return error;
    former = name.str().str();
  }
  return fs::rename(temporary, path);
}

/// Back to what there was before `replace`.
static void restore(StringRef path, StringRef former) {
  if (former.empty()) {
    (void)fs::remove(path);
    return;
  }
  (void)fs::rename(former, path);
  // Two names of one file are left as they are by a rename.
  (void)fs::remove(former);
}

Error OutputFiles::commit() {
  for (File &file : files)
    file.stream->close();
  if (Error error = check()) {
    discard();
    return error;
  }
  Error error = Error::success();
  {
    CleanUpList list;
    // What stood at the path of each file that was replaced, empty for nothing.
    std::vector<std::pair<StringRef, std::string>> replaced;
    for (const File &file : llvm::reverse(files)) {
      if (file.temporary.empty())
        continue;
      std::string former;
      std::error_code code = replace(file.path, file.temporary, former);
      if (!code || !former.empty())
        replaced.emplace_back(file.path, std::move(former));
      if (!code)
        continue;
      for (const auto &[path, old] : llvm::reverse(replaced))
        restore(path, old);
      replaced.clear();
      error = cannotWrite(file.path, code);
      break;
    }
    for (const auto &[path, former] : replaced)
      if (!former.empty())
        (void)fs::remove(former);
  }
  // After a success there is nothing left under the temporary names.
  discard();
  return error;
}
