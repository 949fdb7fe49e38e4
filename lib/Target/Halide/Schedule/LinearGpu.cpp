//===- LinearGpu.cpp - schedule of a linear layer on devices ---*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A block of x * y threads for each tile of rows and panel. In each step over K
// the threads load both tiles into shared memory, wait, and multiply what they
// find there into sums in registers (ThreadPrivate.h):
//
//   rows of x     read along K by threads beside each other, stored with more
//                 numbers than a row has, so that the rows of two threads lie
//                 in different banks
//   panel         read and stored as it lies in memory
//
// Tiles are computed where they are read and nowhere else: nothing in shared
// memory outlives an iteration of a loop, which Halide 21 would lay on top of
// each other.
//
// A norm is a launch of its own: a row is complete only when all panels are.
//
//===----------------------------------------------------------------------===//
#include "../Algorithm/LinearGpu.h"

using namespace attn;
using namespace Halide;

/// Steps of k in an iteration of the innermost loop: their loads from shared
/// memory are under way together.
static constexpr int kUnroll = 4;

/// A tile of an operand, loaded in each step by all threads of the block.
static void stage(LinearGpuAlgorithm &algorithm, Func tile, const Var &column,
                  int columns, const Var &row, int rows) {
  Var across("across"), lane("lane"), below("below"), line("line");
  tile.compute_at(algorithm.sums, algorithm.step)
      .store_in(MemoryType::GPUShared)
      .bound_extent(column, columns)
      .bound_extent(row, rows)
      .split(column, across, lane, static_cast<int>(algorithm.blocks.x),
             TailStrategy::GuardWithIf)
      .split(row, below, line, static_cast<int>(algorithm.blocks.y),
             TailStrategy::GuardWithIf)
      .reorder(across, below, lane, line)
      .unroll(across)
      .unroll(below)
      .gpu_threads(lane, line);
}

static void scheduleSums(LinearGpuAlgorithm &algorithm, const Var &block) {
  const GpuLinearBlocks &blocks = algorithm.blocks;
  auto mr = static_cast<int>(blocks.mr), kc = static_cast<int>(blocks.kc),
       panel = static_cast<int>(blocks.panel());
  Var i = algorithm.i, x = algorithm.x, j = algorithm.j, y("ty"), own("own");
  Func sums = algorithm.sums;
  sums.compute_at(algorithm.layer.row, block)
      .store_in(MemoryType::Register)
      .bound(i, 0, algorithm.tileRows())
      .bound(x, 0, static_cast<int>(blocks.x))
      .bound(j, 0, static_cast<int>(blocks.nr))
      .bound_extent(algorithm.panel, 1)
      .bound_extent(algorithm.tile, 1)
      .split(i, y, own, mr)
      .reorder(j, own, x, y)
      .unroll(j)
      .unroll(own)
      .gpu_threads(x, y);
  sums.update()
      .split(i, y, own, mr)
      .reorder(j, own, algorithm.k, x, y, algorithm.step)
      .unroll(j)
      .unroll(own)
      .gpu_threads(x, y);
  if (kc % kUnroll == 0)
    sums.update().unroll(algorithm.k, kUnroll);

  stage(algorithm, algorithm.inputTile, algorithm.inner, kc, algorithm.row,
        algorithm.tileRows());
  algorithm.inputTile.align_storage(algorithm.inner,
                                    kc + static_cast<int>(gpuLinearPadding));
  stage(algorithm, algorithm.weightTile, algorithm.column, panel,
        algorithm.inner, kc);
}

void attn::scheduleLinearGpu(LinearGpuAlgorithm &algorithm) {
  const GpuLinearBlocks &blocks = algorithm.blocks;
  LinearAlgorithm &layer = algorithm.layer;
  Var n = layer.n, m = layer.m, panel("panel"), column("column"), tile("tile"),
      row("tile_row"), x("thread_x"), y("thread_y");
  if (layer.hasNorm) {
    layer.row.compute_root();
    scheduleNormGpu(layer);
  }
  layer.output.bound(n, 0, layer.shape.columns);
  layer.row.bound(n, 0, layer.shape.columns)
      .split(n, panel, column, static_cast<int>(blocks.panel()),
             TailStrategy::GuardWithIf)
      .split(column, x, column, static_cast<int>(blocks.nr))
      .split(m, tile, row, algorithm.tileRows(), TailStrategy::GuardWithIf)
      .split(row, y, row, static_cast<int>(blocks.mr))
      .reorder(column, row, x, y, tile, panel)
      .unroll(column)
      .unroll(row)
      .gpu_blocks(tile, panel)
      .gpu_threads(x, y);
  if (layer.shape.inner > 0)
    scheduleSums(algorithm, tile);
}
