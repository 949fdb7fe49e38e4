//===- RowReductionGpu.cpp - schedule of sums along rows -------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each thread adds up every x-th column in a register and stores its sum where
// all threads see it; then a few threads add up some sums each, and one thread
// those of the few.
//
//===----------------------------------------------------------------------===//
#include "../Algorithm/RowReduction.h"

using namespace attn;
using namespace Halide;

/// Of a block there is one row.
static void boundRows(Func func, size_t first) {
  std::vector<Var> variables = func.args();
  for (size_t i = first; i < variables.size(); ++i)
    func.bound_extent(variables[i], 1);
}

void attn::scheduleRowScalarGpu(Func value, const LoopLevel &loop) {
  value.compute_at(loop).store_in(MemoryType::GPUShared);
  boundRows(value, 0);
  // The loop of a sum belongs to the thread: a loop around it would be one of
  // the whole block.
  auto runOnOneThread = [](Stage stage) {
    Var thread("thread");
    stage.split(Var::outermost(), Var::outermost(), thread, 1)
        .gpu_threads(thread);
  };
  runOnOneThread(value);
  for (int i = 0; i < value.num_update_definitions(); ++i)
    runOnOneThread(value.update(i));
}

void attn::scheduleRowReductionGpu(RowReduction &reduction,
                                   const LoopLevel &loop) {
  reduction.lanes.compute_at(loop)
      .store_in(MemoryType::GPUShared)
      .bound(reduction.lane, 0, reduction.vector)
      .gpu_threads(reduction.lane);
  boundRows(reduction.lanes, 1);
  reduction.own.compute_at(reduction.lanes, reduction.lane);
  boundRows(reduction.own, 0);
  if (reduction.groups.defined()) {
    reduction.groups.compute_at(loop)
        .store_in(MemoryType::GPUShared)
        .bound(reduction.group, 0, kReductionGroups)
        .gpu_threads(reduction.group);
    boundRows(reduction.groups, 1);
  }
  scheduleRowScalarGpu(reduction.total, loop);
}
