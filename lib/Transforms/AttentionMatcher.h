//===- AttentionMatcher.h - finds what becomes attn.attention --*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// From an attn.mix up to the scores that it mixes by: which operations lie
// between, and what keeps them from being one attention.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TRANSFORMS_ATTENTIONMATCHER_H
#define ATTN_LIB_TRANSFORMS_ATTENTIONMATCHER_H

#include "attn/Dialect/IR/Attn.h"
#include "llvm/ADT/SetVector.h"
#include <optional>
#include <string>

namespace attn {

/// Why an attention was not fused: what stands in the way, where, and what a
/// user can do about it.
struct Obstacle {
  mlir::Operation *at = nullptr;
  std::string reason, fix;
};

/// An operation that makes scores of queries and keys.
struct ScoreSource {
  mlir::Operation *op = nullptr;
  mlir::Value query, key;
  Layout layout = Layout::BSHD;

  static ScoreSource of(mlir::Operation *op);
  explicit operator bool() const { return op; }
};

class AttentionMatcher {
public:
  explicit AttentionMatcher(MixOp mix) : mix(mix) {}

  /// Fills in the fields below. Returns what stands in the way, if anything.
  std::optional<Obstacle> match();

  MixOp mix;
  /// Conversions of the weights, the mix's first.
  llvm::SmallVector<mlir::Operation *> conversions;
  SoftmaxOp softmax;
  /// Query, key and value are the tensors of 16 bits where the operations read
  /// conversions of those to f32: attention converts what it reads.
  ScoreSource scores;
  mlir::Value value;
  /// Those conversions, each once.
  llvm::SetVector<mlir::Operation *> widened;
  /// The operations from the scores to the softmax, operands first.
  llvm::SetVector<mlir::Operation *> between;
  /// The first operation whose result is needed elsewhere, too: all scores are
  /// computed once more, as a tensor.
  std::optional<Obstacle> kept;

private:
  void matchWeights();
  mlir::Value asStored(mlir::Value tensor);
  bool dependsOnScores(mlir::Value value);
  void findOtherUsers();
  std::optional<Obstacle> checkHiddenStayHidden();
  std::optional<Obstacle> checkOrder();
  Obstacle noScores();

  llvm::DenseMap<mlir::Value, bool> known;
  llvm::SmallVector<mlir::Operation *> roots;
};

} // namespace attn

#endif // ATTN_LIB_TRANSFORMS_ATTENTIONMATCHER_H
