//===- GenericCpu.cpp - schedule of generic kernels on CPUs ----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Vectors along the innermost dimension of the output, tasks along the others.
// A reduction runs to its end for one vector of outputs before the next, in the
// order of its loops: bits depend neither on threads nor on other outputs.
//
//===----------------------------------------------------------------------===//
#include "../Algorithm/Generic.h"

using namespace attn;
using namespace Halide;

/// Vectors of a one-dimensional result that a task computes.
static constexpr int kVectorsPerTask = 512;

/// Schedules one stage of the output.
static void scheduleStage(Stage stage, const GenericAlgorithm &algorithm,
                          const std::vector<RVar> &reductions) {
  const std::vector<Var> &variables = algorithm.variables;
  if (variables.empty())
    return;
  Var chunk("chunk"), lane("lane"), task("task"), inTask("in_task");
  stage
      .split(variables.front(), chunk, lane, algorithm.vector,
             TailStrategy::GuardWithIf)
      .vectorize(lane);
  std::vector<VarOrRVar> order = {lane};
  order.insert(order.end(), reductions.begin(), reductions.end());
  if (variables.size() == 1) {
    stage.split(chunk, task, inTask, kVectorsPerTask,
                TailStrategy::GuardWithIf);
    order.emplace_back(inTask);
    order.emplace_back(task);
    stage.reorder(order).parallel(task);
    return;
  }
  order.emplace_back(chunk);
  order.insert(order.end(), variables.begin() + 1, variables.end());
  stage.reorder(order);
  Var outer = variables[1];
  for (size_t i = 2; i < variables.size(); ++i) {
    Var fused("fused" + std::to_string(i));
    stage.fuse(outer, variables[i], fused);
    outer = fused;
  }
  stage.parallel(outer);
}

void attn::scheduleGenericCpu(GenericAlgorithm &algorithm) {
  scheduleStage(algorithm.output, algorithm, {});
  if (!algorithm.reductions.empty())
    scheduleStage(algorithm.output.update(), algorithm, algorithm.reductions);
}
