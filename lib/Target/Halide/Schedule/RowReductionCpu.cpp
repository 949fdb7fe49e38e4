//===- RowReductionCpu.cpp - schedule of sums along rows -------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Algorithm/RowReduction.h"

using namespace attn;
using namespace Halide;

/// Unrolls the rows of a stage, if there are rows.
static void unrollRows(Stage stage, const RowReduction &reduction) {
  if (!reduction.rows.empty())
    stage.unroll(reduction.rows.front());
}

void attn::scheduleRowReduction(RowReduction &reduction, LoopLevel loop,
                                int group) {
  Func &lanes = reduction.lanes, &total = reduction.total;
  lanes.compute_at(loop)
      .store_in(MemoryType::Stack)
      .bound_extent(reduction.lane, reduction.vector)
      .vectorize(reduction.lane, reduction.vector);
  total.compute_at(loop).store_in(MemoryType::Stack);
  // The rows are the independent chains that hide the latency of an addition:
  // inside the loop along the row.
  std::vector<VarOrRVar> rows;
  if (!reduction.rows.empty()) {
    rows = {reduction.rows.front()};
    lanes.bound_extent(reduction.rows.front(), group);
    total.bound_extent(reduction.rows.front(), group);
  }
  unrollRows(lanes, reduction);
  unrollRows(total, reduction);
  int update = 0;
  if (reduction.hasChunks) {
    std::vector<VarOrRVar> order = {reduction.lane};
    order.insert(order.end(), rows.begin(), rows.end());
    order.emplace_back(reduction.chunk);
    Stage stage = lanes.update(update++);
    stage.reorder(order).vectorize(reduction.lane, reduction.vector);
    unrollRows(stage, reduction);
  }
  if (reduction.hasTail) {
    std::vector<VarOrRVar> order = rows;
    order.emplace_back(reduction.tailLane);
    Stage stage = lanes.update(update);
    stage.reorder(order);
    unrollRows(stage, reduction);
  }
}
