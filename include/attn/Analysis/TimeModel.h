//===- TimeModel.h - how long a kernel should take -------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The cycles of the register tiles that the schedules choose, padding included,
// and of what is element-wise, and the time that the memory takes. One thread.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_TIMEMODEL_H
#define ATTN_ANALYSIS_TIMEMODEL_H

#include "attn/Analysis/CostModel.h"
#include "attn/Analysis/TargetInfo.h"

namespace attn {

/// Where a kernel runs.
struct TimeModel {
  const TargetInfo &target;
  Machine machine;
  /// Values of all dims.
  const llvm::StringMap<int64_t> &dims;

  /// Seconds of one call; none if a size is not known or something in the
  /// kernel has no known cost.
  std::optional<double> seconds(const CallCost &call) const;
  /// Bytes of memory that a thread uses beside the tensors, the most that is
  /// alive at a time. Registers do not count, nor what is smaller than a row of
  /// a tile (single sums).
  std::optional<double> scratchBytes(const CallCost &call) const;
};

} // namespace attn

#endif // ATTN_ANALYSIS_TIMEMODEL_H
