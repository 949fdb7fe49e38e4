//===- Tuning.h - tile sizes, measured or by formula -----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What a kernel gets: what `attn.tuning` of its module says, which was
// measured, and otherwise what the formulas of ScheduleModel.h choose. And what
// is worth measuring.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_TUNING_H
#define ATTN_ANALYSIS_TUNING_H

#include "attn/Analysis/ScheduleModel.h"
#include "attn/Dialect/IR/Attn.h"

#include <vector>

namespace attn {

/// The tiles of an attention.
AttentionTiles getAttentionTiles(AttentionOp op, const TargetInfo &target);

/// The blocks of a linear layer with K = `inputs` and N = `outputs`; `op` is
/// the layer, or something else in its module.
LinearBlocks getLinearBlocks(mlir::Operation *op, const TargetInfo &target,
                             int64_t inputs, int64_t outputs);

/// The register tiles for score tiles that stand in the IR: those of a tuned
/// attention with just such tiles, otherwise those of `tiles`.
AttentionTiles getTunedUnroll(mlir::Operation *op, const TargetInfo &target,
                              const AttentionShape &shape,
                              AttentionTiles tiles);

/// Tiles of an attention that differ from `tiles` in the register tile, or in
/// the number of keys: what fits registers and caches, `tiles` first.
std::vector<AttentionTiles> registerTilesToTry(const TargetInfo &target,
                                               const AttentionShape &shape,
                                               const AttentionTiles &tiles);
std::vector<AttentionTiles> keyTilesToTry(const TargetInfo &target,
                                          const AttentionShape &shape,
                                          const AttentionTiles &tiles);

/// The same for blocks of a linear layer: register tiles, and cache blocks.
std::vector<LinearBlocks> registerTilesToTry(const TargetInfo &target,
                                             const LinearBlocks &blocks);
std::vector<LinearBlocks> cacheBlocksToTry(const TargetInfo &target,
                                           int64_t inputs,
                                           const LinearBlocks &blocks);

} // namespace attn

#endif // ATTN_ANALYSIS_TUNING_H
