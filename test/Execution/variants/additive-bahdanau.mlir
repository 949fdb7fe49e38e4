// Additive (Bahdanau) attention with its weights, keys below a length.
//
// The evaluator on independent data: as written, fused, and unfused as
// generic operations.
// RUN: attn-run %s --case %data/variants/additive-bahdanau.npz --reference-only --tolerance=1e-12
// RUN: attn-opt %s --pass-pipeline='builtin.module(attn-name-dims,func.func(attn-fuse-attention))' -o %t.fused.mlir
// RUN: attn-run %t.fused.mlir --case %data/variants/additive-bahdanau.npz --reference-only --tolerance=1e-12
// RUN: attn-opt %s --pass-pipeline='builtin.module(attn-name-dims,func.func(attn-generalize))' -o %t.generic.mlir
// RUN: attn-run %t.generic.mlir --case %data/variants/additive-bahdanau.npz --reference-only --tolerance=1e-12
// A kernel in f32 on the evaluator.
// RUN: sed -e 's/f64/f32/g' %s > %t.mlir
// RUN: attn-run %t.mlir --case %data/variants/additive-bahdanau.npz --random --seed 1 --reference --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<2x3x4xf64> {attn.name = "q"},
    %k: tensor<2x5x6xf64> {attn.name = "k"},
    %v: tensor<2x5x4xf64> {attn.name = "v"},
    %Wq: tensor<4x8xf64> {attn.name = "Wq"},
    %Wk: tensor<6x8xf64> {attn.name = "Wk"},
    %b: tensor<8xf64> {attn.name = "b"},
    %w: tensor<8xf64> {attn.name = "w"},
    %key_lengths: tensor<2xi64> {attn.name = "key_lengths"})
    -> (tensor<2x3x4xf64> {attn.name = "o"},
        tensor<2x3x5xf64> {attn.name = "p"}) {
  %init_q = tensor.empty() : tensor<8x4xf64>
  %init_k = tensor.empty() : tensor<8x6xf64>
  %wq = linalg.transpose ins(%Wq : tensor<4x8xf64>) outs(%init_q : tensor<8x4xf64>) permutation = [1, 0]
  %wk = linalg.transpose ins(%Wk : tensor<6x8xf64>) outs(%init_k : tensor<8x6xf64>) permutation = [1, 0]
  %q1 = attn.linear %q, %wq : tensor<2x3x4xf64>, tensor<8x4xf64> -> tensor<2x3x8xf64>
  %k1 = attn.linear %k, %wk bias(%b) : tensor<2x5x6xf64>, tensor<8x6xf64>, tensor<8xf64> -> tensor<2x5x8xf64>
  %qh = attn.split_heads %q1 heads(1) layout(bshd) : tensor<2x3x8xf64> -> tensor<2x3x1x8xf64>
  %kh = attn.split_heads %k1 heads(1) layout(bshd) : tensor<2x5x8xf64> -> tensor<2x5x1x8xf64>
  %vh = attn.split_heads %v heads(1) layout(bshd) : tensor<2x5x4xf64> -> tensor<2x5x1x4xf64>
  %s0 = attn.additive_scores %qh, %kh, %w layout(bshd) : tensor<2x3x1x8xf64>, tensor<2x5x1x8xf64>, tensor<8xf64> -> tensor<2x1x3x5xf64>
  %s1 = attn.mask %s0 by key_lengths(%key_lengths : tensor<2xi64>) : tensor<2x1x3x5xf64>
  %p = attn.softmax %s1 : tensor<2x1x3x5xf64> -> tensor<2x1x3x5xf64>
  %oh = attn.mix %p, %vh layout(bshd) : tensor<2x1x3x5xf64>, tensor<2x5x1x4xf64> -> tensor<2x3x1x4xf64>
  %o = attn.merge_heads %oh layout(bshd) : tensor<2x3x1x4xf64> -> tensor<2x3x4xf64>
  %weights = tensor.collapse_shape %p [[0, 1], [2], [3]] : tensor<2x1x3x5xf64> into tensor<2x3x5xf64>
  return %o, %weights : tensor<2x3x4xf64>, tensor<2x3x5xf64>
}
