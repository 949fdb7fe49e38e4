// RUN: attn-opt %s --attn-graph-to-fused | FileCheck %s

// A layer that is written once and called twice: its function is gone, both
// calls use the same kernels, and what is fused does not stop at the call.

// CHECK: attn.weight @w
// CHECK-COUNT-1: attn.kernel @linear_norm_0
// CHECK-NOT: func.func private
// CHECK-LABEL: func.func @two_layers
// CHECK: attn.call @linear_norm_0
// CHECK: attn.call @linear_norm_0
// CHECK-NOT: call
// CHECK: return
attn.dim @rows range(1, 8)
attn.weight @w source<"m.safetensors", "w"> : tensor<8x8xf32>
attn.weight @g source<"m.safetensors", "g"> : tensor<8xf32>

func.func private @layer(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %w = attn.weight_ref @w : tensor<8x8xf32>
  %0 = attn.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  %1 = arith.addf %0, %x : tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

func.func @two_layers(%x: tensor<?x8xf32> {attn.name = "x", attn.dims = ["rows", ""]}) -> tensor<?x8xf32> {
  %g = attn.weight_ref @g : tensor<8xf32>
  %0 = func.call @layer(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = attn.layer_norm %0, %g, %g epsilon(1.0e-5) : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  %2 = func.call @layer(%1) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %3 = attn.layer_norm %2, %g, %g epsilon(1.0e-5) : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  return %3 : tensor<?x8xf32>
}
