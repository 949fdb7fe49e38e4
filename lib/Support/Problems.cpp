//===- Problems.cpp - collects all problems of an input -------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One llvm::StringError a message, joined; `forEachProblem` takes them apart
// again.
//
//===----------------------------------------------------------------------===//

#include "attn/Support/Problems.h"

using namespace llvm;

namespace attn {

void forEachProblem(Error error, function_ref<void(StringRef)> fn) {
  handleAllErrors(std::move(error),
                  [&](const ErrorInfoBase &info) { fn(info.message()); });
}

void Problems::add(Error error) {
  forEachProblem(std::move(error), [&](StringRef message) {
    if (messages.size() < maxMessages)
      messages.push_back(message.str());
    else
      ++dropped;
  });
}

Error Problems::take() {
  if (dropped)
    messages.push_back(
        (Twine(prefix) + "and " + Twine(dropped) + " more problems").str());
  Error result = Error::success();
  for (const std::string &message : messages)
    result = joinErrors(std::move(result),
                        createStringError(inconvertibleErrorCode(), message));
  messages.clear();
  dropped = 0;
  return result;
}

} // namespace attn
