//===- MatrixLinearCpu.cpp - schedule of layers with a matrix unit --------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
//   block of rows, one after the other
//     pairs: the rows in pairs of channels, which wait in L2
//     group of columns, in parallel: its weights stay in L2 while all rows pass
//       32 rows
//         product: 32 x nb sums, on the stack
//         epilogue
//
//===----------------------------------------------------------------------===//
#include "../Algorithm/Linear.h"

#include "attn/Analysis/TargetInfo.h"

using namespace attn;
using namespace Halide;

void attn::scheduleMatrixLinearCpu(MatrixLinearAlgorithm &algorithm,
                                   const TargetInfo &target) {
  LinearAlgorithm &layer = algorithm.layer;
  const LinearShape &shape = layer.shape;
  Var n = layer.n, m = layer.m;
  Var group("group"), column("column"), block("block"), inBlock("in_block"),
      tile("row_tile"), row("tile_row"), lane("lane"), chunk("chunk");
  layer.output.bound(n, 0, shape.columns);
  LoopLevel paired;
  if (layer.hasNorm) {
    // A row block before its norm takes at most half of L2.
    int fits = static_cast<int>(target.l2Bytes / 2 / 4 / shape.columns);
    int limit = std::max(std::min(algorithm.mb, fits), matrixRows);
    Var normBlock =
        scheduleNorm(layer, balancedBlock(layer.rows, limit, matrixRows));
    layer.row.split(m, tile, row, matrixRows, TailStrategy::GuardWithIf);
    paired = LoopLevel(layer.output, normBlock);
  } else {
    layer.row
        .split(m, block, inBlock,
               balancedBlock(layer.rows, algorithm.mb, matrixRows),
               TailStrategy::GuardWithIf)
        .split(inBlock, tile, row, matrixRows, TailStrategy::GuardWithIf);
    paired = LoopLevel(layer.row, block);
  }
  layer.row.split(n, group, column, algorithm.nb)
      .split(column, chunk, lane, shape.vector);
  if (layer.hasNorm)
    layer.row.reorder(lane, chunk, row, tile, group);
  else
    layer.row.reorder(lane, chunk, row, tile, group, block);
  layer.row.vectorize(lane).parallel(group);

  algorithm.product.compute_at(layer.row, tile)
      .store_in(MemoryType::Stack)
      .bound(algorithm.column, 0, algorithm.nb)
      .bound(algorithm.row, 0, matrixRows)
      .bound_extent(algorithm.group, 1)
      .bound_extent(algorithm.block, 1);
  algorithm.pairs.compute_at(paired)
      .bound(algorithm.row, 0, matrixRows)
      .bound(algorithm.pair, 0, shape.inner / 2);
  algorithm.pairs.update().parallel(algorithm.block);
}
