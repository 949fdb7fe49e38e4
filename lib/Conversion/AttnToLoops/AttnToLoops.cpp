//===- AttnToLoops.cpp - convert-attn-to-loops -----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// convert-attn-to-loops: kernels become functions, what they compute
// linalg.generic. Everything that the patterns cannot take is reported before
// the first of them runs, at the operation and in the user's words.
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/AttnToLoops/AttnToLoops.h"
#include "SafeScalars.h"
#include "attn/Conversion/Passes.h"
#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/StringSet.h"

#define DEBUG_TYPE "convert-attn-to-loops"

using namespace mlir;

namespace attn {
#define GEN_PASS_DEF_CONVERTATTNTOLOOPSPASS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace attn;

//===----------------------------------------------------------------------===//
// What can be lowered
//===----------------------------------------------------------------------===//

/// Whether an operation is a tensor of one value.
static bool isSplat(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  return constant && isa<RankedTensorType>(constant.getType()) &&
         isa<SplatElementsAttr>(constant.getValue());
}

/// Whether one of the patterns takes an operation of the attn dialect.
static bool isLowered(Operation *op) {
  return isa<EmbeddingOp, FusedLinearOp, GeluOp, KernelOp, L2NormalizeOp,
             LayerNormOp, LearnedPositionsOp, PackOp, PoolOp, ReluOp, RmsNormOp,
             SinusoidalOp, SoftmaxOp, TileAnyOp, TileExpOp, TileFillOp,
             TileFinishOp, TileLoadOp, TileMaskOp, TileMaxOp, TileMixOp,
             TileRescaleOp, TileScoreOp, TileScoresOp, TileSumOp, YieldOp>(op);
}

static bool hasTile(Operation *op) {
  auto isTile = [](Type type) { return isa<TileType>(type); };
  return llvm::any_of(op->getOperandTypes(), isTile) ||
         llvm::any_of(op->getResultTypes(), isTile);
}

/// Verifies that a kernel holds
///   - no attention but tiled one,
///   - of the attn dialect only what kernels consist of,
///   - tiles only in operations that carry them from one to the other.
static LogicalResult check(KernelOp kernel) {
  bool ok = true;
  kernel.walk([&](Operation *op) {
    if (isa<AttentionOp>(op)) {
      op->emitOpError("expected tiled loops (because the loops lowering starts "
                      "at the tiled level), got an operation of the fused "
                      "level: run attn-tile");
      ok = false;
    } else if (isa<AttnDialect>(op->getDialect()) && !isLowered(op)) {
      op->emitOpError("expected an operation that kernels consist of, got one "
                      "of the graph level: run attn-graph-to-fused");
      ok = false;
    } else if (hasTile(op) && !isa<AttnDialect>(op->getDialect()) &&
               !isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::ConditionOp,
                    scf::YieldOp>(op)) {
      op->emitOpError("expected tiles in operations of the attn dialect and in "
                      "scf.for, scf.if and scf.while only, got one here");
      ok = false;
    }
  });
  return success(ok);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Puts a function of the same name and body in the kernel's place.
static func::FuncOp makeFunction(KernelOp kernel) {
  OpBuilder builder(kernel);
  auto function = func::FuncOp::create(
      builder, kernel.getLoc(), kernel.getSymName(), kernel.getFunctionType());
  function.setPrivate();
  function.getBody().takeBody(kernel.getBody());
  Operation *yield = function.front().getTerminator();
  builder.setInsertionPoint(yield);
  func::ReturnOp::create(builder, yield->getLoc(), yield->getOperands());
  yield->erase();
  kernel.erase();
  return function;
}

/// What was in destination style becomes plain: outputs are never read.
static void makeFunctionCalls(ModuleOp module,
                              const llvm::StringSet<> &functions) {
  module.walk([&](CallOp call) {
    if (call->getParentOfType<ModuleOp>() != module ||
        !functions.contains(call.getCallee()))
      return;
    OpBuilder builder(call);
    auto plain = func::CallOp::create(builder, call.getLoc(), call.getCallee(),
                                      call.getResultTypes(), call.getInputs());
    SmallVector<Value> outputs = llvm::to_vector(call.getOutputs());
    call->replaceAllUsesWith(plain);
    call.erase();
    for (Value output : outputs)
      if (auto empty = output.getDefiningOp<tensor::EmptyOp>();
          empty && empty->use_empty())
        empty.erase();
  });
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct ConvertAttnToLoopsPass final
    : attn::impl::ConvertAttnToLoopsPassBase<ConvertAttnToLoopsPass> {
  using ConvertAttnToLoopsPassBase::ConvertAttnToLoopsPassBase;

  void runOnOperation() override {
    bool ok = true;
    // Each module that holds kernels has its own calls.
    getOperation()->walk([&](ModuleOp module) {
      if (failed(lowerKernels(module)))
        ok = false;
    });
    if (!ok)
      signalPassFailure();
  }

private:
  LogicalResult lowerKernels(ModuleOp module) {
    SmallVector<KernelOp> kernels;
    bool ok = true;
    for (KernelOp kernel : module.getOps<KernelOp>()) {
      if (!isa_and_present<LoopsScheduleAttr>(kernel.getScheduleAttr()))
        continue;
      kernels.push_back(kernel);
      ok &= succeeded(check(kernel));
    }
    if (!ok)
      return failure();
    llvm::StringSet<> names;
    SmallVector<func::FuncOp> functions;
    for (KernelOp kernel : kernels) {
      names.insert(kernel.getSymName());
      keepIndicesInside(kernel);
      functions.push_back(makeFunction(kernel));
    }
    makeFunctionCalls(module, names);
    for (func::FuncOp function : functions) {
      if (failed(lowerBody(function)))
        return failure();
      makeDivisionsSafe(function);
    }
    return success();
  }

  LogicalResult lowerBody(func::FuncOp function) {
    MLIRContext *context = &getContext();
    TypeConverter converter;
    addTileConversions(converter);
    RewritePatternSet patterns(context);
    ConversionTarget target(*context);
    target.addIllegalDialect<AttnDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *op) {
      return !isElementwiseOnTensors(op) && !isSplat(op);
    });
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    populateTileToLinalgPatterns(converter, patterns);
    populateLinearToLinalgPatterns(patterns);
    populateRowNormsToLinalgPatterns(patterns);
    populatePositionsToLinalgPatterns(patterns);
    populateElementwiseToLinalgPatterns(patterns);
    return applyPartialConversion(function, target, std::move(patterns));
  }
};
} // namespace
