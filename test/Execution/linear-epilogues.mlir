// RUN: attn-opt %s --emit=fused | FileCheck %s
// RUN: attn-run %s --random --dim b=3 --dim n=5 --reference

// Bias, activation, a residual on the left and a norm in one kernel; in another
// an epilogue that reads its product twice and whose value a row-wise kernel
// goes on with.

// CHECK-LABEL: func.func @layers
// CHECK-DAG: attn.call @linear_norm_0
// CHECK-DAG: attn.call @linear_0
// CHECK: attn.call @softmax_0
// CHECK-NOT: attn.call

attn.dim @b range(1, 4)
attn.dim @n range(1, 64)
func.func @layers(%x: tensor<?x?x16xf32> {attn.name = "x", attn.dims = ["b", "n", ""]}, %r: tensor<?x?x24xf32> {attn.name = "r", attn.dims = ["b", "n", ""]},
   %w: tensor<24x16xf32>, %bias: tensor<24xf32>, %g: tensor<24xf32>) -> (tensor<?x?x24xf32>, tensor<?x?x24xf32>, tensor<?x?x24xf32>) {
  %0 = attn.linear %x, %w bias(%bias) : tensor<?x?x16xf32>, tensor<24x16xf32>, tensor<24xf32> -> tensor<?x?x24xf32>
  %1 = attn.gelu %0<tanh> : tensor<?x?x24xf32>
  %2 = arith.subf %r, %1 : tensor<?x?x24xf32>
  %3 = attn.layer_norm %2, %g, %bias epsilon(1.0e-5) : tensor<?x?x24xf32>, tensor<24xf32>, tensor<24xf32>
  %4 = attn.linear %x, %w : tensor<?x?x16xf32>, tensor<24x16xf32> -> tensor<?x?x24xf32>
  %5 = arith.negf %4 : tensor<?x?x24xf32>
  %6 = math.exp %5 : tensor<?x?x24xf32>
  %7 = arith.addf %6, %r : tensor<?x?x24xf32>
  %8 = arith.divf %4, %7 : tensor<?x?x24xf32>
  %9 = arith.addf %7, %8 : tensor<?x?x24xf32>
  %10 = attn.softmax %9 : tensor<?x?x24xf32> -> tensor<?x?x24xf32>
  %11 = arith.mulf %10, %9 : tensor<?x?x24xf32>
  return %3, %11, %7 : tensor<?x?x24xf32>, tensor<?x?x24xf32>, tensor<?x?x24xf32>
}
