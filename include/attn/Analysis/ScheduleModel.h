//===- ScheduleModel.h - tile sizes by formula -----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Register tiles and cache blocks of each kind of kernel as functions of the
// target's description. The model chooses; what it chose stands in the IR as
// tile types and schedule attributes, where a user can change it.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_SCHEDULEMODEL_H
#define ATTN_ANALYSIS_SCHEDULEMODEL_H

#include "attn/Analysis/TargetInfo.h"

namespace attn {

/// A block of `vectors` vectors times `scalars` broadcast values, whose
/// products are summed in registers.
struct RegisterTile {
  int64_t vectors, scalars;

  int64_t sums() const { return vectors * scalars; }
  /// The sums, the vectors they are made from, one broadcast value and, where a
  /// multiply-add is two instructions, the product.
  int64_t registers(const TargetInfo &target) const {
    return sums() + vectors + 1 + (target.fusedMultiplyAdd ? 0 : 1);
  }
  /// The same for scores, whose broadcast values lie in as many rows of memory:
  /// where they need registers, those of a step are all loaded first.
  int64_t scoreRegisters(const TargetInfo &target) const {
    return registers(target) + (target.broadcastsLoads ? 0 : scalars - 1);
  }
  /// Cycles of the multiply-add units for one step of the reduction.
  double work(const TargetInfo &target) const;
  /// Cycles that one step of the reduction takes at least.
  double cycles(const TargetInfo &target) const;
};

/// Tile sizes of tiled attention.
struct AttentionTiles {
  /// Queries and keys of a score tile.
  int64_t queries, keys;
  /// Keys of a score register tile, value channels of an output register tile.
  int64_t keyUnroll, valueUnroll;
  /// Whether channels and keys are the lanes of vectors, and not queries.
  bool isDecode = false;
  /// Whether the products are those of a matrix unit.
  bool isMatrix = false;
};

/// What the tiles of an attention depend on.
struct AttentionShape {
  /// Query and key channels, and value channels, of a head.
  int64_t headSize, valueSize;
  /// The number of queries where it is known, or -1.
  int64_t queries = -1;
  /// Whether a mask hides keys from queries.
  bool isMasked = false;
  /// Whether its products are plain ones of bf16 numbers, as those of a matrix
  /// unit.
  bool isBrainProduct = false;
};

/// Rows, columns and depth of two tiles of a matrix unit beside each other,
/// which use each operand that is loaded twice (lib/Runtime/Matrix.c).
inline constexpr int64_t matrixSide = 32;
/// Channels of a head that the run-time has room for at the end of a tensor.
inline constexpr int64_t matrixChannels = 512;

/// Keys of a tile, at most, where a mask hides keys.
inline constexpr int64_t maskedKeys = 64;

/// The tiles of an attention, by the formulas of ScheduleModel.cpp.
AttentionTiles chooseAttentionTiles(const TargetInfo &target,
                                    const AttentionShape &shape);

/// Value channels of an output register tile beside `keyUnroll` keys of a score
/// tile: both have the same shape, with channels in the place of keys. A number
/// that divides the head size leaves no rest; below four channels the loop
/// would not hide the latency of a sum:
///     k / 2^e, the largest that divides Dv, at least 4
int64_t chooseValueUnroll(int64_t keyUnroll, int64_t valueSize);

/// The most queries of a tile that has channels and keys in its lanes: vectors
/// of queries would be half empty, and each key element would be broadcast for
/// one or two of them. Fewer than the vectors of a register tile hold.
int64_t mostDecodeQueries(const TargetInfo &target);

/// Blocks of a linear layer, as in `#attn.linear_schedule`.
struct LinearBlocks {
  int64_t mr, nr, kc, mb;
};

/// Chooses blocks for a layer with K = `inputs` and N = `outputs`.
LinearBlocks chooseLinearBlocks(const TargetInfo &target, int64_t inputs,
                                int64_t outputs);

/// Blocks of a linear layer on a matrix unit, as in
/// `#attn.matrix_linear_schedule`.
struct MatrixBlocks {
  int64_t nb, mb;
};

/// The same with K = `inputs` and N = `outputs` of bf16 numbers; nothing where
/// there is no such unit, or channels are no whole steps of its products.
std::optional<MatrixBlocks> chooseMatrixBlocks(const TargetInfo &target,
                                               int64_t inputs, int64_t outputs);

/// Bytes beside the tensors that a thread works in: a query tile with its
/// scores, weights and accumulator, and converted keys and values where these
/// are `isNarrow` (16 bits).
int64_t attentionScratchBytes(const AttentionTiles &tiles, int64_t headSize,
                              int64_t valueSize, bool isNarrow);

/// The same for `rows` rows of a linear layer: the sums of blocks of K, and
/// whole rows where a norm follows (`hasNorm`), which the threads share unless
/// there are many blocks of rows.
int64_t linearScratchBytes(const TargetInfo &target, const LinearBlocks &blocks,
                           int64_t outputs, int64_t rows, bool hasNorm);

/// Rows that a row-wise kernel works on at a time; `isSoftmax` if it has
/// exponentials between its sums.
int64_t chooseRowsInFlight(const TargetInfo &target, bool isSoftmax = false);

} // namespace attn

#endif // ATTN_ANALYSIS_SCHEDULEMODEL_H
