//===- AttentionSizes.h - how long attention's sequences are ---*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_ATTENTIONSIZES_H
#define ATTN_ANALYSIS_ATTENTIONSIZES_H

#include "attn/Analysis/ScheduleModel.h"
#include "attn/Analysis/SizePolynomial.h"
#include "attn/Dialect/IR/Attn.h"

namespace attn {

/// What its tiles are chosen by.
AttentionShape getAttentionShape(AttentionOp op);

/// The blocks of a linear layer on the target's matrix unit, or nothing where
/// it does not go there.
std::optional<MatrixBlocks> getMatrixBlocks(FusedLinearOp op,
                                            const TargetInfo &target);

/// The attn.attention of a kernel.
struct AttentionUse {
  KernelOp kernel;
  AttentionOp op;
  /// Calls of the kernel in the module's entry, and the numbers of queries and
  /// keys of the first one; none where they are not known.
  int64_t calls = 0;
  std::optional<SizePolynomial> queries, keys;
};

/// All attentions in kernels of a module of the fused level, in their order.
std::vector<AttentionUse> findAttentions(mlir::ModuleOp module);

} // namespace attn

#endif // ATTN_ANALYSIS_ATTENTIONSIZES_H
