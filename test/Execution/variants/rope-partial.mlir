// Rotary positions, half, of 4 of 10 channels, then causal attention.
//
// The evaluator on independent data: as written, fused, and unfused as
// generic operations.
// RUN: attn-run %s --case %data/variants/rope-partial.npz --reference-only --tolerance=1e-12
// RUN: attn-opt %s --pass-pipeline='builtin.module(attn-name-dims,func.func(attn-fuse-attention))' -o %t.fused.mlir
// RUN: attn-run %t.fused.mlir --case %data/variants/rope-partial.npz --reference-only --tolerance=1e-12
// RUN: attn-opt %s --pass-pipeline='builtin.module(attn-name-dims,func.func(attn-generalize))' -o %t.generic.mlir
// RUN: attn-run %t.generic.mlir --case %data/variants/rope-partial.npz --reference-only --tolerance=1e-12
// A kernel in f32 on the evaluator, at sizes of several tiles.
// RUN: sed -e 's/f64/f32/g' %s > %t.mlir
// RUN: attn-run %t.mlir --case %data/variants/rope-partial.npz --random --seed 1 --dim batch=1 --dim queries=150 --reference --tolerance=2e-6,2e-5

attn.dim @batch range(0, 64)
attn.dim @queries range(0, 4096)

func.func @main(
    %q: tensor<?x2x?x10xf64> {attn.name = "q", attn.dims = ["batch", "", "queries", ""]},
    %k: tensor<?x2x?x10xf64> {attn.name = "k", attn.dims = ["batch", "", "queries", ""]},
    %v: tensor<?x2x?x10xf64> {attn.name = "v", attn.dims = ["batch", "", "queries", ""]},
    %positions: tensor<?x?xi64> {attn.name = "positions", attn.dims = ["batch", "queries"]})
    -> (tensor<?x2x?x10xf64> {attn.name = "q_rot", attn.dims = ["batch", "", "queries", ""]},
        tensor<?x2x?x10xf64> {attn.name = "k_rot", attn.dims = ["batch", "", "queries", ""]},
        tensor<?x2x?x10xf64> {attn.name = "o", attn.dims = ["batch", "", "queries", ""]}) {
  %frequencies = arith.constant dense<[1.0, 0.001414213562373095]> : tensor<2xf64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %positions, %c0 : tensor<?x?xi64>
  %length = tensor.dim %positions, %c1 : tensor<?x?xi64>
  %init = tensor.empty(%batch, %length) : tensor<?x?x2xf64>
  %cos, %sin = linalg.generic {
      indexing_maps = [affine_map<(b, s, c) -> (b, s)>, affine_map<(b, s, c) -> (c)>, affine_map<(b, s, c) -> (b, s, c)>,
                       affine_map<(b, s, c) -> (b, s, c)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%positions, %frequencies : tensor<?x?xi64>, tensor<2xf64>) outs(%init, %init : tensor<?x?x2xf64>, tensor<?x?x2xf64>) {
  ^bb0(%position: i64, %frequency: f64, %x: f64, %y: f64):
    %0 = arith.sitofp %position : i64 to f64
    %angle = arith.mulf %0, %frequency : f64
    %1 = math.cos %angle : f64
    %2 = math.sin %angle : f64
    linalg.yield %1, %2 : f64, f64
  } -> (tensor<?x?x2xf64>, tensor<?x?x2xf64>)
  %qr = attn.rotary %q, %cos, %sin layout(bhsd)<half> : tensor<?x2x?x10xf64>, tensor<?x?x2xf64>, tensor<?x?x2xf64>
  %kr = attn.rotary %k, %cos, %sin layout(bhsd)<half> : tensor<?x2x?x10xf64>, tensor<?x?x2xf64>, tensor<?x?x2xf64>
  %s0 = attn.scores %qr, %kr layout(bhsd) : tensor<?x2x?x10xf64>, tensor<?x2x?x10xf64> -> tensor<?x2x?x?xf64>
  %s1 = attn.mask %s0 by causal<top_left> : tensor<?x2x?x?xf64>
  %p = attn.softmax %s1 : tensor<?x2x?x?xf64> -> tensor<?x2x?x?xf64>
  %o = attn.mix %p, %v layout(bhsd) : tensor<?x2x?x?xf64>, tensor<?x2x?x10xf64> -> tensor<?x2x?x10xf64>
  return %qr, %kr, %o : tensor<?x2x?x10xf64>, tensor<?x2x?x10xf64>, tensor<?x2x?x10xf64>
}
