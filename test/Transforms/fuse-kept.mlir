// RUN: attn-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(attn-fuse-attention{fail-if-not-fused}))' | FileCheck %s

// Scores or weights that somebody else needs do not keep an attention from being
// fused: the operations stay for that user alone.

// CHECK-LABEL: func.func @weights_are_a_result
// CHECK: %[[S:.*]] = attn.scores
// CHECK: %[[P:.*]] = attn.softmax %[[S]] : tensor<1x1x3x3xf32> -> tensor<1x1x3x3xf32>
// CHECK: %[[O:.*]] = attn.attention
// CHECK-NOT: attn.mix
// CHECK: return %[[O]], %[[P]]
func.func @weights_are_a_result(%q: tensor<1x3x1x2xf32>) -> (tensor<1x3x1x2xf32>, tensor<1x1x3x3xf32>) {
  %s = attn.scores %q, %q layout(bshd) : tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32> -> tensor<1x1x3x3xf32>
  %p = attn.softmax %s : tensor<1x1x3x3xf32> -> tensor<1x1x3x3xf32>
  %o = attn.mix %p, %q layout(bshd) : tensor<1x1x3x3xf32>, tensor<1x3x1x2xf32> -> tensor<1x3x1x2xf32>
  return %o, %p : tensor<1x3x1x2xf32>, tensor<1x1x3x3xf32>
}

// -----

// Weights that stay leave the log-sum-exp to the attention.
// CHECK-LABEL: func.func @log_sum_exp_beside_weights
// CHECK: %[[P:.*]] = attn.softmax %{{.*}} : tensor<1x1x3x3xf32> -> tensor<1x1x3x3xf32>{{$}}
// CHECK: %[[O:.*]], %[[LSE:.*]] = attn.attention
// CHECK: return %[[O]], %[[P]], %[[LSE]]
func.func @log_sum_exp_beside_weights(%q: tensor<1x3x1x2xf32>) -> (tensor<1x3x1x2xf32>, tensor<1x1x3x3xf32>, tensor<1x1x3xf32>) {
  %s = attn.scores %q, %q layout(bshd) : tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32> -> tensor<1x1x3x3xf32>
  %p, %lse = attn.softmax %s : tensor<1x1x3x3xf32> -> tensor<1x1x3x3xf32>, tensor<1x1x3xf32>
  %o = attn.mix %p, %q layout(bshd) : tensor<1x1x3x3xf32>, tensor<1x3x1x2xf32> -> tensor<1x3x1x2xf32>
  return %o, %p, %lse : tensor<1x3x1x2xf32>, tensor<1x1x3x3xf32>, tensor<1x1x3xf32>
}

// -----

// CHECK-LABEL: func.func @masked_scores_have_another_user
// CHECK: %[[M:.*]] = attn.mask
// CHECK-NOT: attn.softmax
// CHECK: attn.relu %[[M]]
// CHECK: attn.attention
func.func @masked_scores_have_another_user(%q: tensor<1x3x1x2xf32>) -> (tensor<1x3x1x2xf32>, tensor<1x1x3x3xf32>) {
  %s = attn.scores %q, %q layout(bshd) : tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32> -> tensor<1x1x3x3xf32>
  %m = attn.mask %s by causal<top_left> : tensor<1x1x3x3xf32>
  %p = attn.softmax %m : tensor<1x1x3x3xf32> -> tensor<1x1x3x3xf32>
  %r = attn.relu %m : tensor<1x1x3x3xf32>
  %o = attn.mix %p, %q layout(bshd) : tensor<1x1x3x3xf32>, tensor<1x3x1x2xf32> -> tensor<1x3x1x2xf32>
  return %o, %r : tensor<1x3x1x2xf32>, tensor<1x1x3x3xf32>
}

// -----

// A use of the log-sum-exp in front of the mix comes behind the attention.
// CHECK-LABEL: func.func @log_sum_exp_is_used_early
// CHECK: %{{.*}}, %[[LSE:.*]] = attn.attention
// CHECK: math.exp %[[LSE]]
func.func @log_sum_exp_is_used_early(%q: tensor<1x3x1x2xf32>) -> (tensor<1x3x1x2xf32>, tensor<1x1x3xf32>) {
  %s = attn.scores %q, %q layout(bshd) : tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32> -> tensor<1x1x3x3xf32>
  %p, %lse = attn.softmax %s : tensor<1x1x3x3xf32> -> tensor<1x1x3x3xf32>, tensor<1x1x3xf32>
  %e = math.exp %lse : tensor<1x1x3xf32>
  %o = attn.mix %p, %q layout(bshd) : tensor<1x1x3x3xf32>, tensor<1x3x1x2xf32> -> tensor<1x3x1x2xf32>
  return %o, %e : tensor<1x3x1x2xf32>, tensor<1x1x3xf32>
}
