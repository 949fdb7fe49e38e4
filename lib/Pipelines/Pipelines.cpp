//===- Pipelines.cpp - the stages of the compiler --------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The order of the passes, with the reason for each place.
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Pipelines.h"
#include "attn/Conversion/Passes.h"
#include "attn/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void attn::buildGraphToFused(OpPassManager &manager,
                             const GraphToFusedOptions &options) {
  // Layers that are written as private functions become part of the entry.
  // Without the simplifications that the inliner does by default: what a pass
  // needs is a pass.
  manager.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  manager.addPass(createSymbolDCEPass());
  // Names before all else: every later pass asks for sizes by name.
  AttnNameDimsPassOptions names;
  names.dims = llvm::to_vector(options.dims);
  manager.addPass(createAttnNameDimsPass(names));
  // Attention before linear layers: three of them become one because their
  // results feed one attention.
  AttnFuseAttentionPassOptions fuse;
  fuse.failIfNotFused = options.failIfNotFused;
  manager.addNestedPass<func::FuncOp>(createAttnFuseAttentionPass(fuse));
  manager.addPass(createAttnFuseLinearPass());
  manager.addNestedPass<func::FuncOp>(createAttnFoldHeadsPass());
  AttnSplitKeysPassOptions split;
  split.chunk = options.splitChunk;
  split.tasks = options.splitTasks;
  manager.addNestedPass<func::FuncOp>(createAttnSplitKeysPass(split));
  // Whatever is left of attention, and the transpositions of the step before.
  manager.addNestedPass<func::FuncOp>(createAttnGeneralizePass());
  manager.addPass(createAttnFormKernelsPass());
  manager.addPass(createAttnVerifyFusedPass());
}

void attn::buildFusedToTiled(OpPassManager &manager,
                             const FusedToTiledOptions &options) {
  // Masks do not depend on the target: they are analyzed once, before there is
  // a module for each.
  manager.addPass(createAttnAnalyzeMasksPass());
  AttnSelectTargetsPassOptions select;
  select.targets = llvm::to_vector(options.targets);
  manager.addPass(createAttnSelectTargetsPass(select));
  manager.addPass(createAttnTilePass());
  // Schedules follow the tiles that are there.
  AttnSchedulePassOptions schedule;
  schedule.loops = options.loops;
  manager.addPass(createAttnSchedulePass(schedule));
  manager.addPass(createAttnVerifyTiledPass());
}

void attn::registerPipelines() {
  registerAttnPasses();
  registerAttnConversionPasses();
  PassPipelineRegistration<GraphToFusedOptions>(
      "attn-graph-to-fused",
      "from graph-level operations to kernels, each one fused operation",
      buildGraphToFused);
  PassPipelineRegistration<FusedToTiledOptions>(
      "attn-fused-to-tiled",
      "from fused operations to tiled loops with schedules", buildFusedToTiled);
}
