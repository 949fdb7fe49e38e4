// Sinusoidal positions, halves: added to zeros.
//
// RUN: attn-run %s --case %data/variants/sinusoid-halves.npz --reference-only --tolerance=1e-12
// RUN: sed -e 's/f64/f32/g' %s > %t.mlir
// RUN: attn-run %t.mlir --case %data/variants/sinusoid-halves.npz --tolerance=2e-6,2e-5
// RUN: attn-run %t.mlir --target=x86-64-v2 --case %data/variants/sinusoid-halves.npz --tolerance=2e-6,2e-5

func.func @main() -> (tensor<12x8xf64> {attn.name = "table"}) {
  %zeros = arith.constant dense<0.0> : tensor<1x12x8xf64>
  %0 = attn.sinusoidal %zeros<halves> : tensor<1x12x8xf64>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<1x12x8xf64> into tensor<12x8xf64>
  return %1 : tensor<12x8xf64>
}
