//===- RowReductionCpu.cpp - schedule of sums along rows -------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Algorithm/RowReduction.h"

using namespace attn;
using namespace Halide;

void attn::scheduleRowReduction(RowReduction &reduction, LoopLevel loop,
                                int group) {
  Var row = reduction.rows.front();
  Func &lanes = reduction.lanes, &total = reduction.total;
  lanes.compute_at(loop)
      .store_in(MemoryType::Stack)
      .bound_extent(reduction.lane, reduction.vector)
      .bound_extent(row, group)
      .vectorize(reduction.lane, reduction.vector)
      .unroll(row);
  int update = 0;
  if (reduction.hasChunks)
    // The rows are the independent chains that hide the latency of an addition.
    lanes.update(update++)
        .reorder(reduction.lane, row, reduction.chunk)
        .vectorize(reduction.lane, reduction.vector)
        .unroll(row);
  if (reduction.hasTail)
    lanes.update(update).reorder(row, reduction.tailLane).unroll(row);
  total.compute_at(loop)
      .store_in(MemoryType::Stack)
      .bound_extent(row, group)
      .unroll(row);
  total.update()
      .atomic()
      .vectorize(reduction.foldedLane, reduction.vector)
      .unroll(row);
}
