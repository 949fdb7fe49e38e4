// RUN: attn-opt %s --split-input-file --verify-diagnostics --attn-form-kernels

// All of them are named, each where it is.
func.func @no_kernel_can(%x: tensor<4x8xf32>) -> (tensor<4x16xf32>, tensor<5x8xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{'tensor.concat' op expected an operation that a kernel can express (of the attn dialect, element-wise, or of linalg), got one that none can: write it in terms of linalg.generic}}
  %0 = tensor.concat dim(1) %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  // expected-error @+1 {{'tensor.pad' op expected an operation that a kernel can express}}
  %1 = tensor.pad %x low[0, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x8xf32> to tensor<5x8xf32>
  return %0, %1 : tensor<4x16xf32>, tensor<5x8xf32>
}

// -----

func.func @rows_of_table_unknown(%ids: tensor<3xi64>, %table: tensor<?x8xf32>) -> tensor<3x8xf32> {
  // expected-error @+1 {{'attn.embedding' op expected a table with a static number of rows (because ids are checked against it), got 'tensor<?x8xf32>'}}
  %0 = attn.embedding %ids, %table : tensor<3xi64>, tensor<?x8xf32> -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}
