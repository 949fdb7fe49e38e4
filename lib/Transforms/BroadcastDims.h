//===- BroadcastDims.h - how sizes of masks and biases meet ----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A mask or a bias broadcasts to the scores. Where its size is known to be that
// of the scores, it is read at the position itself; where it is not, it may be
// 1 when the model runs, or end before the last key, and the position is kept
// inside.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TRANSFORMS_BROADCASTDIMS_H
#define ATTN_LIB_TRANSFORMS_BROADCASTDIMS_H

#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace attn {

class BroadcastDims {
public:
  /// Compares the sizes of all operations of a function, before any of them is
  /// rewritten. Fails with a diagnostic if the names of sizes contradict the
  /// operations.
  static llvm::FailureOr<BroadcastDims> compute(mlir::func::FuncOp func);

  /// Whether a dimension of an operand has the size of the scores.
  bool isExact(mlir::OpOperand &operand, unsigned dim) const {
    return exact.contains(
        {{operand.getOwner(), operand.getOperandNumber()}, dim});
  }

private:
  llvm::DenseSet<std::pair<std::pair<mlir::Operation *, unsigned>, unsigned>>
      exact;
};

} // namespace attn

#endif // ATTN_LIB_TRANSFORMS_BROADCASTDIMS_H
