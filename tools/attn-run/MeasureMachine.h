//===- MeasureMachine.h - what one core can do at most ---------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_MEASUREMACHINE_H
#define ATTN_TOOLS_ATTN_RUN_MEASUREMACHINE_H

#include "attn/Analysis/TargetInfo.h"

namespace attn::run {

/// Measures the multiply-adds of independent sums in the target's vectors, and
/// the reading of memory. One thread, about a second; what counts is the
/// thread's own time and the best of several rounds, so that other work on the
/// machine matters little. The CPU must be able to run the target.
Machine measureMachine(const TargetInfo &target);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_MEASUREMACHINE_H
