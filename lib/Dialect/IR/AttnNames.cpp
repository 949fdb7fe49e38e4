//===- AttnNames.cpp - names of values in printed IR ------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The arguments of a region are printed under the letters that the
// documentation uses: s for a score, b, h, i, j for batch, head, query and key,
// d for a channel, m and n for row and column. Captures keep their numbers.
// What stands for a symbol is called after it.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/IR/Attn.h"

using namespace mlir;
using namespace attn;

/// Names the first arguments of a region; there may be fewer, of IR that does
/// not verify.
static void setNames(Region &region, ArrayRef<StringRef> names,
                     OpAsmSetValueNameFn setName) {
  if (region.empty())
    return;
  for (auto [argument, name] : llvm::zip(region.getArguments(), names))
    setName(argument, name);
}

void AttentionOp::getAsmBlockArgumentNames(Region &region,
                                           OpAsmSetValueNameFn setName) {
  if (&region == &getCombine())
    setNames(region, {"q", "k", "b", "h", "i", "j", "d"}, setName);
  else if (&region == &getScore())
    setNames(region, {"s", "b", "h", "i", "j"}, setName);
  else if (&region == &getMask())
    setNames(region, {"b", "h", "i", "j"}, setName);
  else
    setNames(region, {"v", "b", "h", "i", "j", "d"}, setName);
}

void FusedLinearOp::getAsmBlockArgumentNames(Region &region,
                                             OpAsmSetValueNameFn setName) {
  setNames(region, {"acc", "m", "n"}, setName);
}

void TileScoresOp::getAsmBlockArgumentNames(Region &region,
                                            OpAsmSetValueNameFn setName) {
  setNames(region, {"q", "k", "b", "h", "i", "j", "d"}, setName);
}

void TileScoreOp::getAsmBlockArgumentNames(Region &region,
                                           OpAsmSetValueNameFn setName) {
  setNames(region, {"s", "b", "h", "i", "j"}, setName);
}

void TileMaskOp::getAsmBlockArgumentNames(Region &region,
                                          OpAsmSetValueNameFn setName) {
  setNames(region, {"b", "h", "i", "j"}, setName);
}

void TileAnyOp::getAsmBlockArgumentNames(Region &region,
                                         OpAsmSetValueNameFn setName) {
  setNames(region, {"b", "h", "i", "j"}, setName);
}

void TileMixOp::getAsmBlockArgumentNames(Region &region,
                                         OpAsmSetValueNameFn setName) {
  setNames(region, {"v", "b", "h", "i", "j", "d"}, setName);
}

void DimSizeOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getDim());
}

void WeightRefOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getWeight());
}
