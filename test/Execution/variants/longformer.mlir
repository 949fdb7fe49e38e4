// Longformer: a window of two on each side, and global tokens.
//
// The evaluator on independent data: as written, fused, and unfused as
// generic operations.
// RUN: attn-run %s --case %data/variants/longformer.npz --reference-only --tolerance=1e-12
// RUN: attn-opt %s --pass-pipeline='builtin.module(attn-name-dims,func.func(attn-fuse-attention))' -o %t.fused.mlir
// RUN: attn-run %t.fused.mlir --case %data/variants/longformer.npz --reference-only --tolerance=1e-12
// RUN: attn-opt %s --pass-pipeline='builtin.module(attn-name-dims,func.func(attn-generalize))' -o %t.generic.mlir
// RUN: attn-run %t.generic.mlir --case %data/variants/longformer.npz --reference-only --tolerance=1e-12
// A kernel in f32 on the evaluator.
// RUN: sed -e 's/f64/f32/g' %s > %t.mlir
// RUN: attn-run %t.mlir --case %data/variants/longformer.npz --random --seed 1 --reference --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<1x2x14x4xf64> {attn.name = "q"},
    %k: tensor<1x2x14x4xf64> {attn.name = "k"},
    %v: tensor<1x2x14x4xf64> {attn.name = "v"})
    -> (tensor<1x2x14x4xf64> {attn.name = "o"},
        tensor<1x2x14xf64> {attn.name = "lse"}) {
  %positions = arith.constant dense<[true, false, false, false, false, false, false, true, false, false, false, false, false, false]> : tensor<14xi1>
  %flags = tensor.expand_shape %positions [[0, 1]] output_shape [1, 14] : tensor<14xi1> into tensor<1x14xi1>
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<1x2x14x4xf64>, tensor<1x2x14x4xf64> -> tensor<1x2x14x14xf64>
  %s1 = attn.mask %s0 by any_of<[window<left = 2, right = 2>, global]>(%flags, %flags : tensor<1x14xi1>, tensor<1x14xi1>) : tensor<1x2x14x14xf64>
  %p, %lse = attn.softmax %s1 : tensor<1x2x14x14xf64> -> tensor<1x2x14x14xf64>, tensor<1x2x14xf64>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x2x14x14xf64>, tensor<1x2x14x4xf64> -> tensor<1x2x14x4xf64>
  return %o, %lse : tensor<1x2x14x4xf64>, tensor<1x2x14xf64>
}
