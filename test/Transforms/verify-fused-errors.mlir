// RUN: attn-opt %s --split-input-file --verify-diagnostics --attn-verify-fused

func.func @computes(%x: tensor<6x8xf32>, %w: tensor<8x8xf32>) -> tensor<6x8xf32> {
  // expected-error @+1 {{'attn.linear' op expected only kernel calls and views of tensors in a host function (because this is the fused level), got an operation that computes: run attn-form-kernels}}
  %0 = attn.linear %x, %w : tensor<6x8xf32>, tensor<8x8xf32> -> tensor<6x8xf32>
  // expected-error @+1 {{'arith.addf' op expected only kernel calls and views of tensors in a host function}}
  %1 = arith.addf %0, %x : tensor<6x8xf32>
  return %1 : tensor<6x8xf32>
}

// -----

// Views, sizes, calls and scalars are what a host function may hold.
attn.kernel @relu(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %0 = attn.relu %x : tensor<6x8xf32>
  attn.yield %0 : tensor<6x8xf32>
}
func.func @fused(%x: tensor<2x3x8xf32>, %n: index) -> (tensor<2x3x8xf32>, index) {
  %two = arith.constant 2 : index
  %m = arith.muli %n, %two : index
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x3x8xf32> into tensor<6x8xf32>
  %init = tensor.empty() : tensor<6x8xf32>
  %0 = attn.call @relu ins(%rows : tensor<6x8xf32>) outs(%init : tensor<6x8xf32>) -> tensor<6x8xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [2, 3, 8] : tensor<6x8xf32> into tensor<2x3x8xf32>
  return %1, %m : tensor<2x3x8xf32>, index
}

// -----

attn.kernel @graph_level(%x: tensor<6x8xf32>, %w: tensor<8x8xf32>) -> tensor<6x8xf32> {
  // expected-error @+1 {{'attn.linear' op expected an operation of the fused level in a kernel, got one of the graph level: run attn-fuse-attention, attn-fuse-linear and attn-generalize}}
  %0 = attn.linear %x, %w : tensor<6x8xf32>, tensor<8x8xf32> -> tensor<6x8xf32>
  attn.yield %0 : tensor<6x8xf32>
}
