//===- Generalize.cpp - attn-generalize ------------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// attn-generalize: what fusion had to leave alone still compiles. Products of
// scores and of weights with values become contractions, masks and score rules
// element-wise operations with broadcasts, all as linalg.generic; so do rotary
// positions, merges and the stores of a cache, which stand beside attention.
// Concatenation becomes stores of slices.
//
//===----------------------------------------------------------------------===//

#include "GeneralizeAttention.h"
#include "HostLoops.h"
#include "RuleInliner.h"
#include "attn/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/TypeSwitch.h"

#define DEBUG_TYPE "attn-generalize"

using namespace mlir;

namespace attn {
#define GEN_PASS_DEF_ATTNGENERALIZEPASS
#include "attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace attn;

namespace {

struct AttnGeneralizePass final
    : attn::impl::AttnGeneralizePassBase<AttnGeneralizePass> {
  using AttnGeneralizePassBase::AttnGeneralizePassBase;

  void runOnOperation() override {
    FailureOr<BroadcastDims> broadcasts =
        BroadcastDims::compute(getOperation());
    if (failed(broadcasts))
      return signalPassFailure();
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (hasGenericForm(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      remark::passed(op->getLoc(), remark::RemarkOpts::name("generalized")
                                       .category(DEBUG_TYPE)
                                       .function(getOperation().getSymName()))
          << remark::add("{0}", op->getName().getStringRef().str());
      rewrite(op, *broadcasts);
    }
    makeHostLoops();
  }

private:
  static bool hasGenericForm(Operation *op) {
    if (auto softmax = dyn_cast<SoftmaxOp>(op))
      return bool(softmax.getSinks());
    return isa<ScoresOp, AdditiveScoresOp, MixOp, MaskOp, RotaryOp,
               MergeAttentionOp, CacheAppendOp, tensor::ConcatOp>(op) ||
           isScoreRule(op) || isNamedLinalg(op);
  }

  /// A fill stays: a kernel reads its initial value from it.
  static bool isNamedLinalg(Operation *op) {
    return isa<linalg::LinalgOp>(op) &&
           !isa<linalg::GenericOp, linalg::FillOp>(op);
  }

  /// Parts side by side are slices of one tensor.
  static void placeParts(tensor::ConcatOp op) {
    OpBuilder builder(op);
    FailureOr<SmallVector<Value>> whole = op.decomposeOperation(builder);
    if (failed(whole))
      return;
    op.getResult().replaceAllUsesWith(whole->front());
    op.erase();
  }

  /// Element-wise operations that no kernel takes.
  void makeHostLoops() {
    SmallVector<Operation *> ops;
    for (Operation &op : getOperation().getBody().front())
      if (isHostElementwise(&op))
        ops.push_back(&op);
    for (Operation *op : ops) {
      remark::passed(op->getLoc(), remark::RemarkOpts::name("host-loop")
                                       .category(DEBUG_TYPE)
                                       .function(getOperation().getSymName()))
          << remark::add("{0}", op->getName().getStringRef().str());
      makeHostLoop(op);
    }
  }

  static void rewrite(Operation *op, const BroadcastDims &broadcasts) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<ScoresOp, AdditiveScoresOp>(
            [&](auto op) { generalizeScores(op, broadcasts); })
        .Case([&](MixOp op) { generalizeMix(op, broadcasts); })
        .Case<MaskOp, BiasOp, SoftcapOp, AlibiOp, T5BiasOp>(
            [&](auto op) { generalizeScoreRule(op, broadcasts); })
        .Case([&](SoftmaxOp op) { generalizeSinks(op); })
        .Case([&](RotaryOp op) { generalizeRotary(op); })
        .Case([&](MergeAttentionOp op) { generalizeMerge(op); })
        .Case([&](CacheAppendOp op) { generalizeCacheAppend(op); })
        .Case([&](tensor::ConcatOp op) { placeParts(op); })
        .Default([&](Operation *op) {
          IRRewriter rewriter(op);
          // What has no generic form stays and is reported when its kernel is
          // compiled.
          (void)linalg::generalizeNamedOp(rewriter, cast<linalg::LinalgOp>(op));
        });
  }
};

} // namespace
