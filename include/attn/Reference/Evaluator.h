//===- Evaluator.h - what a module computes, in f64 -------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The oracle of the tests: plain loops, one an operation, written to be read
// beside the formulas of the dialect's documentation. It evaluates the graph
// and the fused level, and knows nothing of tiles, schedules or targets. It is
// slow and is never a way to run a model.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REFERENCE_EVALUATOR_H
#define ATTN_REFERENCE_EVALUATOR_H

#include "attn/Dialect/IR/Attn.h"
#include "attn/Reference/Tensor.h"

#include <functional>

namespace attn {

struct EvaluatorOptions {
  /// Reads a weight with the recipe `source`. The evaluator makes the others
  /// (`value`, `concat`, `pack`) itself. Without it, such a weight is an error.
  std::function<llvm::Expected<Tensor>(WeightOp)> readSource;
  /// The most memory that tensors may take at a time, inputs included. More is
  /// an error at the operation whose result would pass it.
  uint64_t maxBytes = uint64_t(4) << 30;
  /// Rounds as a plain evaluation in the types of the IR does: each step of a
  /// sum and of a formula to f32, for f64 tensors each step of a sum to f64
  /// (otherwise sums are kept in more bits), each result to its type. How far
  /// that is from the exact result is what a kernel is held against.
  bool isPlain = false;
};

/// Evaluates the one public function of a module. An error names the operation
/// and where it stands; wrong inputs are all named.
llvm::Expected<llvm::SmallVector<Tensor>>
evaluate(mlir::ModuleOp module, llvm::ArrayRef<Tensor> inputs,
         const EvaluatorOptions &options = {});

} // namespace attn

#endif // ATTN_REFERENCE_EVALUATOR_H
