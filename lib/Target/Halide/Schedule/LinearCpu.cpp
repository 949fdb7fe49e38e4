//===- LinearCpu.cpp - schedule of a linear layer on CPUs ------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Three forms, of which the schedule attribute and the number of rows choose:
//
//   one block of K   a panel of weights stays in L2 while all row tiles of a
//                    row block pass over it
//   K blocked        a block of a panel and the block of x stay in L2; sums
//                    wait in a buffer of a few panels. x is read where it
//                    lies: packing it for each group of panels cost 4 to 17 %
//                    at K = 1536
//   one row          mr panels side by side: as many accumulators as a tile
//                    has, and mr sequential streams of weights
//
// Work is split over (row block, group of panels), for threads also where there
// are few rows. A task computes whole elements, so that the bits do not depend
// on who computes them. The last row tile of a block has fewer rows, and
// computes no others (ShortTiles.h).
//
//===----------------------------------------------------------------------===//
#include "../Algorithm/Linear.h"

#include "attn/Analysis/ScheduleModel.h"
#include "attn/Analysis/TargetInfo.h"

using namespace attn;
using namespace Halide;

/// Rows reduced together by the layer norm: four chains of additions cover the
/// latency of an addition on all targets with two ports.
static constexpr int kNormRows = 4;

/// Panel groups that a kernel is split into where there are few row blocks:
/// enough for balance on a few threads.
static constexpr int kGroups = 8;

/// Rows a task works on at least, counted over its panels: less would be
/// shorter than handing a task to a thread.
static constexpr int kTaskRows = 32;

static Expr ceilDiv(const Expr &a, const Expr &b) { return (a + b - 1) / b; }

Expr attn::balancedBlock(const Expr &rows, int limit, int mr) {
  Expr count = max(ceilDiv(rows, limit), 1);
  return max(ceilDiv(ceilDiv(rows, count), mr), 1) * mr;
}

/// Panels of a task.
static Expr panelsPerTask(const LinearAlgorithm &algorithm,
                          const Expr &blockRows) {
  const LinearShape &shape = algorithm.shape;
  int even = std::max(shape.panels / kGroups, 1);
  if (algorithm.hasNorm)
    return select(algorithm.blocksAreTasks, shape.panels, even);
  if (shape.isBlocked()) {
    // As few groups as balance allows: each streams x once.
    Expr groups =
        clamp(ceilDiv(kGroups, max(ceilDiv(algorithm.rows, blockRows), 1)), 1,
              shape.panels);
    return ceilDiv(shape.panels, groups);
  }
  return clamp(kTaskRows / blockRows, 1, even);
}

/// A register tile: `j` in vectors, `other` rows or panels.
static void scheduleAccumulator(const LinearShape &shape, Func tile,
                                const Var &j, const Var &other, int count,
                                const RVar &k, int depth) {
  tile.store_in(MemoryType::Register)
      .bound_extent(j, shape.nr)
      .bound_extent(other, count)
      .vectorize(j, shape.vector)
      .unroll(j)
      .unroll(other);
  tile.update()
      .reorder(j, other, k)
      .vectorize(j, shape.vector)
      .unroll(j)
      .unroll(other);
  if (shape.unroll > 1 && depth % shape.unroll == 0)
    tile.update().unroll(k, shape.unroll);
}

/// Update 1 of `row`: register tiles of mr rows. `row` covers all rows, or
/// those of one block of the layer norm.
static void scheduleTiles(LinearAlgorithm &algorithm) {
  const LinearShape &shape = algorithm.shape;
  LinearProduct &product = algorithm.tiles;
  int mr = shape.mr;
  Var n = algorithm.n, m = algorithm.m;
  Var panel("panel"), column("column"), block("block"), inBlock("in_block"),
      tile("row_tile"), row("tile_row"), group("group"), inGroup("in_group"),
      task("task");
  Expr blockRows = balancedBlock(algorithm.rows, shape.rowBlock, mr);
  Stage stage = algorithm.row.update(1);
  stage.split(n, panel, column, shape.nr, TailStrategy::GuardWithIf)
      .split(panel, group, inGroup, panelsPerTask(algorithm, blockRows),
             TailStrategy::GuardWithIf);
  if (algorithm.hasNorm) {
    stage.split(m, tile, row, mr, TailStrategy::GuardWithIf)
        .reorder(column, row, tile, inGroup, group, algorithm.ifTiles)
        .parallel(group);
    task = group;
  } else {
    stage.split(m, block, inBlock, blockRows, TailStrategy::GuardWithIf)
        .split(inBlock, tile, row, mr, TailStrategy::GuardWithIf)
        .reorder(column, row, tile, inGroup, group, block, algorithm.ifTiles)
        .fuse(group, block, task)
        .parallel(task);
  }
  stage.vectorize(column, shape.vector).unroll(column).unroll(row);

  // A row tile lies in one panel. Halide's own bounds allow for more where the
  // last panel is partial.
  product.tile.bound_extent(product.p, 1);
  algorithm.shortTiles.addTile(product.tile, shape.nr, mr);
  if (!shape.isBlocked()) {
    product.tile.compute_at(algorithm.row, tile);
    scheduleAccumulator(shape, product.tile, product.j, product.m, mr,
                        product.tileK, shape.block);
    return;
  }
  Func blocks = product.blocks;
  Var j = product.j, m2 = product.m, p = product.p;
  Var outer("outer"), inner("inner");
  blocks.compute_at(algorithm.row, task)
      .bound_extent(j, shape.nr)
      .vectorize(j, shape.vector)
      .unroll(j);
  auto scheduleUpdate = [&](Stage update) {
    update.split(m2, outer, inner, mr, TailStrategy::GuardWithIf)
        .vectorize(j, shape.vector)
        .unroll(j)
        .unroll(inner);
    return update;
  };
  scheduleUpdate(blocks.update(0)).reorder(j, inner, outer, p, product.blockT);
  product.tile.compute_at(blocks, outer);
  scheduleAccumulator(shape, product.tile, j, m2, mr, product.tileK,
                      shape.block);
  if (shape.rest) {
    Var outerRest("outer_rest"), innerRest("inner_rest");
    std::swap(outer, outerRest);
    std::swap(inner, innerRest);
    scheduleUpdate(blocks.update(1)).reorder(j, inner, outer, p);
    product.rest.compute_at(blocks, outer).bound_extent(p, 1);
    algorithm.shortTiles.addTile(product.rest, shape.nr, mr);
    scheduleAccumulator(shape, product.rest, j, m2, mr, product.restK,
                        shape.rest);
  }
}

