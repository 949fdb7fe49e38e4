// RUN: attn-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(attn-generalize))' | FileCheck %s

// Grouped heads: query head (g, r) meets key head g.
// CHECK-DAG: #[[$Q:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3, d1, d2, d5)>
// CHECK-DAG: #[[$K:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d4, d1, d5)>
// CHECK-DAG: #[[$S:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>
// CHECK-LABEL: func.func @scores(
// CHECK-SAME: %[[Q:.*]]: tensor<2x3x6x8xf32>, %[[K:.*]]: tensor<2x5x2x8xf32>, %[[C:.*]]: f32)
// CHECK: %[[QS:.*]] = tensor.expand_shape %[[Q]] {{\[}}[0], [1], [2, 3], [4]] output_shape [2, 3, 2, 3, 8]
// CHECK: %[[F:.*]] = linalg.fill
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#[[$Q]], #[[$K]], #[[$S]]], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%[[QS]], %[[K]] : {{.*}}) outs(%[[F]] : tensor<2x2x3x3x5xf32>)
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[O:.*]]: f32):
// CHECK-NEXT: %[[AC:.*]] = arith.mulf %[[A]], %[[C]] : f32
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[AC]], %[[B]] : f32
// CHECK-NEXT: %[[T:.*]] = arith.addf %[[O]], %[[P]] : f32
// CHECK-NEXT: linalg.yield %[[T]] : f32
// CHECK: tensor.collapse_shape %[[R]] {{\[}}[0], [1, 2], [3], [4]] : tensor<2x2x3x3x5xf32> into tensor<2x6x3x5xf32>
func.func @scores(%q: tensor<2x3x6x8xf32>, %k: tensor<2x5x2x8xf32>, %c: f32) -> tensor<2x6x3x5xf32> {
  %s = attn.scores %q, %k scale(%c : f32) layout(bshd) : tensor<2x3x6x8xf32>, tensor<2x5x2x8xf32> -> tensor<2x6x3x5xf32>
  return %s : tensor<2x6x3x5xf32>
}

// -----

// CHECK-LABEL: func.func @default_scale
// CHECK: %[[C:.*]] = arith.constant 2.500000e-01 : f32
// CHECK: arith.mulf %{{.*}}, %[[C]] : f32
func.func @default_scale(%q: tensor<2x6x3x16xf32>, %k: tensor<2x6x5x16xf32>) -> tensor<2x6x3x5xf32> {
  %s = attn.scores %q, %k layout(bhsd) : tensor<2x6x3x16xf32>, tensor<2x6x5x16xf32> -> tensor<2x6x3x5xf32>
  return %s : tensor<2x6x3x5xf32>
}

// -----

// A weight of zero hides what the value is.
// CHECK-LABEL: func.func @mix
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "parallel"]
// CHECK-NEXT: ^bb0(%[[P:.*]]: f32, %[[V:.*]]: f32, %[[O:.*]]: f32):
// CHECK: %[[USED:.*]] = arith.cmpf une, %[[P]], %[[ZERO:.*]] : f32
// CHECK: %[[PV:.*]] = arith.mulf %[[P]], %[[V]] : f32
// CHECK: %[[X:.*]] = arith.select %[[USED]], %[[PV]], %[[ZERO]] : f32
// CHECK: arith.addf %[[O]], %[[X]] : f32
// CHECK: -> tensor<2x3x2x3x8xf32>
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0], [1], [2, 3], [4]] : tensor<2x3x2x3x8xf32> into tensor<2x3x6x8xf32>
func.func @mix(%p: tensor<2x6x3x5xf32>, %v: tensor<2x5x2x8xf32>) -> tensor<2x3x6x8xf32> {
  %o = attn.mix %p, %v layout(bshd) : tensor<2x6x3x5xf32>, tensor<2x5x2x8xf32> -> tensor<2x3x6x8xf32>
  return %o : tensor<2x3x6x8xf32>
}

// -----

