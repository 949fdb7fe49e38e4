//===- WeightResolver.h - the data behind an attn.weight --------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A weight is a recipe: a tensor of a file, data in the IR, others joined, or
// another packed into panels. The resolver evaluates recipes by ranges, so that
// a model's weights pass through a few hundred kilobytes of memory whatever
// their size: each recipe answers "elements [first, first + count) in row-major
// order" by asking its own sources for the ranges it needs.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_HOST_WEIGHTRESOLVER_H
#define ATTN_TARGET_HOST_WEIGHTRESOLVER_H

#include "attn/Dialect/IR/Attn.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>
#include <vector>

namespace attn {

class WeightResolver {
public:
  /// Weights are looked up in `module`, files in `sourceDir`.
  WeightResolver(mlir::ModuleOp module, llvm::StringRef sourceDir);
  ~WeightResolver();

  /// Checks that the weight's recipe can be evaluated: files open, tensors are
  /// there and have the type and shape of the weight (f16 and bf16 data may
  /// stand for f32). Reports everything that is wrong, at the weights.
  llvm::LogicalResult check(WeightOp weight);

  /// Passes the data of a checked weight to `sink` in order, in chunks of at
  /// most a few hundred kilobytes.
  llvm::LogicalResult
  stream(WeightOp weight,
         llvm::function_ref<llvm::LogicalResult(llvm::ArrayRef<char>)> sink);

  /// The data of a weight in memory: checks, then streams into a vector.
  mlir::FailureOr<std::vector<char>> materialize(WeightOp weight);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Bytes of the weight's data; i1 takes a byte. -1 if that overflows.
int64_t getWeightBytes(WeightOp weight);

} // namespace attn

#endif // ATTN_TARGET_HOST_WEIGHTRESOLVER_H
