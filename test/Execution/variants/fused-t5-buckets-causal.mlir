// T5: a bias for each bucket of the distance to the past; causal.
//
// RUN: attn-run %s --case %data/variants/t5-buckets-causal.npz --reference-only --tolerance=1e-12

attn.dim @batch range(0, 64)
attn.dim @queries range(0, 4096)
attn.dim @keys range(0, 4096)

func.func @main(
    %q: tensor<?x2x?x4xf64> {attn.name = "q", attn.dims = ["batch", "", "queries", ""]},
    %k: tensor<?x2x?x4xf64> {attn.name = "k", attn.dims = ["batch", "", "keys", ""]},
    %v: tensor<?x2x?x4xf64> {attn.name = "v", attn.dims = ["batch", "", "keys", ""]},
    %table: tensor<12x2xf64> {attn.name = "table"})
    -> (tensor<?x2x?x4xf64> {attn.name = "o", attn.dims = ["batch", "", "queries", ""]}) {
  %scale = arith.constant 1.0 : f64
  %o = attn.attention %q, %k, %v scale(%scale : f64) capture(%table : tensor<12x2xf64>) layout(bhsd)
  score {
  ^bb0(%s: f64, %b: index, %h: index, %i: index, %j: index, %table_in: tensor<12x2xf64>):
    %zero = arith.constant 0 : i64
    %0 = arith.subi %j, %i : index
    %relative = arith.index_cast %0 : index to i64
    %1 = arith.minsi %relative, %zero : i64
    %first = arith.constant 0 : i64
    %distance = arith.subi %zero, %1 : i64
    %exact = arith.constant 6 : i64
    %last = arith.constant 11 : i64
    %exact_f = arith.constant 6.0 : f64
    %log_range = arith.constant 1.3862943611198906 : f64
    %isNear = arith.cmpi slt, %distance, %exact : i64
    %2 = arith.sitofp %distance : i64 to f64
    %3 = arith.divf %2, %exact_f : f64
    %4 = math.log %3 : f64
    %5 = arith.divf %4, %log_range : f64
    %6 = arith.mulf %5, %exact_f : f64
    %7 = arith.fptosi %6 : f64 to i64
    %8 = arith.addi %7, %exact : i64
    %9 = arith.minsi %8, %last : i64
    %10 = arith.select %isNear, %distance, %9 : i64
    %11 = arith.addi %first, %10 : i64
    %bucket = arith.index_cast %11 : i64 to index
    %bias = tensor.extract %table_in[%bucket, %h] : tensor<12x2xf64>
    %12 = arith.addf %s, %bias : f64
    attn.yield %12 : f64
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %table_in: tensor<12x2xf64>):
    %visible = arith.cmpi ule, %j, %i : index
    attn.yield %visible : i1
  } : tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64>, tensor<?x2x?x4xf64> -> tensor<?x2x?x4xf64>
  return %o : tensor<?x2x?x4xf64>
}
