// Few queries: the heads of a group become rows of one head.
// RUN: attn-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(attn-fold-heads))' | FileCheck %s
// RUN: attn-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(attn-fold-heads))' --remarks-filter=attn-fold-heads 2>&1 >%t | FileCheck %s --check-prefix=EXPLAIN

// EXPLAIN-COUNT-3: heads-folded
// EXPLAIN-NOT: heads-folded

// bhsd: reshapes alone. With one query the row is the head's number in its
// group, and the query is 0.
// CHECK-LABEL: func.func @bhsd
// CHECK-SAME: (%[[Q:.*]]: tensor<?x32x1x128xf32>,
// CHECK: %[[PARTS:.*]] = tensor.expand_shape %[[Q]] {{\[\[0\], \[1, 2\], \[3\], \[4\]\]}} output_shape [%{{.*}}, 8, 4, 1, 128]
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[PARTS]] {{\[\[0\], \[1\], \[2, 3\], \[4\]\]}} : tensor<?x8x4x1x128xf32> into tensor<?x8x4x128xf32>
// CHECK: %[[O:.*]], %[[LSE:.*]] = attn.attention %[[ROWS]],
// CHECK: score {
// CHECK: ^bb0(%{{.*}}: f32, %{{.*}}: index, %[[G:[a-z]+]]: index, %[[ROW:[a-z]+]]: index, %{{.*}}: index, %[[SLOPES:.*]]: tensor<32xf32>):
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK: %[[FIRST:.*]] = arith.muli %[[G]], %[[FOUR]]
// CHECK: %[[H:.*]] = arith.addi %[[FIRST]], %[[ROW]]
// CHECK: tensor.extract %[[SLOPES]][%[[H]]]
// CHECK: tensor<?x8x4x128xf32>, tensor<?x8x?x128xf32>, tensor<?x8x?x128xf32> -> tensor<?x8x4x128xf32>, tensor<?x8x4xf32>
// CHECK: tensor.expand_shape %[[LSE]] {{\[\[0\], \[1\], \[2, 3\]\]}} output_shape [%{{.*}}, 8, 4, 1] : tensor<?x8x4xf32> into tensor<?x8x4x1xf32>
// CHECK: tensor.collapse_shape {{.*}} {{\[\[0\], \[1, 2\], \[3\]\]}} : tensor<?x8x4x1xf32> into tensor<?x32x1xf32>
// CHECK: tensor.expand_shape %[[O]]
// CHECK: tensor<?x8x4x1x128xf32> into tensor<?x32x1x128xf32>
func.func @bhsd(%q: tensor<?x32x1x128xf32>, %k: tensor<?x8x?x128xf32>, %v: tensor<?x8x?x128xf32>, %slopes: tensor<32xf32>, %c: f32)
    -> (tensor<?x32x1x128xf32>, tensor<?x32x1xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%c : f32) capture(%slopes : tensor<32xf32>) layout(bhsd) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index, %slopes_in: tensor<32xf32>):
    %slope = tensor.extract %slopes_in[%h] : tensor<32xf32>
    %0 = arith.subi %j, %i : index
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = arith.mulf %slope, %2 : f32
    %4 = arith.addf %s, %3 : f32
    attn.yield %4 : f32
  } : tensor<?x32x1x128xf32>, tensor<?x8x?x128xf32>, tensor<?x8x?x128xf32> -> tensor<?x32x1x128xf32>, tensor<?x32x1xf32>
  return %o, %lse : tensor<?x32x1x128xf32>, tensor<?x32x1xf32>
}

// -----

