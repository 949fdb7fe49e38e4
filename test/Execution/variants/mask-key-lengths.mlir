// A number of keys for each batch row.
//
// The evaluator on independent data, then a kernel in f32 on the evaluator, at
// sizes of several tiles.
// RUN: attn-run %s --case %data/variants/mask-key-lengths.npz --reference-only --tolerance=1e-12
// RUN: sed -e 's/f64/f32/g' %s > %t.mlir
// RUN: attn-run %t.mlir --case %data/variants/mask-key-lengths.npz --random --seed 1 --dim batch=2 --dim queries=150 --dim keys=300 --reference --tolerance=2e-6,2e-5
// RUN: attn-run %t.mlir --target=x86-64-v2 --case %data/variants/mask-key-lengths.npz --tolerance=2e-6,2e-5

attn.dim @batch range(0, 64)
attn.dim @queries range(0, 4096)
attn.dim @keys range(0, 4096)

func.func @main(
    %q: tensor<?x3x?x4xf64> {attn.name = "q", attn.dims = ["batch", "", "queries", ""]},
    %k: tensor<?x3x?x4xf64> {attn.name = "k", attn.dims = ["batch", "", "keys", ""]},
    %v: tensor<?x3x?x4xf64> {attn.name = "v", attn.dims = ["batch", "", "keys", ""]},
    %key_lengths: tensor<?xi64> {attn.name = "key_lengths", attn.dims = ["batch"]})
    -> (tensor<?x3x?x4xf64> {attn.name = "o", attn.dims = ["batch", "", "queries", ""]},
        tensor<?x3x?xf64> {attn.name = "lse", attn.dims = ["batch", "", "queries"]}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<?x3x?x4xf64>, tensor<?x3x?x4xf64> -> tensor<?x3x?x?xf64>
  %s1 = attn.mask %s0 by key_lengths(%key_lengths : tensor<?xi64>) : tensor<?x3x?x?xf64>
  %p, %lse = attn.softmax %s1 : tensor<?x3x?x?xf64> -> tensor<?x3x?x?xf64>, tensor<?x3x?xf64>
  %o = attn.mix %p, %v layout(bhsd) : tensor<?x3x?x?xf64>, tensor<?x3x?x4xf64> -> tensor<?x3x?x4xf64>
  return %o, %lse : tensor<?x3x?x4xf64>, tensor<?x3x?xf64>
}
