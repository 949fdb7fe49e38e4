// Longformer: a window of two on each side, and global tokens 0 and 7.
//
// The evaluator on independent data, then a kernel in f32 on the evaluator, at
// sizes of several tiles.
// RUN: attn-run %s --case %data/variants/longformer.npz --reference-only --tolerance=1e-12
// RUN: sed -e 's/f64/f32/g' %s > %t.mlir
// RUN: attn-run %t.mlir --case %data/variants/longformer.npz --random --seed 1 --dim batch=2 --dim queries=150 --dim keys=300 --reference --tolerance=2e-6,2e-5

attn.dim @batch range(0, 64)
attn.dim @queries range(0, 4096)
attn.dim @keys range(0, 4096)

func.func @main(
    %q: tensor<?x2x?x4xf64> {attn.name = "q", attn.dims = ["batch", "", "queries", ""]},
    %k: tensor<?x2x?x4xf64> {attn.name = "k", attn.dims = ["batch", "", "keys", ""]},
    %v: tensor<?x2x?x4xf64> {attn.name = "v", attn.dims = ["batch", "", "keys", ""]})
    -> (tensor<?x2x?x4xf64> {attn.name = "o", attn.dims = ["batch", "", "queries", ""]}, tensor<?x2x?xf64> {attn.name = "lse", attn.dims = ["batch", "", "queries"]}) {
  %scale = arith.constant 0.5 : f64
  %o, %lse = attn.attention %q, %k, %v scale(%scale : f64) layout(bhsd)
  mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %zero = arith.constant 0 : index
    %two = arith.constant 2 : index
    %seven = arith.constant 7 : index
    %0 = arith.subi %i, %j : index
    %1 = arith.subi %j, %i : index
    %2 = arith.maxsi %0, %1 : index
    %near = arith.cmpi sle, %2, %two : index
    %i0 = arith.cmpi eq, %i, %zero : index
    %i7 = arith.cmpi eq, %i, %seven : index
    %j0 = arith.cmpi eq, %j, %zero : index
    %j7 = arith.cmpi eq, %j, %seven : index
    %3 = arith.ori %i0, %i7 : i1
    %4 = arith.ori %j0, %j7 : i1
    %5 = arith.ori %3, %4 : i1
    %visible = arith.ori %near, %5 : i1
    attn.yield %visible : i1
  } : tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64> -> tensor<?x2x?x4xf64>, tensor<?x2x?xf64>
  return %o, %lse : tensor<?x2x?x4xf64>, tensor<?x2x?xf64>
}
