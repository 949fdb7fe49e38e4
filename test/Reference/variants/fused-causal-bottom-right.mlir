// Fused: query i sees keys j <= i + M - N.
//
// RUN: attn-run %s --case %data/variants/causal-bottom-right.npz --reference-only --tolerance=1e-12

func.func @main(
    %q: tensor<?x2x?x4xf64> {attn.name = "q"},
    %k: tensor<?x2x?x4xf64> {attn.name = "k"},
    %v: tensor<?x2x?x4xf64> {attn.name = "v"})
    -> (tensor<?x2x?x4xf64> {attn.name = "o"}, tensor<?x2x?xf64> {attn.name = "lse"}) {
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
