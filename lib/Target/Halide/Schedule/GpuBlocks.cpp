//===- GpuBlocks.cpp - loops on the blocks of a device --------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GpuBlocks.h"

using namespace attn;
using namespace Halide;

/// Whether the dimension of an output is known to have one entry.
static bool isSingle(const Func &func, const Var &var) {
  std::vector<Var> args = func.args();
  for (size_t dim = 0; dim < args.size(); ++dim)
    if (args[dim].same_as(var)) {
      Expr extent = func.output_buffer().parameter().extent_constraint(
          static_cast<int>(dim));
      return extent.defined() && Internal::is_const_one(extent);
    }
  return false;
}

Var attn::placeOnBlocks(Func func, std::vector<VarOrRVar> inside,
                        const std::vector<Var> &outside) {
  constexpr size_t dimensions = 3;
  std::vector<Var> blocks, launches;
  for (const Var &var : outside)
    (blocks.size() < dimensions && !isSingle(func, var) ? blocks : launches)
        .push_back(var);
  if (blocks.empty() && !launches.empty()) {
    blocks.push_back(launches.front());
    launches.erase(launches.begin());
  }
  if (blocks.empty()) {
    Var block("block");
    func.split(Var::outermost(), Var::outermost(), block, 1);
    func.gpu_blocks(block);
    return block;
  }
  std::vector<VarOrRVar> order = std::move(inside);
  order.insert(order.end(), blocks.begin(), blocks.end());
  order.insert(order.end(), launches.begin(), launches.end());
  func.reorder(order);
  for (const Var &block : blocks)
    func.gpu_blocks(block);
  return blocks.front();
}
