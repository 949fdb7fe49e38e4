//===- GenericGpu.cpp - schedule of generic kernels on devices -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A thread for each element of the output. Threads beside each other have
// elements beside each other; a reduction is a loop of the thread, in the order
// of its dimensions, over a register.
//
//===----------------------------------------------------------------------===//
#include "../Algorithm/Generic.h"
#include "GpuBlocks.h"

using namespace attn;
using namespace Halide;

void attn::scheduleGenericGpu(GenericAlgorithm &algorithm) {
  Func output = algorithm.output;
  const std::vector<Var> &variables = algorithm.variables;
  Var chunk("chunk"), lane("lane");
  if (variables.empty()) {
    Var block("block");
    output.split(Var::outermost(), Var::outermost(), lane, 1)
        .split(Var::outermost(), Var::outermost(), block, 1)
        .gpu_threads(lane)
        .gpu_blocks(block);
  } else {
    output
        .split(variables.front(), chunk, lane, algorithm.vector,
               TailStrategy::GuardWithIf)
        .gpu_threads(lane);
    std::vector<Var> blocks = variables;
    blocks.front() = chunk;
    placeOnBlocks(output, {lane}, blocks);
  }
  if (algorithm.reduced.defined())
    algorithm.reduced.compute_at(output, lane);
}
