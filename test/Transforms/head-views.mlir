// RUN: attn-opt %s --split-input-file --attn-fuse-linear | FileCheck %s

// Heads are views of a row.
// CHECK-LABEL: func.func @bshd_is_a_view
// CHECK-NEXT: %[[H:.*]] = tensor.expand_shape %{{.*}} {{\[}}[0], [1], [2, 3]] output_shape [2, 3, 2, 4] : tensor<2x3x8xf32> into tensor<2x3x2x4xf32>
// CHECK-NEXT: tensor.collapse_shape %[[H]] {{\[}}[0], [1], [2, 3]] : tensor<2x3x2x4xf32> into tensor<2x3x8xf32>
func.func @bshd_is_a_view(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %h = attn.split_heads %x heads(2) layout(bshd) : tensor<2x3x8xf32> -> tensor<2x3x2x4xf32>
  %m = attn.merge_heads %h layout(bshd) : tensor<2x3x2x4xf32> -> tensor<2x3x8xf32>
  return %m : tensor<2x3x8xf32>
}

// -----

// Where both ends are split and merged here, layout bhsd needs no transposition;
// the captured sizes follow.
// CHECK-LABEL: func.func @bhsd_becomes_bshd(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x?x8xf32> {{{.*}}}, %[[Y:[^:]*]]: tensor<2x?x8xf32>
// CHECK-NOT: linalg.transpose
// CHECK: %[[Q:.*]] = tensor.expand_shape %[[X]] {{.*}} into tensor<2x?x2x4xf32>
// CHECK: %[[K:.*]] = tensor.expand_shape %[[Y]] {{.*}} into tensor<2x?x2x4xf32>
// CHECK: %[[V:.*]] = tensor.expand_shape %[[Y]] {{.*}} into tensor<2x?x2x4xf32>
// CHECK: %[[C1:.*]] = arith.constant 1 : index
// CHECK: %[[N:.*]] = tensor.dim %[[Q]], %[[C1]]
// CHECK: attn.attention %[[Q]], %[[K]], %[[V]] scale(%{{.*}}) capture(%[[N]] : index) layout(bshd)
// CHECK: tensor.collapse_shape
func.func @bhsd_becomes_bshd(%x: tensor<2x?x8xf32> {attn.dims = ["", "n", ""]}, %y: tensor<2x?x8xf32> {attn.dims = ["", "m", ""]}, %c: f32) -> tensor<2x?x8xf32> {
  %c2 = arith.constant 2 : index
  %qh = attn.split_heads %x heads(2) layout(bhsd) : tensor<2x?x8xf32> -> tensor<2x2x?x4xf32>
  %kh = attn.split_heads %y heads(2) layout(bhsd) : tensor<2x?x8xf32> -> tensor<2x2x?x4xf32>
  %n = tensor.dim %qh, %c2 : tensor<2x2x?x4xf32>
  %o = attn.attention %qh, %kh, %kh scale(%c : f32) capture(%n : index) layout(bhsd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %size: index):
    %v = arith.cmpi slt, %j, %size : index
    attn.yield %v : i1
  } : tensor<2x2x?x4xf32>, tensor<2x2x?x4xf32>, tensor<2x2x?x4xf32> -> tensor<2x2x?x4xf32>
  %m = attn.merge_heads %o layout(bhsd) : tensor<2x2x?x4xf32> -> tensor<2x?x8xf32>
  return %m : tensor<2x?x8xf32>
}
attn.dim @n range(1, 8)
attn.dim @m range(1, 8)

// -----

// A query in layout bhsd that comes from outside keeps it: its result is moved.
// CHECK-LABEL: func.func @bhsd_argument
// CHECK: %[[O:.*]] = attn.attention {{.*}} layout(bhsd)
// CHECK: %[[E:.*]] = tensor.empty() : tensor<2x3x2x4xf32>
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[O]] : tensor<2x2x3x4xf32>) outs(%[[E]] : tensor<2x3x2x4xf32>) permutation = [0, 2, 1, 3]
// CHECK: tensor.collapse_shape %[[T]]
func.func @bhsd_argument(%q: tensor<2x2x3x4xf32>, %c: f32) -> tensor<2x3x8xf32> {
  %o = attn.attention %q, %q, %q scale(%c : f32) layout(bhsd) : tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32> -> tensor<2x2x3x4xf32>
  %m = attn.merge_heads %o layout(bhsd) : tensor<2x2x3x4xf32> -> tensor<2x3x8xf32>
  return %m : tensor<2x3x8xf32>
}

// -----

// The result in layout bhsd is the function's, so nothing changes.
// CHECK-LABEL: func.func @bhsd_result
// CHECK: tensor.expand_shape
// CHECK: linalg.transpose
// CHECK: %[[O:.*]] = attn.attention {{.*}} layout(bhsd)
// CHECK: return %[[O]]
func.func @bhsd_result(%x: tensor<2x3x8xf32>, %c: f32) -> tensor<2x2x3x4xf32> {
  %q = attn.split_heads %x heads(2) layout(bhsd) : tensor<2x3x8xf32> -> tensor<2x2x3x4xf32>
  %o = attn.attention %q, %q, %q scale(%c : f32) layout(bhsd) : tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32> -> tensor<2x2x3x4xf32>
  return %o : tensor<2x2x3x4xf32>
}

// -----

// Merged heads become rows in one reshape.
// CHECK-LABEL: func.func @merged_heads_as_rows
// CHECK: %[[R:.*]] = tensor.collapse_shape %{{.*}} {{\[}}[0, 1], [2, 3]] : tensor<2x3x2x4xf32> into tensor<6x8xf32>
// CHECK: attn.fused_linear %[[R]]
func.func @merged_heads_as_rows(%h: tensor<2x3x2x4xf32>, %w: tensor<8x8xf32>) -> tensor<2x3x8xf32> {
  %m = attn.merge_heads %h layout(bshd) : tensor<2x3x2x4xf32> -> tensor<2x3x8xf32>
  %y = attn.linear %m, %w : tensor<2x3x8xf32>, tensor<8x8xf32> -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}
