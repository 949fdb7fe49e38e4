//===- Scratch.h - a folder for temporary files ----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_PIPELINES_SCRATCH_H
#define ATTN_LIB_PIPELINES_SCRATCH_H

#include <string>
#include <system_error>

namespace attn {

/// A new folder that everything in this process and in its children takes for
/// the system's folder of temporary files. It is removed with all that is in it
/// at the end, also if the process is interrupted or terminated: a compiler
/// that is stopped half-way leaves nothing behind. At most one at a time.
class Scratch {
public:
  /// Fails where the system's folder cannot be written to.
  std::error_code create();
  ~Scratch();
  const std::string &path() const { return folder; }

private:
  std::string folder, before;
  bool hadBefore = false;
};

} // namespace attn

#endif // ATTN_LIB_PIPELINES_SCRATCH_H
