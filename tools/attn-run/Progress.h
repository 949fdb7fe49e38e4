//===- Progress.h - says what takes long -----------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Compiling a model takes seconds to minutes. On a terminal the tool says what
// it does and for how long.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_PROGRESS_H
#define ATTN_TOOLS_ATTN_RUN_PROGRESS_H

#include "llvm/ADT/Twine.h"

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

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_PROGRESS_H
