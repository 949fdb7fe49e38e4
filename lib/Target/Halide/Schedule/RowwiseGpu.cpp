//===- RowwiseGpu.cpp - schedule of row-wise kernels on devices -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A block of threads for each row; threads beside each other read columns
// beside each other. What is one number a row lies in shared memory. Its loops
// along a row are inside of a thread, so that all that is shared is written
// before any of it is read. Where nothing is summed along rows, a block
// computes one column a thread.
//
//===----------------------------------------------------------------------===//
#include "../Algorithm/Linear.h"
#include "../Algorithm/Rowwise.h"
#include "GpuBlocks.h"

using namespace attn;
using namespace Halide;

/// A function of columns and rows that is computed before the results: each
/// thread sums up in a register.
static void schedulePool(Func pool, int threads) {
  Func stored = pool.in();
  std::vector<Var> variables = stored.args();
  Var n = variables.front(), chunk("chunk"), lane("lane");
  stored.compute_root()
      .split(n, chunk, lane, threads, TailStrategy::GuardWithIf)
      .gpu_threads(lane);
  variables.front() = chunk;
  placeOnBlocks(stored, {lane}, variables);
  pool.compute_at(stored, lane);
}

static void scheduleStage(RowStage &stage, const LoopLevel &loop,
                          const RowwiseAlgorithm &algorithm) {
  Var n("n"), chunk("chunk"), lane("lane");
  switch (stage.kind) {
  case RowStage::Kind::Reduction:
    scheduleRowReductionGpu(stage.reduction, loop);
    return;
  case RowStage::Kind::Scalar:
    scheduleRowScalarGpu(stage.func, loop);
    return;
  case RowStage::Kind::Row:
    stage.func.compute_at(loop)
        .store_in(MemoryType::GPUShared)
        .split(n, chunk, lane, algorithm.plan.vector, TailStrategy::GuardWithIf)
        .reorder(chunk, lane)
        .gpu_threads(lane);
    for (const Var &row : algorithm.rows)
      stage.func.bound_extent(row, 1);
    return;
  case RowStage::Kind::Pool:
    schedulePool(stage.func, algorithm.plan.vector);
    return;
  }
}

void attn::scheduleRowwiseGpu(RowwiseAlgorithm &algorithm) {
  Func output = algorithm.output;
  Var chunk("chunk"), lane("lane");
  int threads = algorithm.plan.vector;
  if (algorithm.stages.empty()) {
    output
        .split(algorithm.column, chunk, lane, threads,
               TailStrategy::GuardWithIf)
        .gpu_threads(lane);
    std::vector<Var> blocks = {chunk};
    blocks.insert(blocks.end(), algorithm.rows.begin(), algorithm.rows.end());
    placeOnBlocks(output, {lane}, blocks);
    return;
  }
  std::vector<VarOrRVar> inside;
  if (algorithm.hasColumns) {
    output.split(algorithm.column, chunk, lane, threads,
                 TailStrategy::GuardWithIf);
    inside = {chunk, lane};
  } else {
    output.split(algorithm.rows.front(), algorithm.rows.front(), lane, 1);
    inside = {lane};
  }
  output.gpu_threads(lane);
  LoopLevel loop(output, placeOnBlocks(output, inside, algorithm.rows));
  for (RowStage &stage : algorithm.stages)
    scheduleStage(stage, loop, algorithm);
}

void attn::scheduleNormGpu(LinearAlgorithm &algorithm) {
  Func output = algorithm.output;
  Var chunk("chunk"), lane("lane");
  output
      .split(algorithm.n, chunk, lane, algorithm.shape.vector,
             TailStrategy::GuardWithIf)
      .reorder(chunk, lane, algorithm.m)
      .gpu_threads(lane)
      .gpu_blocks(algorithm.m);
  LoopLevel loop(output, algorithm.m);
  for (RowReduction &reduction : algorithm.statistics)
    scheduleRowReductionGpu(reduction, loop);
  scheduleRowScalarGpu(algorithm.inverse, loop);
}
