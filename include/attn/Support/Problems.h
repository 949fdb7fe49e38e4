//===- Problems.h - collects all problems of an input ----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A reader of untrusted files adds what is wrong and goes on, so that a user
// sees every problem at once. The outcome is one llvm::Error that holds one
// message a problem.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_SUPPORT_PROBLEMS_H
#define ATTN_SUPPORT_PROBLEMS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace attn {

/// Messages in the order in which they were found.
class Problems {
public:
  /// `prefix` starts every message; usually `file: `.
  explicit Problems(const llvm::Twine &prefix = "") : prefix(prefix.str()) {}

  void add(const llvm::Twine &message) {
    // A hostile file could have millions of problems; nobody reads those.
    if (messages.size() < maxMessages)
      messages.push_back(prefix + message.str());
    else
      ++dropped;
  }

  /// Takes over the messages of `error`, without this object's prefix.
  void add(llvm::Error error);

  bool empty() const { return messages.empty(); }

  /// All problems as one error, success when there are none. Empties this.
  llvm::Error take();

private:
  static constexpr size_t maxMessages = 1000;
  std::string prefix;
  llvm::SmallVector<std::string> messages;
  uint64_t dropped = 0;
};

/// Calls `fn` with the text of each problem that `error` holds.
void forEachProblem(llvm::Error error,
                    llvm::function_ref<void(llvm::StringRef)> fn);

} // namespace attn

#endif // ATTN_SUPPORT_PROBLEMS_H
