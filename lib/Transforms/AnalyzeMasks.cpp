//===- AnalyzeMasks.cpp - attn-analyze-masks -------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// attn-analyze-masks: writes what the mask analysis proves onto attn.attention,
// so that the decision stands in the IR, where it can be read, tested and
// edited.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/MaskAnalysis.h"
#include "attn/Dialect/IR/Attn.h"
#include "attn/Transforms/Passes.h"
#include "mlir/IR/Remarks.h"

#define DEBUG_TYPE "attn-analyze-masks"

using namespace mlir;

namespace attn {
#define GEN_PASS_DEF_ATTNANALYZEMASKSPASS
#include "attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace attn;

namespace {
struct AttnAnalyzeMasksPass final
    : attn::impl::AttnAnalyzeMasksPassBase<AttnAnalyzeMasksPass> {
  using AttnAnalyzeMasksPassBase::AttnAnalyzeMasksPassBase;

  void runOnOperation() override {
    getOperation()->walk([](AttentionOp op) {
      // Ranges that are there were found before, or were edited.
      if (op.getMask().empty() || op.getKeyRangesAttr())
        return;
      MaskSummary summary = analyzeMask(op);
      op.setKeyRangesAttr(summary.ranges);
      report(op, summary);
    });
  }

private:
  static void report(AttentionOp op, const MaskSummary &summary) {
    auto kernel = op->getParentOfType<KernelOp>();
    auto options =
        remark::RemarkOpts::name("MaskAnalyzed")
            .category(DEBUG_TYPE)
            .function(kernel ? kernel.getName() : StringRef("<no kernel>"));
    size_t ranges = summary.ranges.getRanges().size();
    if (summary.tooLarge) {
      remark::missed(op.getLoc(), options)
          << remark::reason(
                 "the mask has too many cases to be analyzed exactly, so that "
                 "tiles are tested when the kernel runs")
          << remark::suggest(
                 "write it with fewer comparisons, min, max and abs")
          << remark::metric("AffineAtoms", summary.affineAtoms)
          << remark::metric("OpaqueAtoms", summary.opaqueAtoms)
          << remark::metric("Ranges", ranges);
      return;
    }
    remark::analysis(op.getLoc(), options)
        << remark::metric("AffineAtoms", summary.affineAtoms)
        << remark::metric("OpaqueAtoms", summary.opaqueAtoms)
        << remark::metric("Exact", summary.ranges.getExact())
        << remark::metric("Ranges", ranges);
  }
};
} // namespace
