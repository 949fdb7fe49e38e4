// RUN: attn-opt %s --attn-graph-to-fused --verify-each | FileCheck %s
// RUN: attn-opt %s --attn-graph-to-fused --attn-graph-to-fused | FileCheck %s

// Two post-norm layers on one input: every kernel of the second is one of the
// first, though the residual of the first is the function's input. The position
// of operands is all that a kernel knows.

// CHECK-COUNT-1: attn.kernel @linear_0(
// CHECK-COUNT-1: attn.kernel @attention_0(
// CHECK-COUNT-1: attn.kernel @linear_norm_0(
// CHECK-NOT: attn.kernel
// CHECK-LABEL: func.func @two_layers
// CHECK: attn.call @linear_0
// CHECK: attn.call @attention_0
// CHECK: attn.call @linear_norm_0
// CHECK: attn.call @linear_0
// CHECK: attn.call @attention_0
// CHECK: attn.call @linear_norm_0
// CHECK-NOT: attn.call
// CHECK: return

attn.dim @batch range(1, 8)
attn.dim @sequence range(1, 64)
attn.weight @wq source<"m.safetensors", "q"> : tensor<16x16xf32>
attn.weight @wk source<"m.safetensors", "k"> : tensor<16x16xf32>
attn.weight @wv source<"m.safetensors", "v"> : tensor<16x16xf32>
attn.weight @wo source<"m.safetensors", "o"> : tensor<16x16xf32>
attn.weight @gamma source<"m.safetensors", "gamma"> : tensor<16xf32>
attn.weight @beta source<"m.safetensors", "beta"> : tensor<16xf32>

func.func @two_layers(%x: tensor<?x?x16xf32> {attn.name = "x", attn.dims = ["batch", "sequence", ""]},
                      %lengths: tensor<?xi64> {attn.name = "lengths"}) -> (tensor<?x?x16xf32> {attn.name = "y"}) {
  %wq = attn.weight_ref @wq : tensor<16x16xf32>
  %wk = attn.weight_ref @wk : tensor<16x16xf32>
  %wv = attn.weight_ref @wv : tensor<16x16xf32>
  %wo = attn.weight_ref @wo : tensor<16x16xf32>
  %gamma = attn.weight_ref @gamma : tensor<16xf32>
  %beta = attn.weight_ref @beta : tensor<16xf32>

  %q0 = attn.linear %x, %wq : tensor<?x?x16xf32>, tensor<16x16xf32> -> tensor<?x?x16xf32>
  %k0 = attn.linear %x, %wk : tensor<?x?x16xf32>, tensor<16x16xf32> -> tensor<?x?x16xf32>
  %v0 = attn.linear %x, %wv : tensor<?x?x16xf32>, tensor<16x16xf32> -> tensor<?x?x16xf32>
  %qh0 = attn.split_heads %q0 heads(2) layout(bhsd) : tensor<?x?x16xf32> -> tensor<?x2x?x8xf32>
  %kh0 = attn.split_heads %k0 heads(2) layout(bhsd) : tensor<?x?x16xf32> -> tensor<?x2x?x8xf32>
  %vh0 = attn.split_heads %v0 heads(2) layout(bhsd) : tensor<?x?x16xf32> -> tensor<?x2x?x8xf32>
  %s0 = attn.scores %qh0, %kh0 layout(bhsd) : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32> -> tensor<?x2x?x?xf32>
  %m0 = attn.mask %s0 by key_lengths(%lengths : tensor<?xi64>) : tensor<?x2x?x?xf32>
  %p0 = attn.softmax %m0 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>
  %h0 = attn.mix %p0, %vh0 layout(bhsd) : tensor<?x2x?x?xf32>, tensor<?x2x?x8xf32> -> tensor<?x2x?x8xf32>
  %c0 = attn.merge_heads %h0 layout(bhsd) : tensor<?x2x?x8xf32> -> tensor<?x?x16xf32>
  %o0 = attn.linear %c0, %wo : tensor<?x?x16xf32>, tensor<16x16xf32> -> tensor<?x?x16xf32>
  %r0 = arith.addf %o0, %x : tensor<?x?x16xf32>
  %y0 = attn.layer_norm %r0, %gamma, %beta epsilon(1.0e-5) : tensor<?x?x16xf32>, tensor<16xf32>, tensor<16xf32>

  %q1 = attn.linear %y0, %wq : tensor<?x?x16xf32>, tensor<16x16xf32> -> tensor<?x?x16xf32>
  %k1 = attn.linear %y0, %wk : tensor<?x?x16xf32>, tensor<16x16xf32> -> tensor<?x?x16xf32>
  %v1 = attn.linear %y0, %wv : tensor<?x?x16xf32>, tensor<16x16xf32> -> tensor<?x?x16xf32>
  %qh1 = attn.split_heads %q1 heads(2) layout(bhsd) : tensor<?x?x16xf32> -> tensor<?x2x?x8xf32>
  %kh1 = attn.split_heads %k1 heads(2) layout(bhsd) : tensor<?x?x16xf32> -> tensor<?x2x?x8xf32>
  %vh1 = attn.split_heads %v1 heads(2) layout(bhsd) : tensor<?x?x16xf32> -> tensor<?x2x?x8xf32>
  %s1 = attn.scores %qh1, %kh1 layout(bhsd) : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32> -> tensor<?x2x?x?xf32>
  %m1 = attn.mask %s1 by key_lengths(%lengths : tensor<?xi64>) : tensor<?x2x?x?xf32>
  %p1 = attn.softmax %m1 : tensor<?x2x?x?xf32> -> tensor<?x2x?x?xf32>
  %h1 = attn.mix %p1, %vh1 layout(bhsd) : tensor<?x2x?x?xf32>, tensor<?x2x?x8xf32> -> tensor<?x2x?x8xf32>
  %c1 = attn.merge_heads %h1 layout(bhsd) : tensor<?x2x?x8xf32> -> tensor<?x?x16xf32>
  %o1 = attn.linear %c1, %wo : tensor<?x?x16xf32>, tensor<16x16xf32> -> tensor<?x?x16xf32>
  %r1 = arith.addf %o1, %x : tensor<?x?x16xf32>
  %y1 = attn.layer_norm %r1, %gamma, %beta epsilon(1.0e-5) : tensor<?x?x16xf32>, tensor<16xf32>, tensor<16xf32>
  return %y1 : tensor<?x?x16xf32>
}