// CHECK-LABEL: func.func @mask_and_bias(
// CHECK-SAME: %[[S:[^:]*]]: tensor<2x6x3x5xf32>, %[[BIAS:[^:]*]]: tensor<6x1x5xf32>)
// CHECK: %[[M:.*]] = linalg.generic {{.*}} ins(%[[S]] :
// CHECK: %[[I:.*]] = linalg.index 2
// CHECK: %[[J:.*]] = linalg.index 3
// CHECK: %[[VISIBLE:.*]] = arith.cmpi sle, %[[J]], %[[I]] : index
// CHECK: %[[INF:.*]] = arith.constant 0xFF800000 : f32
// CHECK: arith.select %[[VISIBLE]], %{{.*}}, %[[INF]] : f32
// CHECK: linalg.generic {{.*}} ins(%[[M]] :
// CHECK: %[[H:.*]] = linalg.index 1
// CHECK: %[[JB:.*]] = linalg.index 3
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: tensor.extract %[[BIAS]][%[[H]], %[[ZERO]], %[[JB]]]
func.func @mask_and_bias(%s: tensor<2x6x3x5xf32>, %bias: tensor<6x1x5xf32>) -> tensor<2x6x3x5xf32> {
  %0 = attn.mask %s by causal<top_left> : tensor<2x6x3x5xf32>
  %1 = attn.bias %0, %bias : tensor<2x6x3x5xf32>, tensor<6x1x5xf32>
  return %1 : tensor<2x6x3x5xf32>
}

// -----

// CHECK-LABEL: func.func @named_linalg
// CHECK-NOT: linalg.matmul
// CHECK: linalg.fill
// CHECK: linalg.generic
func.func @named_linalg(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>) -> tensor<4x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x5xf32>) outs(%f : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}

// -----

// CHECK-LABEL: func.func @parts
// CHECK-SAME: (%[[A:.*]]: tensor<2x?x4xf32>, %[[B:.*]]: tensor<2x1x4xf32>)
// CHECK: %[[N:.*]] = tensor.dim %[[A]],
// CHECK: %[[FIRST:.*]] = tensor.insert_slice %[[A]] into %{{.*}}[0, 0, 0] [2, %{{.*}}, 4] [1, 1, 1]
// CHECK: tensor.insert_slice %[[B]] into %[[FIRST]][0, %{{.*}}, 0] [2, 1, 4] [1, 1, 1]
// CHECK-NOT: tensor.concat
func.func @parts(%a: tensor<2x?x4xf32>, %b: tensor<2x1x4xf32>) -> tensor<2x?x4xf32> {
  %0 = tensor.concat dim(1) %a, %b : (tensor<2x?x4xf32>, tensor<2x1x4xf32>) -> tensor<2x?x4xf32>
  return %0 : tensor<2x?x4xf32>
}

// -----

// What is fused is left alone.
// CHECK-LABEL: func.func @fused
// CHECK-NEXT: attn.attention
// CHECK-NEXT: return
func.func @fused(%q: tensor<2x3x4x16xf32>, %c: f32) -> tensor<2x3x4x16xf32> {
  %o = attn.attention %q, %q, %q scale(%c : f32) layout(bshd) : tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32>, tensor<2x3x4x16xf32> -> tensor<2x3x4x16xf32>
  return %o : tensor<2x3x4x16xf32>
}

// -----

