//===- Shrink.h - the smallest kernel that fails ---------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_FUZZ_SHRINK_H
#define ATTN_TOOLS_ATTN_RUN_FUZZ_SHRINK_H

#include "Fuzz/Worker.h"

namespace attn::run::fuzz {

/// Takes parts from a kernel as long as it fails in the same way. `options`
/// holds the seed; it becomes what runs the smallest one, `outcome` how that
/// fails. Ends early when `isStopped` says so.
void shrink(FuzzOptions &options, Outcome &outcome, Worker &worker,
            llvm::function_ref<bool()> isStopped);

/// Writes the files of a failure into `options.folder` and prints one message.
void report(const FuzzOptions &options, const Outcome &outcome, Worker &worker,
            llvm::function_ref<bool()> isStopped);

} // namespace attn::run::fuzz

#endif // ATTN_TOOLS_ATTN_RUN_FUZZ_SHRINK_H