// bshd: the few queries and results are transposed; three queries a head.
// CHECK-LABEL: func.func @bshd
// CHECK: tensor.expand_shape {{.*}} : tensor<2x3x4x16xf32> into tensor<2x3x2x2x16xf32>
// CHECK: linalg.transpose {{.*}} permutation = [0, 3, 1, 2, 4]
// CHECK: tensor.collapse_shape {{.*}} : tensor<2x2x3x2x16xf32> into tensor<2x6x2x16xf32>
// CHECK: attn.attention {{.*}} mask {
// CHECK: ^bb0(%{{.*}}: index, %{{.*}}: index, %[[ROW:[a-z]+]]: index, %[[J:[a-z]+]]: index):
// CHECK: %[[THREE:.*]] = arith.constant 3 : index
// CHECK: arith.divui %[[ROW]], %[[THREE]]
// CHECK: %[[I:.*]] = arith.remui %[[ROW]], %[[THREE]]
// CHECK: arith.cmpi sle, %[[J]], %[[I]]
// CHECK: linalg.transpose {{.*}} permutation = [0, 2, 3, 1, 4]
// CHECK: tensor<2x3x2x2x16xf32> into tensor<2x3x4x16xf32>
func.func @bshd(%q: tensor<2x3x4x16xf32>, %k: tensor<2x9x2x16xf32>, %c: f32) -> tensor<2x3x4x16xf32> {
  %o = attn.attention %q, %k, %k scale(%c : f32) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %visible = arith.cmpi sle, %j, %i : index
    attn.yield %visible : i1
  } : tensor<2x3x4x16xf32>, tensor<2x9x2x16xf32>, tensor<2x9x2x16xf32> -> tensor<2x3x4x16xf32>
  return %o : tensor<2x3x4x16xf32>
}

// -----

// CHECK-LABEL: func.func @sbhd
// CHECK: linalg.transpose {{.*}} permutation = [3, 0, 1, 2, 4]
// CHECK: attn.attention {{.*}} : tensor<6x2x2x16xf32>, tensor<9x2x2x16xf32>, tensor<9x2x2x16xf32> -> tensor<6x2x2x16xf32>
// CHECK: linalg.transpose {{.*}} permutation = [1, 2, 3, 0, 4]
func.func @sbhd(%q: tensor<3x2x4x16xf32>, %k: tensor<9x2x2x16xf32>, %c: f32) -> tensor<3x2x4x16xf32> {
  %o = attn.attention %q, %k, %k scale(%c : f32) layout(sbhd)
      : tensor<3x2x4x16xf32>, tensor<9x2x2x16xf32>, tensor<9x2x2x16xf32> -> tensor<3x2x4x16xf32>
  return %o : tensor<3x2x4x16xf32>
}

// -----

// Nothing is shared; the number of queries is not known, or is large; sinks.
// CHECK-LABEL: func.func @others
// CHECK-NOT: expand_shape
// CHECK: return
func.func @others(%q: tensor<2x4x1x16xf32>, %k: tensor<2x4x9x16xf32>, %d: tensor<2x4x?x16xf32>, %g: tensor<2x2x9x16xf32>,
                  %l: tensor<2x4x17x16xf32>, %t: tensor<4xf32>, %c: f32)
    -> (tensor<2x4x1x16xf32>, tensor<2x4x?x16xf32>, tensor<2x4x17x16xf32>, tensor<2x4x1x16xf32>) {
  %0 = attn.attention %q, %k, %k scale(%c : f32) layout(bhsd)
      : tensor<2x4x1x16xf32>, tensor<2x4x9x16xf32>, tensor<2x4x9x16xf32> -> tensor<2x4x1x16xf32>
  %1 = attn.attention %d, %g, %g scale(%c : f32) layout(bhsd)
      : tensor<2x4x?x16xf32>, tensor<2x2x9x16xf32>, tensor<2x2x9x16xf32> -> tensor<2x4x?x16xf32>
  %2 = attn.attention %l, %g, %g scale(%c : f32) layout(bhsd)
      : tensor<2x4x17x16xf32>, tensor<2x2x9x16xf32>, tensor<2x2x9x16xf32> -> tensor<2x4x17x16xf32>
  %3 = attn.attention %q, %g, %g scale(%c : f32) sinks(%t : tensor<4xf32>) layout(bhsd)
      : tensor<2x4x1x16xf32>, tensor<2x2x9x16xf32>, tensor<2x2x9x16xf32> -> tensor<2x4x1x16xf32>
  return %0, %1, %2, %3 : tensor<2x4x1x16xf32>, tensor<2x4x?x16xf32>, tensor<2x4x17x16xf32>, tensor<2x4x1x16xf32>
}