// New rows are stored one slice a batch row, behind those that it holds. The limit is
// a number where sizes are.
// CHECK-LABEL: func.func @cache_append
// CHECK-SAME: (%[[CACHE:.*]]: tensor<?x16x2x4xf32>, %[[NEW:.*]]: tensor<?x3x2x4xf32>, %[[LENGTH:.*]]: tensor<?xi32>)
// CHECK: attn.check_ids %[[LENGTH]] below(14) name("length") : tensor<?xi32>
// CHECK: %[[R:.*]] = scf.for %[[B:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[C:.*]] = %[[CACHE]]) -> (tensor<?x16x2x4xf32>) {
// CHECK:   %[[E:.*]] = tensor.extract %[[LENGTH]][%[[B]]]
// CHECK:   %[[L:.*]] = arith.index_cast %[[E]] : i32 to index
// CHECK:   %[[S:.*]] = tensor.extract_slice %[[NEW]][%[[B]], 0, 0, 0] [1, 3, 2, 4] [1, 1, 1, 1]
// CHECK:   tensor.insert_slice %[[S]] into %[[C]][%[[B]], %[[L]], 0, 0] [1, 3, 2, 4] [1, 1, 1, 1]
// CHECK: return %[[R]]
func.func @cache_append(%cache: tensor<?x16x2x4xf32>, %new: tensor<?x3x2x4xf32>, %length: tensor<?xi32>) -> tensor<?x16x2x4xf32> {
  %0 = attn.cache_append %cache, %new at(%length : tensor<?xi32>) layout(bshd) : tensor<?x16x2x4xf32>, tensor<?x3x2x4xf32>
  return %0 : tensor<?x16x2x4xf32>
}

// -----

// Else it is a value, also for the other layout.
// CHECK-LABEL: func.func @cache_append_dynamic
// CHECK: %[[ROOM:.*]] = arith.subi %{{.*}}, %{{.*}} : index
// CHECK: %[[LIMIT:.*]] = arith.addi %[[ROOM]], %{{.*}} : index
// CHECK: attn.check_ids %{{.*}} below(%[[LIMIT]]) name("past") : tensor<1xi64>
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%{{.*}}, 0, %{{.*}}, 0]
func.func @cache_append_dynamic(%cache: tensor<1x2x?x4xf64>, %new: tensor<1x2x?x4xf64>, %length: tensor<1xi64> {attn.name = "past"}) -> tensor<1x2x?x4xf64> {
  %0 = attn.cache_append %cache, %new at(%length : tensor<1xi64>) layout(bhsd) : tensor<1x2x?x4xf64>, tensor<1x2x?x4xf64>
  return %0 : tensor<1x2x?x4xf64>
}

// -----

// Positions are checked once, whoever reads them.
// CHECK-LABEL: func.func @rotary_positions
// CHECK: attn.check_ids %{{.*}} below(9) name("p") : tensor<?x?xi64>
// CHECK-NOT: attn.check_ids
func.func @rotary_positions(%q: tensor<?x?x2x4xf32>, %k: tensor<?x?x1x4xf32>, %t: tensor<9x2xf32>, %p: tensor<?x?xi64> {attn.name = "p"}) -> (tensor<?x?x2x4xf32>, tensor<?x?x1x4xf32>) {
  %0 = attn.rotary %q, %t, %t positions(%p : tensor<?x?xi64>) layout(bshd)<half> : tensor<?x?x2x4xf32>, tensor<9x2xf32>, tensor<9x2xf32>
  %1 = attn.rotary %k, %t, %t positions(%p : tensor<?x?xi64>) layout(bshd)<half> : tensor<?x?x1x4xf32>, tensor<9x2xf32>, tensor<9x2xf32>
  return %0, %1 : tensor<?x?x2x4xf32>, tensor<?x?x1x4xf32>
}

// -----

// No position is a row of a table that may be empty.
// CHECK-LABEL: func.func @rotary_positions_dynamic
// CHECK: %[[ROWS:.*]] = tensor.dim %{{.*}}, %{{.*}}
// CHECK: attn.check_ids %{{.*}} below(%[[ROWS]]) name("positions") : tensor<?x?xi32>
func.func @rotary_positions_dynamic(%q: tensor<?x?x2x4xf32>, %t: tensor<?x2xf32>, %p: tensor<?x?xi32>) -> tensor<?x?x2x4xf32> {
  %0 = attn.rotary %q, %t, %t positions(%p : tensor<?x?xi32>) layout(bshd)<half> : tensor<?x?x2x4xf32>, tensor<?x2xf32>, tensor<?x2xf32>
  return %0 : tensor<?x?x2x4xf32>
}
