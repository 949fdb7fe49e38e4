// RUN: attn-opt %s --attn-graph-to-fused | FileCheck %s
// RUN: attn-opt %s --emit=fused --fail-if-not-fused | FileCheck %s
// RUN: attn-opt %s --emit=fused --explain 2>&1 >/dev/null | FileCheck %s --check-prefix=EXPLAIN

// Weights that are a result still compile beside the attention: products and
// masks as generic kernels, the softmax as a row-wise one.

// EXPLAIN: unfused.mlir:{{[0-9]+}}:8: missed: scores-kept: the attention weights are a result of the function: the scores are computed a second time, as a tensor; to fix it, use only the result of attn.mix, or ask attn.softmax for its second result, the log-sum-exp [attn-fuse-attention]
// EXPLAIN: done: kernel-formed: generic_0, operations 2 [attn-form-kernels]
// EXPLAIN: note: kernel-cost: generic_0, calls 1, flops 64*dim0*dim1*dim2, bytes 16*dim0*dim1*dim2 + 128*dim0*dim1 + 64*dim0*dim2 [cost-model]
// EXPLAIN: note: kernel-cost: softmax_0, calls 1, flops 0, bytes 32*dim0*dim1*dim2 [cost-model]
// EXPLAIN: note: model-cost: all kernels, calls 4, flops {{[^,]*}}, bytes {{.*}} [cost-model]

// CHECK-LABEL: func.func @weights
// CHECK: attn.call @generic_0
// CHECK: attn.call @generic_1
// CHECK: attn.call @softmax_0
// CHECK: attn.call @attention_0
// CHECK: return
func.func @weights(%q: tensor<?x?x4x8xf32>, %k: tensor<?x?x2x8xf32>, %lengths: tensor<?xi32>)
    -> (tensor<?x?x4x8xf32>, tensor<?x4x?x?xf32>) {
  %s = attn.scores %q, %k layout(bshd) : tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x4x?x?xf32>
  %m = attn.mask %s by key_lengths(%lengths : tensor<?xi32>) : tensor<?x4x?x?xf32>
  %p = attn.softmax %m : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xf32>
  %o = attn.mix %p, %k layout(bshd) : tensor<?x4x?x?xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x4x8xf32>
  return %o, %p : tensor<?x?x4x8xf32>, tensor<?x4x?x?xf32>
}