/// Update 0 of `row`: one row, mr panels at a time.
static void scheduleSingle(LinearAlgorithm &algorithm) {
  const LinearShape &shape = algorithm.shape;
  LinearProduct &product = algorithm.single;
  int count = std::min(shape.mr, shape.panels);
  Var n = algorithm.n, m = algorithm.m;
  Var panel("single_panel"), column("single_column"), group("single_group"),
      inGroup("single_in_group");
  algorithm.row.update(0)
      .split(n, panel, column, shape.nr, TailStrategy::GuardWithIf)
      .split(panel, group, inGroup, count, TailStrategy::GuardWithIf)
      .reorder(column, inGroup, group, m, algorithm.ifSingle)
      .vectorize(column, shape.vector)
      .unroll(column)
      .unroll(inGroup)
      .parallel(group);
  if (!shape.isBlocked()) {
    product.tile.compute_at(algorithm.row, group);
    scheduleAccumulator(shape, product.tile, product.j, product.p, count,
                        product.tileK, shape.block);
    return;
  }
  Var j = product.j, p = product.p;
  product.blocks.compute_at(algorithm.row, group)
      .store_in(MemoryType::Stack)
      .bound_extent(j, shape.nr)
      .bound_extent(p, count)
      .vectorize(j, shape.vector)
      .unroll(j)
      .unroll(p);
  product.blocks.update(0)
      .reorder(j, p, product.m, product.blockT)
      .vectorize(j, shape.vector)
      .unroll(j)
      .unroll(p);
  product.tile.compute_at(product.blocks, product.blockT);
  scheduleAccumulator(shape, product.tile, j, p, count, product.tileK,
                      shape.block);
  if (!shape.rest)
    return;
  product.blocks.update(1)
      .reorder(j, p, product.m)
      .vectorize(j, shape.vector)
      .unroll(j)
      .unroll(p);
  product.rest.compute_at(product.blocks, product.m);
  scheduleAccumulator(shape, product.rest, j, p, count, product.restK,
                      shape.rest);
}

Var attn::scheduleNorm(LinearAlgorithm &algorithm, const Expr &blockRows) {
  Var n = algorithm.n, m = algorithm.m;
  Var task("norm_task"), block("norm_block"), inBlock("norm_in_block"),
      rows("norm_rows"), row("norm_row"), chunk("norm_chunk"),
      lane("norm_lane");
  // Many blocks are tasks, each with all of its panels. A few would leave
  // threads without work in the end: they come one after the other, and what is
  // inside of them is split.
  Expr blocks = max(ceilDiv(algorithm.rows, blockRows), 1);
  algorithm.blocksAreTasks = blocks >= kGroups;
  algorithm.output
      .split(m, block, inBlock, blockRows, TailStrategy::GuardWithIf)
      .split(block, task, block, select(algorithm.blocksAreTasks, 1, blocks),
             TailStrategy::GuardWithIf)
      .split(inBlock, rows, row, kNormRows, TailStrategy::GuardWithIf)
      .split(n, chunk, lane, algorithm.shape.vector, TailStrategy::GuardWithIf)
      .reorder(lane, row, chunk, rows, block, task)
      .vectorize(lane)
      .unroll(row)
      .parallel(rows)
      .parallel(task);
  algorithm.row.compute_at(algorithm.output, block);
  LoopLevel loop(algorithm.output, rows);
  for (RowReduction &reduction : algorithm.statistics)
    scheduleRowReduction(reduction, loop, kNormRows);
  algorithm.inverse.compute_at(loop)
      .store_in(MemoryType::Stack)
      .bound_extent(m, kNormRows)
      .unroll(m);
  return block;
}

void attn::scheduleLinearCpu(LinearAlgorithm &algorithm,
                             const TargetInfo &target) {
  const LinearShape &shape = algorithm.shape;
  Var n = algorithm.n;
  algorithm.output.bound(n, 0, shape.columns);
  if (algorithm.hasNorm) {
    // A row block before its norm takes at most half of L2.
    int fits = static_cast<int>(target.l2Bytes / 2 / 4 / shape.columns);
    int limit = std::max(std::min(shape.rowBlock, fits), shape.mr);
    scheduleNorm(algorithm, balancedBlock(algorithm.rows, limit, shape.mr));
  }
  scheduleTiles(algorithm);
  scheduleSingle(algorithm);
}
