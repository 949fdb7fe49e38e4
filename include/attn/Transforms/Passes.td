//===- Passes.td - passes inside the attn dialect ----------*- tablegen -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One def a pass, sorted by name. Each says what it is for, shows a before and
// an after, and lists what it requires, guarantees and rejects and where it
// stands in the pipeline.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_PASSES_TD
#define ATTN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttnVerifyFusedPass : Pass<"attn-verify-fused", "::mlir::ModuleOp"> {
  let summary = "deny what must be gone at the fused level";
  let description = [{
    The contract between fusion and tiling. All violations are reported, each at its
    operation; nothing is changed.

    - Requires: nothing.
    - Guarantees: in the host functions stand only kernel calls, weights, sizes, views,
      scalar arithmetic and `attn.check_ids`; no kernel holds `attn.scores`, `attn.mask`,
      `attn.bias`, `attn.mix`, `attn.split_heads`, `attn.merge_heads` or `attn.linear`.
    - Rejects: any other operation on tensors (error at the operation).
    - Place: last pass of `attn-graph-to-fused`.
  }];
}

#endif // ATTN_TRANSFORMS_PASSES_TD
