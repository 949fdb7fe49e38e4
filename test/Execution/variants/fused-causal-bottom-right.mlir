// Fused: query i sees keys j <= i + M - N.
//
// The evaluator on independent data, then a kernel in f32 on the evaluator, at
// sizes of several tiles.
// RUN: attn-run %s --case %data/variants/causal-bottom-right.npz --reference-only --tolerance=1e-12
// RUN: sed -e 's/f64/f32/g' %s > %t.mlir
// RUN: attn-run %t.mlir --case %data/variants/causal-bottom-right.npz --random --seed 1 --dim batch=2 --dim queries=150 --dim keys=300 --reference --tolerance=2e-6,2e-5

attn.dim @batch range(0, 64)
attn.dim @queries range(0, 4096)
attn.dim @keys range(0, 4096)

func.func @main(
    %q: tensor<?x2x?x4xf64> {attn.name = "q", attn.dims = ["batch", "", "queries", ""]},
    %k: tensor<?x2x?x4xf64> {attn.name = "k", attn.dims = ["batch", "", "keys", ""]},
    %v: tensor<?x2x?x4xf64> {attn.name = "v", attn.dims = ["batch", "", "keys", ""]})
    -> (tensor<?x2x?x4xf64> {attn.name = "o", attn.dims = ["batch", "", "queries", ""]}, tensor<?x2x?xf64> {attn.name = "lse", attn.dims = ["batch", "", "queries"]}) {
  %c2 = arith.constant 2 : index
  %queries = tensor.dim %q, %c2 : tensor<?x2x?x4xf64>
  %keys = tensor.dim %k, %c2 : tensor<?x2x?x4xf64>
  %scale = arith.constant 0.5 : f64
  %o, %lse = attn.attention %q, %k, %v scale(%scale : f64) capture(%queries, %keys : index, index) layout(bhsd)
  mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %queries_in: index, %keys_in: index):
    %lhs = arith.addi %j, %queries_in : index
    %rhs = arith.addi %i, %keys_in : index
    %visible = arith.cmpi sle, %lhs, %rhs : index
    attn.yield %visible : i1
  } : tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64> -> tensor<?x2x?x4xf64>, tensor<?x2x?xf64>
  return %o, %lse : tensor<?x2x?x4xf64>, tensor<?x2x?xf64>
}
