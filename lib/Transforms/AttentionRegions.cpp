//===- AttentionRegions.cpp - builds regions of attn.attention -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "AttentionRegions.h"

using namespace mlir;
using namespace attn;

AttentionRegions::AttentionRegions(Location loc, FloatType compute)
    : loc(loc), compute(compute) {
  Type index = IndexType::get(loc.getContext());
  // Numbers, then b, h, i, j, and d where values have channels.
  auto start = [&](Side &side, unsigned numbers, unsigned indices) {
    side.numNumbers = numbers;
    side.numOwnArguments = numbers + indices;
    for (unsigned n = 0; n < side.numOwnArguments; ++n)
      side.block->addArgument(n < numbers ? Type(compute) : index, loc);
  };
  start(combine, 2, 5);
  start(score, 1, 4);
  start(mask, 0, 4);
  start(value, 1, 5);
}

unsigned AttentionRegions::capture(Value outside) {
  for (Side *side : {&combine, &score, &mask, &value})
    side->block->addArgument(outside.getType(), loc);
  captures.push_back(outside);
  return captures.size() - 1;
}

void AttentionRegions::restrict(Value next) {
  OpBuilder builder = mask.builder();
  condition =
      condition ? arith::AndIOp::create(builder, next.getLoc(), condition, next)
                      .getResult()
                : next;
}

/// Ends a block with its result and hands it to an empty region.
static void finish(AttentionRegions::Side &side, Region &region, Value result) {
  OpBuilder builder = side.builder();
  YieldOp::create(builder, result.getLoc(), result);
  region.push_back(side.block.release());
}

void AttentionRegions::moveTo(AttentionOp op) {
  if (combined)
    finish(combine, op.getCombine(), combined);
  if (finalScore && finalScore != initialScore())
    finish(score, op.getScore(), finalScore);
  if (condition)
    finish(mask, op.getMask(), condition);
  if (finalValue)
    finish(value, op.getValues(), finalValue);
}
