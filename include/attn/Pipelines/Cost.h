//===- Cost.h - what each kernel call costs --------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Operations, bytes, scratch and predicted time of the kernel calls of a model,
// as formulas of the dims and as numbers for given dims. docs/Cost.md says what
// is counted.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_PIPELINES_COST_H
#define ATTN_PIPELINES_COST_H

#include "attn/Analysis/CostModel.h"
#include "attn/Analysis/TargetInfo.h"
#include "attn/Analysis/VisiblePairs.h"

namespace attn {

/// A line of the report: calls of one kernel that cost the same.
struct CostLine {
  std::string kernel;
  int64_t calls = 0;
  /// Of one call. A formula is none where the count is not one of dims.
  std::optional<SizePolynomial> flops, bytes;
  /// For the values of dims.
  std::optional<double> flopCount, byteCount, scratchBytes, seconds;
  /// Of an attention: its sizes, and the pairs that it works on.
  std::optional<AttentionCost> attention;
  std::optional<VisiblePairs> pairs;
};

struct CostReport {
  std::string model;
  const TargetInfo *target = nullptr;
  Machine machine;
  /// The values that numbers are for, in the order of the dims; a dim without
  /// one has no limit and was not given.
  struct Dim {
    std::string name;
    std::optional<int64_t> value;
    /// Whether it is the end of the dim's range, for want of another.
    bool isLimit = false;
  };
  std::vector<Dim> dims;
  std::vector<CostLine> lines;
};

/// Counts a module of the fused level whose masks were analyzed. `given` are
/// values of dims that the user chose. An error is a diagnostic: a value that
/// no dim has, or a module without kernels or with kernels of a lower level.
mlir::FailureOr<CostReport>
computeCostReport(mlir::ModuleOp module, const TargetInfo &target,
                  const Machine &machine,
                  const llvm::StringMap<int64_t> &given);

} // namespace attn

#endif // ATTN_PIPELINES_COST_H
