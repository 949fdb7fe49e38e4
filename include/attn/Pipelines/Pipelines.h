//===- Pipelines.h - the stages of the compiler ----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each stage ends in a contract pass and can be asked for by name
// (--attn-graph-to-fused, --attn-fused-to-tiled). A pass leaves IR of a lower
// level alone, so that a module of any level can enter at the top.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_PIPELINES_PIPELINES_H
#define ATTN_PIPELINES_PIPELINES_H

#include "attn/Transforms/Passes.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace attn {

/// What a user can ask of the first stage.
struct GraphToFusedOptions
    : public mlir::PassPipelineOptions<GraphToFusedOptions> {
  ListOption<std::string> dims{
      *this, "dims",
      llvm::cl::desc("Which sizes must the model take? Ranges of named "
                     "dimensions, each like batch=1..8 or batch=4")};
  Option<bool> failIfNotFused{
      *this, "fail-if-not-fused",
      llvm::cl::desc("Is an attention that cannot be fused an error?"),
      llvm::cl::init(false)};
  Option<int64_t> splitChunk{
      *this, "split-chunk",
      llvm::cl::desc(
          "How many keys has a chunk of attention with few queries?"),
      llvm::cl::init(AttnSplitKeysPassOptions().chunk)};
  Option<int64_t> splitTasks{
      *this, "split-tasks",
      llvm::cl::desc(
          "How many tasks of a batch row keep the processor busy, so "
          "that keys are not split?"),
      llvm::cl::init(AttnSplitKeysPassOptions().tasks)};
};

/// Stage 1, from graph-level operations to kernels and calls.
void buildGraphToFused(mlir::OpPassManager &manager,
                       const GraphToFusedOptions &options);

/// What a user can ask of the second stage.
struct FusedToTiledOptions
    : public mlir::PassPipelineOptions<FusedToTiledOptions> {
  ListOption<std::string> targets{
      *this, "targets",
      llvm::cl::desc(
          "Which CPUs is the model for? x86-64-v2, x86-64-v3, "
          "x86-64-v4, x86-64-v4-amx or arm64; several make one variant each")};
  Option<bool> loops{*this, "loops",
                     llvm::cl::desc("Are kernels plain loops instead of "
                                    "Halide pipelines?"),
                     llvm::cl::init(false)};
};

/// Stage 2, from fused operations to tiled loops with schedules, a target at a
/// time.
void buildFusedToTiled(mlir::OpPassManager &manager,
                       const FusedToTiledOptions &options);

/// Makes the pipelines and passes of this project known by their names.
void registerPipelines();

} // namespace attn

#endif // ATTN_PIPELINES_PIPELINES_H
