// RUN: attn-opt %s --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @merge_undoes_split
// CHECK-NEXT: return %arg0
func.func @merge_undoes_split(%x: tensor<?x?x12xf32>) -> tensor<?x?x12xf32> {
  %0 = attn.split_heads %x heads(4) layout(bhsd) : tensor<?x?x12xf32> -> tensor<?x4x?x3xf32>
  %1 = attn.merge_heads %0 layout(bhsd) : tensor<?x4x?x3xf32> -> tensor<?x?x12xf32>
  return %1 : tensor<?x?x12xf32>
}

// -----

// CHECK-LABEL: func.func @split_undoes_merge
// CHECK-NEXT: return %arg0
func.func @split_undoes_merge(%x: tensor<?x?x4x3xf32>) -> tensor<?x?x4x3xf32> {
  %0 = attn.merge_heads %x layout(bshd) : tensor<?x?x4x3xf32> -> tensor<?x?x12xf32>
  %1 = attn.split_heads %0 heads(4) layout(bshd) : tensor<?x?x12xf32> -> tensor<?x?x4x3xf32>
  return %1 : tensor<?x?x4x3xf32>
}

// -----

// Another number of heads, or another layout, is not the same tensor.
// CHECK-LABEL: func.func @split_keeps_other_heads
// CHECK: attn.merge_heads
// CHECK: attn.split_heads
// CHECK: attn.split_heads
func.func @split_keeps_other_heads(%x: tensor<2x3x4x3xf32>) -> (tensor<2x3x3x4xf32>, tensor<2x4x3x3xf32>) {
  %0 = attn.merge_heads %x layout(bshd) : tensor<2x3x4x3xf32> -> tensor<2x3x12xf32>
  %1 = attn.split_heads %0 heads(3) layout(bshd) : tensor<2x3x12xf32> -> tensor<2x3x3x4xf32>
  %2 = attn.split_heads %0 heads(4) layout(bhsd) : tensor<2x3x12xf32> -> tensor<2x4x3x3xf32>
  return %1, %2 : tensor<2x3x3x4xf32>, tensor<2x4x3x3xf32>
}

// -----

// CHECK-LABEL: func.func @scores_drop_default_scale
// CHECK-NEXT: attn.scores %arg0, %arg0 layout(bshd)
func.func @scores_drop_default_scale(%q: tensor<?x?x4x32xf32>) -> tensor<?x4x?x?xf32> {
  %scale = arith.constant 0.176776692 : f32
  %0 = attn.scores %q, %q scale(%scale : f32) layout(bshd) : tensor<?x?x4x32xf32>, tensor<?x?x4x32xf32> -> tensor<?x4x?x?xf32>
  return %0 : tensor<?x4x?x?xf32>
}

// -----

// CHECK-LABEL: func.func @scores_keep_other_scale
// CHECK: attn.scores %arg0, %arg0 scale(%{{.*}} : f32)
func.func @scores_keep_other_scale(%q: tensor<?x?x4x32xf32>) -> tensor<?x4x?x?xf32> {
  %scale = arith.constant 0.1767767 : f32
  %0 = attn.scores %q, %q scale(%scale : f32) layout(bshd) : tensor<?x?x4x32xf32>, tensor<?x?x4x32xf32> -> tensor<?x4x?x?xf32>
  return %0 : tensor<?x4x?x?xf32>
}

// -----

// CHECK-LABEL: func.func @mask_that_hides_nothing
// CHECK-NEXT: return %arg0
func.func @mask_that_hides_nothing(%s: tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32> {
  %true = arith.constant dense<true> : tensor<3x5xi1>
  %0 = attn.mask %s by window<left = -1, right = -1> : tensor<2x4x3x5xf32>
  %1 = attn.mask %0 by dense(%true : tensor<3x5xi1>) : tensor<2x4x3x5xf32>
  return %1 : tensor<2x4x3x5xf32>
}

// -----

// CHECK-LABEL: func.func @mask_twice
// CHECK-NEXT: attn.mask %arg0 by key_lengths
// CHECK-NEXT: return
func.func @mask_twice(%s: tensor<2x4x3x5xf32>, %n: tensor<2xi64>) -> tensor<2x4x3x5xf32> {
  %0 = attn.mask %s by key_lengths(%n : tensor<2xi64>) : tensor<2x4x3x5xf32>
  %1 = attn.mask %0 by key_lengths(%n : tensor<2xi64>) : tensor<2x4x3x5xf32>
  return %1 : tensor<2x4x3x5xf32>
}

// -----

// A float mask is added, so twice is not once.
// CHECK-LABEL: func.func @mask_twice_by_float
// CHECK-COUNT-2: attn.mask
func.func @mask_twice_by_float(%s: tensor<2x4x3x5xf32>, %m: tensor<3x5xf32>) -> tensor<2x4x3x5xf32> {
  %0 = attn.mask %s by dense(%m : tensor<3x5xf32>) : tensor<2x4x3x5xf32>
  %1 = attn.mask %0 by dense(%m : tensor<3x5xf32>) : tensor<2x4x3x5xf32>
  return %1 : tensor<2x4x3x5xf32>
}

// -----

// CHECK-LABEL: func.func @window_of_the_past_is_causal
// CHECK-NEXT: attn.mask %arg0 by causal<bottom_right>
// CHECK-NEXT: attn.mask %{{.*}} by window<left = -1, right = 1>
func.func @window_of_the_past_is_causal(%s: tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32> {
  %0 = attn.mask %s by window<left = -1, right = 0, alignment = bottom_right> : tensor<2x4x3x5xf32>
  %1 = attn.mask %0 by window<left = -1, right = 1> : tensor<2x4x3x5xf32>
  return %1 : tensor<2x4x3x5xf32>
}

// -----

// CHECK-LABEL: func.func @bias_of_zero
// CHECK-NEXT: return %arg0
func.func @bias_of_zero(%s: tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x1x1xf32>
  %0 = attn.bias %s, %zero : tensor<2x4x3x5xf32>, tensor<4x1x1xf32>
  return %0 : tensor<2x4x3x5xf32>
}

// -----

// CHECK-LABEL: func.func @bias_of_one
// CHECK: attn.bias
func.func @bias_of_one(%s: tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32> {
  %one = arith.constant dense<1.0> : tensor<4x1x1xf32>
  %0 = attn.bias %s, %one : tensor<2x4x3x5xf32>, tensor<4x1x1xf32>
  return %0 : tensor<2x4x3x5xf32>
}
