//===- Progress.cpp - says what a long compilation is doing ----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Progress.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace attn;

Progress::Progress(bool isWanted)
    : isShown(isWanted && llvm::sys::Process::StandardErrIsDisplayed()) {}

Progress::~Progress() { clear(); }

void Progress::step(const llvm::Twine &text) {
  if (!isShown)
    return;
  clear();
  llvm::errs() << text << " ...";
  hasLine = true;
}

void Progress::clear() {
  if (!hasLine)
    return;
  llvm::errs() << "\r\033[K"; // To the start of the line; erase it.
  hasLine = false;
}
