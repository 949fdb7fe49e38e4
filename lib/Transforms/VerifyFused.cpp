//===- VerifyFused.cpp - attn-verify-fused ---------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// attn-verify-fused: the contract at the end of fusion. Host functions are
// checked against what the host target can lower, kernels against what no
// kernel emitter takes. It lists every violation before it fails.
//
//===----------------------------------------------------------------------===//

#include "KernelGroups.h"
#include "attn/Dialect/IR/Attn.h"
#include "attn/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#define DEBUG_TYPE "attn-verify-fused"

using namespace mlir;

namespace attn {
#define GEN_PASS_DEF_ATTNVERIFYFUSEDPASS
#include "attn/Transforms/Passes.h.inc"
} // namespace attn

namespace {

struct AttnVerifyFusedPass final
    : attn::impl::AttnVerifyFusedPassBase<AttnVerifyFusedPass> {
  using AttnVerifyFusedPassBase::AttnVerifyFusedPassBase;

  void runOnOperation() override {
    bool failed = false;
    getOperation()->walk([&](func::FuncOp func) { failed |= !verify(func); });
    getOperation()->walk(
        [&](attn::KernelOp kernel) { failed |= !verify(kernel); });
    if (failed)
      signalPassFailure();
  }

private:
  /// Verifies that a host function holds nothing that computes on tensors.
  bool verify(func::FuncOp func) {
    bool ok = true;
    for (Operation &op : func.getOps())
      if (!attn::isHostOp(&op)) {
        op.emitOpError("expected only kernel calls and views of tensors in a "
                       "host function (because this is the fused level), got "
                       "an operation that computes: run attn-form-kernels");
        ok = false;
      }
    return ok;
  }

  /// Verifies that a kernel holds no operation that fusion must have replaced.
  bool verify(attn::KernelOp kernel) {
    bool ok = true;
    kernel->walk([&](Operation *op) {
      auto softmax = dyn_cast<attn::SoftmaxOp>(op);
      if (!isa<attn::ScoresOp, attn::AdditiveScoresOp, attn::MaskOp,
               attn::BiasOp, attn::SoftcapOp, attn::AlibiOp, attn::T5BiasOp,
               attn::MixOp, attn::RotaryOp, attn::MergeAttentionOp,
               attn::SplitHeadsOp, attn::MergeHeadsOp, attn::LinearOp>(op) &&
          !(softmax && softmax.getSinks()))
        return;
      op->emitOpError("expected an operation of the fused level in a kernel, "
                      "got one of the graph level: run attn-fuse-attention, "
                      "attn-fuse-linear and attn-generalize");
      ok = false;
    });
    return ok;
  }
};

} // namespace
