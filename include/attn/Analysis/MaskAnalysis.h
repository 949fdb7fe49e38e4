//===- MaskAnalysis.h - the keys that a tile of queries sees ----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Turns the mask region of an attn.attention, whatever it computes, into loop
// bounds: which keys a tile of queries may see, and which it sees as a whole,
// so that the rest is skipped and whole tiles need no mask.
// docs/MaskAnalysis.md explains the method.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_MASKANALYSIS_H
#define ATTN_ANALYSIS_MASKANALYSIS_H

#include "attn/Dialect/IR/Attn.h"

namespace attn {

/// What the analysis found out about a mask.
struct MaskSummary {
  /// Null only where there is no mask region.
  KeyRangesAttr ranges;
  /// Comparisons that are affine in i and j, and terms that are not understood.
  unsigned affineAtoms = 0, opaqueAtoms = 0;
  /// Whether the tiles that are left hold more than visible pairs although all
  /// comparisons are understood: there were too many of them.
  bool tooLarge = false;
};

/// Analyzes the mask region of `op`.
MaskSummary analyzeMask(AttentionOp op);

/// The symbols past N and M of the ranges that `analyzeMask` finds: values of
/// the mask region, block arguments or results, that depend neither on i nor on
/// j.
llvm::SmallVector<mlir::Value> getMaskLeaves(AttentionOp op);

} // namespace attn

#endif // ATTN_ANALYSIS_MASKANALYSIS_H
