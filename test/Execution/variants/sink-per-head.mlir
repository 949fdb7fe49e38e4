// A learned logit of each head joins the sum of a causal softmax.
//
// The evaluator on independent data: as written, fused, and unfused as
// generic operations.
// RUN: attn-run %s --case %data/variants/sink-per-head.npz --reference-only --tolerance=1e-12
// RUN: attn-opt %s --pass-pipeline='builtin.module(attn-name-dims,func.func(attn-fuse-attention))' -o %t.fused.mlir
// RUN: attn-run %t.fused.mlir --case %data/variants/sink-per-head.npz --reference-only --tolerance=1e-12
// RUN: attn-opt %s --pass-pipeline='builtin.module(attn-name-dims,func.func(attn-generalize))' -o %t.generic.mlir
// RUN: attn-run %t.generic.mlir --case %data/variants/sink-per-head.npz --reference-only --tolerance=1e-12
// A kernel in f32 on the evaluator, at sizes of several tiles.
// RUN: sed -e 's/f64/f32/g' %s > %t.mlir
// RUN: attn-run %t.mlir --case %data/variants/sink-per-head.npz --random --seed 1 --dim batch=1 --dim queries=150 --dim keys=300 --reference --tolerance=2e-6,2e-5

attn.dim @batch range(0, 64)
attn.dim @queries range(0, 4096)
attn.dim @keys range(0, 4096)

func.func @main(
    %q: tensor<?x4x?x8xf64> {attn.name = "q", attn.dims = ["batch", "", "queries", ""]},
    %k: tensor<?x4x?x8xf64> {attn.name = "k", attn.dims = ["batch", "", "keys", ""]},
    %v: tensor<?x4x?x8xf64> {attn.name = "v", attn.dims = ["batch", "", "keys", ""]},
    %sink: tensor<4xf64> {attn.name = "sink"})
    -> (tensor<?x4x?x8xf64> {attn.name = "o", attn.dims = ["batch", "", "queries", ""]},
        tensor<?x4x?xf64> {attn.name = "lse", attn.dims = ["batch", "", "queries"]}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<?x4x?x8xf64>, tensor<?x4x?x8xf64> -> tensor<?x4x?x?xf64>
  %s1 = attn.mask %s0 by causal<top_left> : tensor<?x4x?x?xf64>
  %p, %lse = attn.softmax %s1 sinks(%sink : tensor<4xf64>) : tensor<?x4x?x?xf64> -> tensor<?x4x?x?xf64>, tensor<?x4x?xf64>
  %o = attn.mix %p, %v layout(bhsd) : tensor<?x4x?x?xf64>, tensor<?x4x?x8xf64> -> tensor<?x4x?x8xf64>
  // The data's log-sum-exp is without the sink: log(exp(lse) - exp(sink)).
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %batch = tensor.dim %q, %c0 : tensor<?x4x?x8xf64>
  %queries = tensor.dim %q, %c2 : tensor<?x4x?x8xf64>
  %init = tensor.empty(%batch, %queries) : tensor<?x4x?xf64>
  %without = linalg.generic {
      indexing_maps = [affine_map<(b, h, i) -> (b, h, i)>, affine_map<(b, h, i) -> (h)>, affine_map<(b, h, i) -> (b, h, i)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%lse, %sink : tensor<?x4x?xf64>, tensor<4xf64>) outs(%init : tensor<?x4x?xf64>) {
  ^bb0(%with: f64, %logit: f64, %out: f64):
    %one = arith.constant 1.0 : f64
    %0 = arith.subf %logit, %with : f64
    %1 = math.exp %0 : f64
    %2 = arith.subf %one, %1 : f64
    %3 = math.log %2 : f64
    %4 = arith.addf %with, %3 : f64
    linalg.yield %4 : f64
  } -> tensor<?x4x?xf64>
  return %o, %without : tensor<?x4x?x8xf64>, tensor<?x4x?xf64>
}
