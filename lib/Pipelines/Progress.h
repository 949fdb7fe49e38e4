//===- Progress.h - says what a long compilation is doing ------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_PIPELINES_PROGRESS_H
#define ATTN_LIB_PIPELINES_PROGRESS_H

#include "llvm/ADT/Twine.h"

namespace attn {

/// One line on the terminal that is written over at each step and gone at the
/// end. Where it is not wanted or the standard error is no terminal, nothing is
/// written.
class Progress {
public:
  explicit Progress(bool isWanted);
  ~Progress();
  void step(const llvm::Twine &text);
  /// Removes the line, so that a message can be printed.
  void clear();

private:
  bool isShown;
  bool hasLine = false;
};

} // namespace attn

#endif // ATTN_LIB_PIPELINES_PROGRESS_H
