//===- AttentionRegions.h - builds the regions of attn.attention *- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The score and the mask region while they grow, one rule after the other, and
// the values that they capture. Both regions take all captures, so that a
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
  /// Starts with a score region that returns its score and a mask region that
  /// hides nothing.
  AttentionRegions(mlir::MLIRContext *context, mlir::Location loc,
                   mlir::Type scoreType);

  /// The position (b, h, i, j) and the insertion point of one region.
  struct Side {
    std::unique_ptr<mlir::Block> block = std::make_unique<mlir::Block>();
    unsigned numOwnArguments;

    mlir::ValueRange position() {
      return block->getArguments().slice(numOwnArguments - 4, 4);
    }
    mlir::Value b() { return position()[0]; }
    mlir::Value h() { return position()[1]; }
    mlir::Value i() { return position()[2]; }
    mlir::Value j() { return position()[3]; }
    /// The block argument of a capture.
    mlir::Value captured(unsigned index) {
      return block->getArgument(numOwnArguments + index);
    }
    mlir::OpBuilder builder() { return builderAtEnd(*block); }
  };
  Side score, mask;

  /// Adds a capture to both regions. One that two rules use is captured twice:
  /// a kernel must not depend on which of its arguments are equal.
  unsigned capture(mlir::Value value);

  /// The score of the scores operation.
  mlir::Value initialScore() { return score.block->getArgument(0); }

  /// States one more condition, computed in the mask region: a pair is visible
  /// only if all hold.
  void restrict(mlir::Value condition);
  /// All conditions so far, null if there are none.
  mlir::Value visible() const { return condition; }

  /// Adds the terminators and moves the regions that do something into `op`.
  void moveTo(AttentionOp op, mlir::Value finalScore);

  llvm::SmallVector<mlir::Value> captures;

private:
  mlir::Location loc;
  mlir::Value condition;
};

/// A dimension of a tensor outside.
struct TensorDim {
  mlir::Value tensor;
  unsigned dim;
};

/// Adds the rule of `op` to the regions: a condition to the mask region and,
/// for a dense float mask, its summand to the score region. `score` is the
/// score that the operation masks; returns its result. `queries` and `keys`
/// have the sizes N and M, where the rule needs them; `builder` stands outside.
mlir::Value inlineMask(mlir::OpBuilder &builder, AttentionRegions &regions,
                       MaskOp op, TensorDim queries, TensorDim keys,
                       mlir::Value score);

} // namespace attn

#endif // ATTN_LIB_TRANSFORMS_ATTENTIONREGIONS_H
