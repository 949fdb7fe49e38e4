// Shaw: relative vectors join keys and values.
//
// The evaluator on independent data, then a kernel in f32 on the evaluator, at
// sizes of several tiles.
// RUN: attn-run %s --case %data/variants/shaw-relative.npz --reference-only --tolerance=1e-12
// RUN: sed -e 's/f64/f32/g' %s > %t.mlir
// RUN: attn-run %t.mlir --case %data/variants/shaw-relative.npz --random --seed 1 --dim batch=2 --dim queries=150 --dim keys=300 --reference --tolerance=2e-6,2e-5

attn.dim @batch range(0, 64)
attn.dim @queries range(0, 4096)
attn.dim @keys range(0, 4096)

func.func @main(
    %q: tensor<?x2x?x4xf64> {attn.name = "q", attn.dims = ["batch", "", "queries", ""]},
    %k: tensor<?x2x?x4xf64> {attn.name = "k", attn.dims = ["batch", "", "keys", ""]},
    %v: tensor<?x2x?x4xf64> {attn.name = "v", attn.dims = ["batch", "", "keys", ""]},
    %rel_k: tensor<7x4xf64> {attn.name = "rel_k"},
    %rel_v: tensor<7x4xf64> {attn.name = "rel_v"})
    -> (tensor<?x2x?x4xf64> {attn.name = "o", attn.dims = ["batch", "", "queries", ""]}) {
  %scale = arith.constant 0.5 : f64
  %o = attn.attention %q, %k, %v scale(%scale : f64) capture(%rel_k, %rel_v : tensor<7x4xf64>, tensor<7x4xf64>) layout(bhsd)
  combine {
  ^bb0(%x: f64, %y: f64, %b: index, %h: index, %i: index, %j: index, %d: index, %rel_k_in: tensor<7x4xf64>, %rel_v_in: tensor<7x4xf64>):
    %c3 = arith.constant 3 : index
    %m3 = arith.constant -3 : index
    %0 = arith.subi %j, %i : index
    %1 = arith.minsi %0, %c3 : index
    %2 = arith.maxsi %1, %m3 : index
    %row = arith.addi %2, %c3 : index
    %3 = tensor.extract %rel_k_in[%row, %d] : tensor<7x4xf64>
    %4 = arith.addf %y, %3 : f64
    %5 = arith.mulf %x, %4 : f64
    attn.yield %5 : f64
  } value {
  ^bb0(%x: f64, %b: index, %h: index, %i: index, %j: index, %d: index, %rel_k_in: tensor<7x4xf64>, %rel_v_in: tensor<7x4xf64>):
    %c3 = arith.constant 3 : index
    %m3 = arith.constant -3 : index
    %0 = arith.subi %j, %i : index
    %1 = arith.minsi %0, %c3 : index
    %2 = arith.maxsi %1, %m3 : index
    %row = arith.addi %2, %c3 : index
    %3 = tensor.extract %rel_v_in[%row, %d] : tensor<7x4xf64>
    %4 = arith.addf %x, %3 : f64
    attn.yield %4 : f64
  } : tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64> -> tensor<?x2x?x4xf64>
  return %o : tensor<?x2x?x4xf64>
}
