//===- AttentionRegions.cpp - builds regions of attn.attention -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "AttentionRegions.h"

using namespace mlir;
using namespace attn;

AttentionRegions::AttentionRegions(MLIRContext *context, Location loc,
                                   Type scoreType)
    : loc(loc) {
  score.block->addArgument(scoreType, loc);
  for (Side *side : {&score, &mask}) {
    for (unsigned n = 0; n < 4; ++n)
      side->block->addArgument(IndexType::get(context), loc);
    side->numOwnArguments = side->block->getNumArguments();
  }
}

unsigned AttentionRegions::capture(Value value) {
  for (Side *side : {&score, &mask})
    side->block->addArgument(value.getType(), loc);
  captures.push_back(value);
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
static void finish(std::unique_ptr<Block> block, Region &region, Value result) {
  OpBuilder builder = builderAtEnd(*block);
  YieldOp::create(builder, result.getLoc(), result);
  region.push_back(block.release());
}

void AttentionRegions::moveTo(AttentionOp op, Value finalScore) {
  if (finalScore != initialScore())
    finish(std::move(score.block), op.getScore(), finalScore);
  if (condition)
    finish(std::move(mask.block), op.getMask(), condition);
}
