//===- GpuModel.h - tile sizes of devices by formula ----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What ScheduleModel.h is for CPUs: the tiles and thread blocks of each kind of
// kernel as functions of a device's limits.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_GPUMODEL_H
#define ATTN_ANALYSIS_GPUMODEL_H

#include "attn/Analysis/ScheduleModel.h"

namespace attn {

/// A query tile and the block of `x` times `y` threads that computes it.
struct GpuAttentionTiles {
  int64_t queries, keys;
  int64_t x, y;
};

/// Numbers of rows that a thread of attention keeps in registers at most.
int64_t mostGpuAttentionNumbers(const TargetInfo &target);

/// The threads for a tile of so many queries and keys.
GpuAttentionTiles arrangeGpuThreads(const TargetInfo &target, int64_t queries,
                                    int64_t keys, int64_t valueSize);

/// Bytes of shared memory that a block takes at most: queries, and of a tile of
/// keys and values what lives at a time. Scores, maxima, and what is carried on
/// are in registers (Schedule/FlashGpu.cpp).
int64_t gpuAttentionSharedBytes(const GpuAttentionTiles &tiles,
                                int64_t headSize, int64_t valueSize);

/// The tiles of an attention; the smallest ones where none fit, which the
/// schedule refuses.
GpuAttentionTiles chooseGpuAttentionTiles(const TargetInfo &target,
                                          const AttentionShape &shape);

/// Blocks of a linear layer, as in `#attn.gpu_linear_schedule`.
struct GpuLinearBlocks {
  int64_t x, y, mr, nr, kc;

  /// Columns of a block, the panel of the packed weight.
  int64_t panel() const { return x * nr; }
};

GpuLinearBlocks chooseGpuLinearBlocks(const TargetInfo &target,
                                      int64_t outputs);

/// Numbers that a row of the input has in shared memory beside its kc: rows
/// start in different banks, and where four numbers can be read at once.
inline constexpr int64_t gpuLinearPadding = 4;

/// Bytes of shared memory that a block of a linear layer takes: its rows and
/// its panel for kc steps of K (Schedule/LinearGpu).
int64_t gpuLinearSharedBytes(const GpuLinearBlocks &blocks);

/// Threads of a block of a row-wise kernel.
int64_t chooseGpuRowThreads(const TargetInfo &target);

} // namespace attn

#endif // ATTN_ANALYSIS_GPUMODEL_H
