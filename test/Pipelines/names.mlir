// Names of values in what --emit writes: those of the C API for arguments, those
// of symbols, and those that passes give.

// RUN: attn-opt %s --emit=graph | FileCheck %s --check-prefix=GRAPH
// RUN: attn-opt %s --emit=tiled | FileCheck %s --check-prefix=TILED
// RUN: attn-opt %s --emit=host | FileCheck %s --check-prefix=HOST

// What is printed can be read again, for the same code.
// RUN: attn-opt %s --emit=tiled -o %t.tiled.mlir
// RUN: attn-opt %t.tiled.mlir --emit=tiled | attn-opt - --emit=stmt -o %t.again
// RUN: attn-opt %s --emit=stmt -o %t.stmt
// RUN: cmp %t.stmt %t.again

// All operations of the host function are in their own form, also of other
// models: what does not verify would be printed in the generic one.
// RUN: attn-opt %s --mlir-print-op-generic | grep -E '^ *(%%[^=]*= )?"[a-z_]+\.'
// RUN: attn-opt %s --emit=host | not grep -E '^ *(%%[^=]*= )?"[a-z_]+\.'
// RUN: attn-opt %data/hf/bert --emit=host | not grep -E '^ *(%%[^=]*= )?"[a-z_]+\.'
// RUN: attn-opt %S/../Execution/unfused.mlir --emit=host --target=x86-64-v3,x86-64-v2 | not grep -E '^ *(%%[^=]*= )?"[a-z_]+\.'

attn.dim @batch range(1, 8)
attn.dim @length range(1, 64)
attn.weight @proj.weight value<dense<0.5> : tensor<8x8xf32>> : tensor<8x8xf32>

// GRAPH: func.func @names(%query: tensor<?x?x1x8xf32> {{{.*}}attn.name = "query"}, %[[X:arg1]]: tensor
// GRAPH: %scores = attn.scores %query, %[[X]]
// GRAPH: %proj.weight = attn.weight_ref @proj.weight

// A place in the model (an importer's layer) is no name of a value.
// GRAPH-NOT: layer.0

// TILED: attn.kernel @attention_0(
// TILED:   %batches = tensor.dim
// TILED:   %n = tensor.dim
// TILED:   %tiles = affine.apply #{{.+}}(%n)
// TILED:   scf.forall (%b, %h, %it) in (%batches, 1, %tiles) shared_outs(%out =
// TILED:     %i0 = affine.apply #{{.+}}(%it)
// TILED:     %full:3 = scf.for %j0 = %c0 to %full_end step
// TILED:     %tail:3 = scf.for %j0 = %full_end to %m step
// TILED: func.func @names(
// TILED:   %batch = attn.dim_size @batch
// TILED-NOT: layer.0

// HOST: func.func private @model__driver_v3(%query: memref<{{.+}}>, %arg1: memref<{{.+}}>, %output: memref<{{.+}}>, %proj.weight{{.*}}: memref<{{.+}}>, %batch: index, %length: index, %workspace: memref<?xi8>)
// HOST:   %size0 = arith.andi
// HOST:   memref.view %workspace[%size0][
// HOST:   return
// HOST: func.func private @model__workspace_v3(%batch: index, %length: index) -> i64
// HOST:   %end1 = arith.addi %size0, %size1
func.func @names(%q: tensor<?x?x1x8xf32> {attn.name = "query", attn.dims = ["batch", "length", "", ""]},
                 %kv: tensor<?x?x1x8xf32> {attn.dims = ["batch", "length", "", ""]})
    -> (tensor<?x?x8xf32> {attn.name = "output", attn.dims = ["batch", "length", ""]}) {
  %s = attn.scores %q, %kv layout(bshd) : tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32> -> tensor<?x1x?x?xf32> loc("layer.0.scores")
  %p = attn.softmax %s : tensor<?x1x?x?xf32> -> tensor<?x1x?x?xf32> loc("layer.0.softmax")
  %o = attn.mix %p, %kv layout(bshd) : tensor<?x1x?x?xf32>, tensor<?x?x1x8xf32> -> tensor<?x?x1x8xf32> loc("layer.0.mix")
  %w = attn.weight_ref @proj.weight : tensor<8x8xf32> loc("layer.0.weight")
  %h = attn.merge_heads %o layout(bshd) : tensor<?x?x1x8xf32> -> tensor<?x?x8xf32> loc("layer.0.merge")
  %l = attn.linear %h, %w : tensor<?x?x8xf32>, tensor<8x8xf32> -> tensor<?x?x8xf32> loc("layer.0.linear")
  %r = attn.relu %l : tensor<?x?x8xf32> loc("layer.0.relu")
  %y = attn.linear %r, %w : tensor<?x?x8xf32>, tensor<8x8xf32> -> tensor<?x?x8xf32> loc("layer.0.linear")
  return %y : tensor<?x?x8xf32>
}
