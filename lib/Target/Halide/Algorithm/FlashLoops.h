//===- FlashLoops.h - the tiled attention loops, taken apart ---*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reads the text of an attention kernel at the tiled level: one scf.forall over
// query tiles, inside it scf.for loops over key tiles that carry the running
// maximum, the running sum and the accumulator, and attn.tile_finish. Nothing
// is assumed that the text does not say; what has another form is an error at
// the operation, with the form that is expected.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_ALGORITHM_FLASHLOOPS_H
#define ATTN_LIB_TARGET_HALIDE_ALGORITHM_FLASHLOOPS_H

#include "attn/Dialect/IR/Attn.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attn {

/// One scf.for over key tiles. `maximum`, `sum` and `accumulator` are what it
/// yields; the rescales are null where the text has none.
struct FlashLoop {
  mlir::scf::ForOp loop;
  /// Conditions of the scf.if around the tile, from the outside in: a tile for
  /// which one does not hold is not visited.
  llvm::SmallVector<mlir::Value> guards;
  /// Numbers of the three values among the loop's iter_args.
  unsigned maximumArg = 0, sumArg = 0, accumulatorArg = 0;
  TileScoresOp scores;
  /// attn.tile_score and attn.tile_mask, in order.
  llvm::SmallVector<mlir::Operation *> scoreOps;
  TileMaxOp maximum;
  TileExpOp exp;
  TileSumOp sum;
  TileMixOp mix;
  TileRescaleOp sumRescale, accumulatorRescale;
  TileLoadOp key, value;

  int64_t keys() { return key.getResult().getType().getShape()[0]; }
  /// Every row of the key tile is a key: the number of rows is a constant.
  bool isFull();
  bool hasMask();
  bool hasScoreRegion();
};

/// Where one result of attn.tile_finish goes.
struct FlashStore {
  mlir::tensor::ParallelInsertSliceOp insert;
  /// For each dimension of the destination: the loop counter that indexes it,
  /// null for the rows of the tile and for the channels.
  llvm::SmallVector<mlir::Value> counters;
  unsigned rowDim = 0;
  std::optional<unsigned> channelDim;
};

struct FlashNest {
  mlir::scf::ForallOp forall;
  /// The counter of the query tiles.
  mlir::Value tileCounter;
  TileLoadOp query;
  llvm::SmallVector<FlashLoop> loops;
  TileFillOp maximumStart, sumStart, accumulatorStart;
  /// One column of scores that the maximum starts with as well, or null.
  TileScoreOp sink;
  TileFinishOp finish;
  FlashStore result;
  std::optional<FlashStore> lse;

  /// Row 0 of the query tile in the query tensor.
  mlir::Value firstRow() { return query.getIndices()[query.getDims()[0]]; }
  int64_t rows() { return query.getResult().getType().getShape()[0]; }
  int64_t headSize() { return query.getResult().getType().getShape()[1]; }
  int64_t valueSize() {
    return finish.getAccumulator().getType().getShape()[1];
  }
};

mlir::FailureOr<FlashNest> readFlashNest(KernelOp kernel);

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_ALGORITHM_FLASHLOOPS_H
