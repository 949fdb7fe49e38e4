//===- AttentionRegions.h - builds the regions of attn.attention *- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The regions of an attention while they grow, one rule after the other, and
// the values that they capture. All regions take all captures, so that a
// capture is one block argument at the same distance from the end in each.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TRANSFORMS_ATTENTIONREGIONS_H
#define ATTN_LIB_TRANSFORMS_ATTENTIONREGIONS_H

#include "attn/Dialect/IR/Attn.h"
#include "mlir/IR/Builders.h"
#include <memory>

namespace attn {

/// A builder at the end of a block that is in no region yet.
inline mlir::OpBuilder builderAtEnd(mlir::Block &block) {
  mlir::OpBuilder builder(block.getArgument(0).getContext());
  builder.setInsertionPointToEnd(&block);
  return builder;
}

class AttentionRegions {
public:
  /// Starts with regions that mean what their absence means. `compute` is the
  /// type of queries, keys, scores and values inside.
  AttentionRegions(mlir::Location loc, mlir::FloatType compute);

  /// The arguments and the insertion point of one region.
  struct Side {
    std::unique_ptr<mlir::Block> block = std::make_unique<mlir::Block>();
    /// The arguments in front of b, h, i and j, and all but the captures.
    unsigned numNumbers = 0, numOwnArguments = 0;

    mlir::ValueRange position() {
      return block->getArguments().slice(numNumbers, 4);
    }
    mlir::Value b() { return position()[0]; }
    mlir::Value h() { return position()[1]; }
    mlir::Value i() { return position()[2]; }
    mlir::Value j() { return position()[3]; }
    /// The channel, of the combine and the value region.
    mlir::Value d() { return block->getArgument(numNumbers + 4); }
    /// The block argument of a capture.
    mlir::Value captured(unsigned index) {
      return block->getArgument(numOwnArguments + index);
    }
    mlir::OpBuilder builder() { return builderAtEnd(*block); }
  };
  Side combine, score, mask, value;

  /// Adds a capture to all regions. One that two rules use is captured twice:
  /// a kernel must not depend on which of its arguments are equal.
  unsigned capture(mlir::Value outside);

  mlir::FloatType computeType() const { return compute; }
  /// The arguments that the regions start from.
  mlir::Value query() { return combine.block->getArgument(0); }
  mlir::Value key() { return combine.block->getArgument(1); }
  mlir::Value initialScore() { return score.block->getArgument(0); }
  mlir::Value initialValue() { return value.block->getArgument(0); }

  /// States one more condition, computed in the mask region: a pair is visible
  /// only if all hold.
  void restrict(mlir::Value condition);
  /// All conditions so far, null if there are none.
  mlir::Value visible() const { return condition; }

  /// What the other regions yield, null for what their absence means.
  mlir::Value combined, finalScore, finalValue;

  /// Adds the terminators and moves the regions that do something into `op`.
  void moveTo(AttentionOp op);

  llvm::SmallVector<mlir::Value> captures;

private:
  mlir::Location loc;
  mlir::FloatType compute;
  mlir::Value condition;
};

} // namespace attn

#endif // ATTN_LIB_TRANSFORMS_ATTENTIONREGIONS_H
