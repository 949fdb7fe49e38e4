//===- RowwiseCpu.cpp - schedule of row-wise kernels on CPUs ---*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Groups of rows in parallel; in a group all stages, each for all rows of the
// group, whose independent chains hide the latency of additions. Rows of a
// group share what they read a column of (norm parameters).
//
//===----------------------------------------------------------------------===//
#include "../Algorithm/Rowwise.h"

using namespace attn;
using namespace Halide;

/// Vectors of a one-dimensional result that a task computes: 16 KiB of AVX2.
static constexpr int kVectorsPerTask = 512;

static void scheduleStage(RowStage &stage, const LoopLevel &loop,
                          const RowwiseAlgorithm &algorithm) {
  Var n("n"), row("r0"), chunk("chunk"), lane("lane");
  bool hasRows = !algorithm.rows.empty();
  Func func = stage.func;
  switch (stage.kind) {
  case RowStage::Kind::Reduction:
    scheduleRowReduction(stage.reduction, loop, algorithm.plan.group);
    return;
  case RowStage::Kind::Scalar:
    func.compute_at(loop).store_in(MemoryType::Stack);
    if (hasRows)
      func.bound_extent(row, algorithm.plan.group).unroll(row);
    if (func.has_update_definition()) // A sum of mask weights: one chain a row.
      func.update().unscheduled();
    return;
  case RowStage::Kind::Row:
    func.compute_at(loop)
        .store_in(MemoryType::Stack)
        .split(n, chunk, lane, algorithm.plan.vector, TailStrategy::GuardWithIf)
        .vectorize(lane);
    if (stage.storage)
      func.bound_storage(n, stage.storage);
    return;
  case RowStage::Kind::Pool: {
    func.compute_at(loop).vectorize(n, algorithm.plan.vector,
                                    TailStrategy::GuardWithIf);
    func.update()
        .reorder(n, stage.position)
        .vectorize(n, algorithm.plan.vector, TailStrategy::GuardWithIf);
    return;
  }
  }
}

/// Last, because a specialization takes the schedule as it is: the loops once
/// for each form of the result, with the stages that it needs.
static void specialize(RowwiseAlgorithm &algorithm) {
  if (algorithm.isNarrow.defined())
    algorithm.output.specialize(algorithm.isNarrow);
}

void attn::scheduleRowwiseCpu(RowwiseAlgorithm &algorithm) {
  Func output = algorithm.output;
  Var n = algorithm.column, chunk("chunk"), lane("lane"), task("task");
  if (algorithm.hasColumns)
    output
        .split(n, chunk, lane, algorithm.plan.vector, TailStrategy::GuardWithIf)
        .vectorize(lane);
  if (algorithm.rows.empty()) {
    Var inTask("in_task");
    if (algorithm.stages.empty())
      output
          .split(chunk, task, inTask, kVectorsPerTask,
                 TailStrategy::GuardWithIf)
          .parallel(task);
    LoopLevel loop(output, Var::outermost());
    for (RowStage &stage : algorithm.stages)
      scheduleStage(stage, loop, algorithm);
    specialize(algorithm);
    return;
  }
  Var row = algorithm.rows.front(), group("row_group"), inGroup("in_group");
  output
      .split(row, group, inGroup, algorithm.plan.group,
             TailStrategy::GuardWithIf)
      .unroll(inGroup);
  std::vector<VarOrRVar> order;
  if (algorithm.hasColumns)
    order = {lane, inGroup, chunk, group};
  else
    order = {inGroup, group};
  for (size_t i = 1; i < algorithm.rows.size(); ++i)
    order.emplace_back(algorithm.rows[i]);
  output.reorder(order);
  Var outer = group;
  for (size_t i = 1; i < algorithm.rows.size(); ++i) {
    Var fused("fused" + std::to_string(i));
    output.fuse(outer, algorithm.rows[i], fused);
    outer = fused;
  }
  output.parallel(outer);
  LoopLevel loop(output, outer);
  for (RowStage &stage : algorithm.stages)
    scheduleStage(stage, loop, algorithm);
  specialize(algorithm);
}
