// RUN: attn-opt %s --split-input-file --attn-name-dims | FileCheck %s
// RUN: attn-opt %s --split-input-file --attn-name-dims --attn-name-dims | FileCheck %s

// Everything without a name gets one; sizes that attn.scores and attn.mix force
// to be equal get the same one.
// CHECK-DAG: attn.dim @dim0 range(0, 2147483647)
// CHECK-DAG: attn.dim @dim1 range(0, 2147483647)
// CHECK-DAG: attn.dim @keys range(1, 99)
// CHECK-LABEL: func.func @one_name_for_equal_sizes(
// CHECK-SAME: tensor<?x?x1x2xf32> {attn.dims = ["dim0", "dim1", "", ""], attn.name = "arg0"}
// CHECK-SAME: tensor<?x?x1x2xf32> {attn.dims = ["dim0", "keys", "", ""], attn.name = "arg1"}
// CHECK-SAME: tensor<?x?x1x2xf32> {attn.dims = ["dim0", "keys", "", ""], attn.name = "value"}
// CHECK-SAME: -> (tensor<?x?x1x2xf32> {attn.dims = ["dim0", "dim1", "", ""], attn.name = "result0"})
attn.dim @keys range(1, 99)
func.func @one_name_for_equal_sizes(%q: tensor<?x?x1x2xf32>,
    %k: tensor<?x?x1x2xf32> {attn.dims = ["", "keys", "", ""]},
    %v: tensor<?x?x1x2xf32> {attn.name = "value"}) -> tensor<?x?x1x2xf32> {
  %s = attn.scores %q, %k layout(bshd) : tensor<?x?x1x2xf32>, tensor<?x?x1x2xf32> -> tensor<?x1x?x?xf32>
  %p = attn.softmax %s : tensor<?x1x?x?xf32> -> tensor<?x1x?x?xf32>
  %o = attn.mix %p, %v layout(bshd) : tensor<?x1x?x?xf32>, tensor<?x?x1x2xf32> -> tensor<?x?x1x2xf32>
  return %o : tensor<?x?x1x2xf32>
}

// -----

// A declared range stays, and a size that must be equal to a static one has it.
// CHECK-DAG: attn.dim @batch range(1, 8)
// CHECK-DAG: attn.dim @rows range(4, 4)
// CHECK-LABEL: func.func @known_ranges
attn.dim @batch range(1, 8)
attn.dim @rows range(1, 8)
func.func @known_ranges(%x: tensor<?x3xf32> {attn.dims = ["batch", ""]},
    %y: tensor<?x3xf32> {attn.dims = ["rows", ""]}, %z: tensor<4x3xf32>)
    -> (tensor<?x3xf32>, tensor<4x3xf32>) {
  %c = tensor.cast %y : tensor<?x3xf32> to tensor<4x3xf32>
  %s = arith.addf %c, %z : tensor<4x3xf32>
  return %x, %s : tensor<?x3xf32>, tensor<4x3xf32>
}

// -----

// A position table has no more rows than this.
// CHECK: attn.dim @dim0 range(0, 510)
// CHECK-LABEL: func.func @position_table_limits_the_sequence
func.func @position_table_limits_the_sequence(%x: tensor<1x?x8xf32>,
    %table: tensor<512x8xf32>) -> tensor<1x?x8xf32> {
  %0 = attn.learned_positions %x, %table first(2) : tensor<1x?x8xf32>, tensor<512x8xf32>
  return %0 : tensor<1x?x8xf32>
}

// -----

// CHECK-LABEL: func.func @sizes_by_name
// CHECK-NOT: tensor.dim
// CHECK: %[[N:.*]] = attn.dim_size @n
// CHECK: tensor.empty(%[[N]])
attn.dim @n range(1, 8)
func.func @sizes_by_name(%x: tensor<?x4xf32> {attn.dims = ["n", ""]}) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %y = attn.relu %x : tensor<?x4xf32>
  %n = tensor.dim %y, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %t = linalg.copy ins(%y : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %t : tensor<?x4xf32>
}

// -----

// Names that are taken are not given again.
// CHECK-LABEL: func.func @name_is_taken(
// CHECK-SAME: attn.dims = ["dim1"]
// CHECK-SAME: attn.dims = ["dim0"]
attn.dim @dim0 range(1, 8)
func.func @name_is_taken(%x: tensor<?xf32>, %y: tensor<?xf32> {attn.dims = ["dim0"]})
    -> (tensor<?xf32>, tensor<?xf32>) {
  return %x, %y : tensor<?xf32>, tensor<?xf32>
}

// -----

// Sizes travel through reshapes and slices that name them.
// CHECK-LABEL: func.func @through_views
// CHECK-SAME: -> (tensor<?x?x4xf32> {attn.dims = ["b", "s", ""], attn.name = "result0"})
attn.dim @b range(1, 8)
attn.dim @s range(1, 8)
func.func @through_views(%x: tensor<?x?x8xf32> {attn.dims = ["b", "s", ""]}) -> tensor<?x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %0 = tensor.expand_shape %x [[0], [1], [2, 3]] output_shape [%b, %s, 2, 4] : tensor<?x?x8xf32> into tensor<?x?x2x4xf32>
  %1 = tensor.extract_slice %0[0, 0, 1, 0] [%b, %s, 1, 4] [1, 1, 1, 1] : tensor<?x?x2x4xf32> to tensor<?x?x4xf32>
  return %1 : tensor<?x?x4xf32>
}

// -----

// A size that a body asks for is asked for in front of it, once.
// CHECK-LABEL: func.func @in_a_body
// CHECK: %[[S:.*]] = attn.dim_size @s
// CHECK: linalg.generic
// CHECK-NOT: tensor.dim
// CHECK: arith.index_cast %[[S]] : index to i64
attn.dim @s range(1, 8)
func.func @in_a_body(%x: tensor<?xi64> {attn.dims = ["s"]}) -> tensor<?xi64> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%x : tensor<?xi64>) {
  ^bb0(%e: i64):
    %c0 = arith.constant 0 : index
    %s = tensor.dim %x, %c0 : tensor<?xi64>
    %n = arith.index_cast %s : index to i64
    %r = arith.subi %n, %e : i64
    linalg.yield %r : i64
  } -> tensor<?xi64>
  return %0 : tensor<?xi64>
}

// -----

// Private functions and kernels are left alone.
// CHECK-LABEL: func.func private @not_the_entry(%{{.*}}: tensor<?xf32>) -> tensor<?xf32>
func.func private @not_the_entry(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
