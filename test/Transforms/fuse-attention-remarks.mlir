// RUN: attn-opt %s --pass-pipeline='builtin.module(func.func(attn-fuse-attention))' --remarks-filter='attn-.*' 2>&1 >/dev/null | FileCheck %s
// RUN: attn-opt %s --pass-pipeline='builtin.module(func.func(attn-fuse-attention))' | FileCheck %s --check-prefix=IR

// Every outcome is said, and without fail-if-not-fused none is an error.

// CHECK: fuse-attention-remarks.mlir:[[# @LINE + 13]]:8: remark: [Passed] attention-fused | Category:attn-fuse-attention | Function=fused | Captures=1, HasMaskRegion=true, HasScoreRegion=false, OperationsReplaced=4
// CHECK: remark: [Missed] scores-kept | Category:attn-fuse-attention | Function=kept | Reason="the attention weights are a result of the function: the scores are computed a second time, as a tensor", Suggestion="use only the result of attn.mix, or ask attn.softmax for its second result, the log-sum-exp"
// CHECK: remark: [Passed] attention-fused | Category:attn-fuse-attention | Function=kept
// CHECK: remark: [Missed] attention-not-fused | Category:attn-fuse-attention | Function=not_fused | Reason="the weights are not the result of an attn.softmax", Suggestion="normalise the scores by attn.softmax"
// CHECK: remark: [Missed] attention-not-fused | Category:attn-fuse-attention | Function=not_fused | Reason="no attn.mix uses the softmax of these scores"
// CHECK-NOT: remark:

// IR-LABEL: func.func @fused
// IR: attn.attention
func.func @fused(%q: tensor<1x3x1x2xf32>, %lengths: tensor<1xi64>) -> tensor<1x3x1x2xf32> {
  %s = attn.scores %q, %q layout(bshd) : tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32> -> tensor<1x1x3x3xf32>
  %m = attn.mask %s by key_lengths(%lengths : tensor<1xi64>) : tensor<1x1x3x3xf32>
  %p = attn.softmax %m : tensor<1x1x3x3xf32> -> tensor<1x1x3x3xf32>
  %o = attn.mix %p, %q layout(bshd) : tensor<1x1x3x3xf32>, tensor<1x3x1x2xf32> -> tensor<1x3x1x2xf32>
  return %o : tensor<1x3x1x2xf32>
}

// IR-LABEL: func.func @kept
// IR-NEXT: attn.scores
// IR-NEXT: attn.softmax
// IR: attn.attention
// IR-NEXT: return
func.func @kept(%q: tensor<1x3x1x2xf32>) -> (tensor<1x3x1x2xf32>, tensor<1x1x3x3xf32>) {
  %s = attn.scores %q, %q layout(bshd) : tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32> -> tensor<1x1x3x3xf32>
  %p = attn.softmax %s : tensor<1x1x3x3xf32> -> tensor<1x1x3x3xf32>
  %o = attn.mix %p, %q layout(bshd) : tensor<1x1x3x3xf32>, tensor<1x3x1x2xf32> -> tensor<1x3x1x2xf32>
  return %o, %p : tensor<1x3x1x2xf32>, tensor<1x1x3x3xf32>
}

// IR-LABEL: func.func @not_fused
// IR-NEXT: attn.scores
// IR-NEXT: attn.mix
// IR-NEXT: return
func.func @not_fused(%q: tensor<1x3x1x2xf32>) -> tensor<1x3x1x2xf32> {
  %s = attn.scores %q, %q layout(bshd) : tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32> -> tensor<1x1x3x3xf32>
  %o = attn.mix %s, %q layout(bshd) : tensor<1x1x3x3xf32>, tensor<1x3x1x2xf32> -> tensor<1x3x1x2xf32>
  return %o : tensor<1x3x1x2xf32>
}
