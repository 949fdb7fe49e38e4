// RUN: attn-opt %s --attn-fuse-linear --attn-form-kernels --remarks-filter='attn-.*' 2>&1 >/dev/null | FileCheck %s

// CHECK: remark: [Missed] epilogue-not-fused | Category:attn-fuse-linear | Function=f | Reason="attn.layer_norm stays outside because the value in front of it has other users too", Users=2
// CHECK: remark: [Passed] linear-fused | Category:attn-fuse-linear | Function=f | Captures=1, EpilogueOperations=1, HasNorm=false
// CHECK: remark: [Passed] linear-fused | Category:attn-fuse-linear | Function=f | Captures=1, EpilogueOperations=1, HasNorm=false
// CHECK: remark: [Passed] kernel-formed | Category:attn-form-kernels | Function=f | Operations=1, Remark=linear_0
// CHECK: remark: [Passed] kernel-formed | Category:attn-form-kernels | Function=f | Operations=1, Remark=norm_0
// CHECK: remark: [Passed] kernel-shared | Category:attn-form-kernels | Function=f | Operations=1, Remark=linear_0
func.func @f(%x: tensor<6x8xf32>, %w: tensor<8x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<6x8xf32> {
  %0 = attn.linear %x, %w : tensor<6x8xf32>, tensor<8x8xf32> -> tensor<6x8xf32>
  %1 = arith.addf %0, %x : tensor<6x8xf32>
  %2 = attn.layer_norm %1, %g, %b epsilon(1.0e-5) : tensor<6x8xf32>, tensor<8xf32>, tensor<8xf32>
  %3 = attn.linear %2, %w : tensor<6x8xf32>, tensor<8x8xf32> -> tensor<6x8xf32>
  %4 = arith.addf %3, %1 : tensor<6x8xf32>
  return %4 : tensor<6x8xf32>
}
