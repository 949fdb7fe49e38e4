// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// The operations between a projection and the merged heads.

// CHECK-LABEL: func.func @heads
// CHECK: attn.split_heads %{{.*}} heads(12) layout(bshd) : tensor<?x?x384xf32> -> tensor<?x?x12x32xf32>
// CHECK: attn.merge_heads %{{.*}} layout(bshd) : tensor<?x?x12x32xf32> -> tensor<?x?x384xf32>
// CHECK: attn.split_heads %{{.*}} heads(12) layout(bhsd) : tensor<?x?x384xf32> -> tensor<?x12x?x32xf32>
// CHECK: attn.merge_heads %{{.*}} layout(bhsd) : tensor<?x12x?x32xf32> -> tensor<?x?x384xf32>
func.func @heads(%x: tensor<?x?x384xf32>) -> (tensor<?x?x384xf32>, tensor<?x?x384xf32>) {
  %0 = attn.split_heads %x heads(12) layout(bshd) : tensor<?x?x384xf32> -> tensor<?x?x12x32xf32>
  %1 = attn.merge_heads %0 layout(bshd) : tensor<?x?x12x32xf32> -> tensor<?x?x384xf32>
  %2 = attn.split_heads %x heads(12) layout(bhsd) : tensor<?x?x384xf32> -> tensor<?x12x?x32xf32>
  %3 = attn.merge_heads %2 layout(bhsd) : tensor<?x12x?x32xf32> -> tensor<?x?x384xf32>
  return %1, %3 : tensor<?x?x384xf32>, tensor<?x?x384xf32>
}

// CHECK-LABEL: func.func @heads_of_a_sequence_first
// CHECK: attn.split_heads %{{.*}} heads(12) layout(sbhd) : tensor<?x?x384xf32> -> tensor<?x?x12x32xf32>
// CHECK: attn.merge_heads %{{.*}} layout(sbhd) : tensor<?x?x12x32xf32> -> tensor<?x?x384xf32>
func.func @heads_of_a_sequence_first(%x: tensor<?x?x384xf32>) -> tensor<?x?x384xf32> {
  %0 = attn.split_heads %x heads(12) layout(sbhd) : tensor<?x?x384xf32> -> tensor<?x?x12x32xf32>
  %1 = attn.merge_heads %0 layout(sbhd) : tensor<?x?x12x32xf32> -> tensor<?x?x384xf32>
  return %1 : tensor<?x?x384xf32>
}

// CHECK-LABEL: func.func @relative_vectors
// CHECK: attn.scores %{{.*}}, %{{.*}} relative(%{{.*}} : tensor<7x8xf32>) layout(sbhd) : tensor<3x2x4x8xf32>, tensor<5x2x2x8xf32> -> tensor<2x4x3x5xf32>
// CHECK: attn.scores %{{.*}}, %{{.*}} scale(%{{.*}} : f32) relative(%{{.*}} : tensor<7x8xf32>) aligned(bottom_right) layout(sbhd)
// CHECK: attn.scores %{{.*}}, %{{.*}} relative(%{{.*}} : tensor<7x8xf32>) aligned(offset, %{{.*}} : tensor<2xi64>) layout(sbhd)
// CHECK: attn.mix %{{.*}}, %{{.*}} relative(%{{.*}} : tensor<7x8xf32>) layout(sbhd) : tensor<2x4x3x5xf32>, tensor<5x2x2x8xf32> -> tensor<3x2x4x8xf32>
// CHECK: attn.mix %{{.*}}, %{{.*}} relative(%{{.*}} : tensor<7x8xf32>) aligned(offset, %{{.*}} : tensor<2xi64>) layout(sbhd)
func.func @relative_vectors(%q: tensor<3x2x4x8xf32>, %k: tensor<5x2x2x8xf32>, %c: f32, %a: tensor<7x8xf32>, %o: tensor<2xi64>)
    -> (tensor<3x2x4x8xf32>, tensor<3x2x4x8xf32>, tensor<2x4x3x5xf32>) {
  %0 = attn.scores %q, %k relative(%a : tensor<7x8xf32>) layout(sbhd) : tensor<3x2x4x8xf32>, tensor<5x2x2x8xf32> -> tensor<2x4x3x5xf32>
  %1 = attn.scores %q, %k scale(%c : f32) relative(%a : tensor<7x8xf32>) aligned(bottom_right) layout(sbhd) : tensor<3x2x4x8xf32>, tensor<5x2x2x8xf32> -> tensor<2x4x3x5xf32>
  %2 = attn.scores %q, %k relative(%a : tensor<7x8xf32>) aligned(offset, %o : tensor<2xi64>) layout(sbhd) : tensor<3x2x4x8xf32>, tensor<5x2x2x8xf32> -> tensor<2x4x3x5xf32>
  %3 = attn.mix %0, %k relative(%a : tensor<7x8xf32>) layout(sbhd) : tensor<2x4x3x5xf32>, tensor<5x2x2x8xf32> -> tensor<3x2x4x8xf32>
  %4 = attn.mix %1, %k relative(%a : tensor<7x8xf32>) aligned(offset, %o : tensor<2xi64>) layout(sbhd) : tensor<2x4x3x5xf32>, tensor<5x2x2x8xf32> -> tensor<3x2x4x8xf32>
  return %3, %4, %2 : tensor<3x2x4x8xf32>, tensor<3x2x4x8xf32>, tensor<2x4x3x5xf32>
}

// CHECK-LABEL: func.func @additive
// CHECK: attn.additive_scores %{{.*}}, %{{.*}}, %{{.*}} layout(bhsd) : tensor<2x4x3x8xf32>, tensor<2x2x5x8xf32>, tensor<8xf32> -> tensor<2x4x3x5xf32>
// CHECK: attn.additive_scores %{{.*}}, %{{.*}}, %{{.*}} layout(bhsd) : tensor<2x4x3x8xf32>, tensor<2x2x5x8xf32>, tensor<4x8xf32> -> tensor<2x4x3x5xf32>
func.func @additive(%q: tensor<2x4x3x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<8xf32>, %w: tensor<4x8xf32>)
    -> (tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) {
  %0 = attn.additive_scores %q, %k, %v layout(bhsd) : tensor<2x4x3x8xf32>, tensor<2x2x5x8xf32>, tensor<8xf32> -> tensor<2x4x3x5xf32>
  %1 = attn.additive_scores %q, %k, %w layout(bhsd) : tensor<2x4x3x8xf32>, tensor<2x2x5x8xf32>, tensor<4x8xf32> -> tensor<2x4x3x5xf32>
  return %0, %1 : tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>
}

// CHECK-LABEL: func.func @scores_of_grouped_heads
// CHECK: attn.scores %{{.*}}, %{{.*}} layout(bshd) : tensor<?x?x12x32xf32>, tensor<?x?x4x32xf32> -> tensor<?x12x?x?xf32>
// CHECK: attn.scores %{{.*}}, %{{.*}} scale(%{{.*}} : f32) layout(bshd)
// GENERIC: "attn.scores"(%{{.*}}, %{{.*}}) <{alignment = #attn.alignment<top_left>, layout = #attn.layout<bshd>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>}>
func.func @scores_of_grouped_heads(%q: tensor<?x?x12x32xf32>, %k: tensor<?x?x4x32xf32>, %scale: f32)
    -> (tensor<?x12x?x?xf32>, tensor<?x12x?x?xf32>) {
  %0 = attn.scores %q, %k layout(bshd) : tensor<?x?x12x32xf32>, tensor<?x?x4x32xf32> -> tensor<?x12x?x?xf32>
  %1 = attn.scores %q, %k scale(%scale : f32) layout(bshd) : tensor<?x?x12x32xf32>, tensor<?x?x4x32xf32> -> tensor<?x12x?x?xf32>
  return %0, %1 : tensor<?x12x?x?xf32>, tensor<?x12x?x?xf32>
}

// A half-precision product is scaled in f32, a double one in f64.
// CHECK-LABEL: func.func @scores_scale_type
// CHECK: attn.scores %{{.*}}, %{{.*}} scale(%{{.*}} : f32) layout(bhsd) : tensor<1x2x3x4xf16>
// CHECK: attn.scores %{{.*}}, %{{.*}} scale(%{{.*}} : f64) layout(bhsd) : tensor<1x2x3x4xf64>
func.func @scores_scale_type(%h: tensor<1x2x3x4xf16>, %d: tensor<1x2x3x4xf64>, %f: f32, %g: f64)
    -> (tensor<1x2x3x3xf16>, tensor<1x2x3x3xf64>) {
  %0 = attn.scores %h, %h scale(%f : f32) layout(bhsd) : tensor<1x2x3x4xf16>, tensor<1x2x3x4xf16> -> tensor<1x2x3x3xf16>
  %1 = attn.scores %d, %d scale(%g : f64) layout(bhsd) : tensor<1x2x3x4xf64>, tensor<1x2x3x4xf64> -> tensor<1x2x3x3xf64>
  return %0, %1 : tensor<1x2x3x3xf16>, tensor<1x2x3x3xf64>
}

// CHECK-LABEL: func.func @mask_rules
// CHECK: attn.mask %{{.*}} by causal<top_left> : tensor<?x12x?x?xf32>
// CHECK: attn.mask %{{.*}} by causal<bottom_right> : tensor<?x12x?x?xf32>
// CHECK: attn.mask %{{.*}} by causal<offset>(%{{.*}} : tensor<?xi64>) : tensor<?x12x?x?xf32>
// CHECK: attn.mask %{{.*}} by window<left = 3, right = 2> : tensor<?x12x?x?xf32>
// CHECK: attn.mask %{{.*}} by window<left = 3, right = -1, alignment = bottom_right> : tensor<?x12x?x?xf32>
// CHECK: attn.mask %{{.*}} by window<left = 3, right = 0, alignment = offset>(%{{.*}} : tensor<?xi64>)
// CHECK: attn.mask %{{.*}} by key_lengths(%{{.*}} : tensor<?xi32>) : tensor<?x12x?x?xf32>
// CHECK: attn.mask %{{.*}} by key_padding(%{{.*}} : tensor<?x?xi1>) : tensor<?x12x?x?xf32>
// CHECK: attn.mask %{{.*}} by dense(%{{.*}} : tensor<1x1x?x?xi1>) : tensor<?x12x?x?xf32>
// CHECK: attn.mask %{{.*}} by dense(%{{.*}} : tensor<?x?xf32>) : tensor<?x12x?x?xf32>
// GENERIC: "attn.mask"(%{{.*}}) <{rule = #attn.causal<top_left>}>
// GENERIC: "attn.mask"(%{{.*}}, %{{.*}}) <{rule = #attn.key_lengths}>
func.func @mask_rules(%s: tensor<?x12x?x?xf32>, %offset: tensor<?xi64>, %lengths: tensor<?xi32>,
    %padding: tensor<?x?xi1>, %bool: tensor<1x1x?x?xi1>, %float: tensor<?x?xf32>) -> tensor<?x12x?x?xf32> {
  %0 = attn.mask %s by causal<top_left> : tensor<?x12x?x?xf32>
  %1 = attn.mask %0 by causal<bottom_right> : tensor<?x12x?x?xf32>
  %2 = attn.mask %1 by causal<offset>(%offset : tensor<?xi64>) : tensor<?x12x?x?xf32>
  %3 = attn.mask %2 by window<left = 3, right = 2> : tensor<?x12x?x?xf32>
  %4 = attn.mask %3 by window<left = 3, right = -1, alignment = bottom_right> : tensor<?x12x?x?xf32>
  %5 = attn.mask %4 by window<left = 3, right = 0, alignment = offset>(%offset : tensor<?xi64>) : tensor<?x12x?x?xf32>
  %6 = attn.mask %5 by key_lengths(%lengths : tensor<?xi32>) : tensor<?x12x?x?xf32>
  %7 = attn.mask %6 by key_padding(%padding : tensor<?x?xi1>) : tensor<?x12x?x?xf32>
  %8 = attn.mask %7 by dense(%bool : tensor<1x1x?x?xi1>) : tensor<?x12x?x?xf32>
  %9 = attn.mask %8 by dense(%float : tensor<?x?xf32>) : tensor<?x12x?x?xf32>
  return %9 : tensor<?x12x?x?xf32>
}

// CHECK-LABEL: func.func @mask_rules_with_data
// CHECK: attn.mask %{{.*}} by prefix(%{{.*}} : tensor<?xi32>) : tensor<?x12x?x?xf32>
// CHECK: attn.mask %{{.*}} by query_lengths(%{{.*}} : tensor<?xi32>)
// CHECK: attn.mask %{{.*}} by segments(%{{.*}}, %{{.*}} : tensor<?x?xi64>, tensor<?x?xi64>)
// CHECK: attn.mask %{{.*}} by global(%{{.*}}, %{{.*}} : tensor<?x?xi1>, tensor<?x?xi1>)
// CHECK: attn.mask %{{.*}} by dense(%{{.*}} : tensor<12x1x4xf16>)
func.func @mask_rules_with_data(%s: tensor<?x12x?x?xf32>, %lengths: tensor<?xi32>, %ids: tensor<?x?xi64>, %flags: tensor<?x?xi1>,
    %short: tensor<12x1x4xf16>) -> tensor<?x12x?x?xf32> {
  %0 = attn.mask %s by prefix(%lengths : tensor<?xi32>) : tensor<?x12x?x?xf32>
  %1 = attn.mask %0 by query_lengths(%lengths : tensor<?xi32>) : tensor<?x12x?x?xf32>
  %2 = attn.mask %1 by segments(%ids, %ids : tensor<?x?xi64>, tensor<?x?xi64>) : tensor<?x12x?x?xf32>
  %3 = attn.mask %2 by global(%flags, %flags : tensor<?x?xi1>, tensor<?x?xi1>) : tensor<?x12x?x?xf32>
  %4 = attn.mask %3 by dense(%short : tensor<12x1x4xf16>) : tensor<?x12x?x?xf32>
  return %4 : tensor<?x12x?x?xf32>
}

// CHECK-LABEL: func.func @mask_rules_of_positions
// CHECK: attn.mask %{{.*}} by blocks<query = 64, key = 32> : tensor<?x12x?x?xf32>
// CHECK: attn.mask %{{.*}} by chunked<size = 16> : tensor<?x12x?x?xf32>
// CHECK: attn.mask %{{.*}} by chunked<size = 16, alignment = offset>(%{{.*}} : tensor<?xi64>) : tensor<?x12x?x?xf32>
// CHECK: attn.mask %{{.*}} by dilated<step = 4, alignment = bottom_right> : tensor<?x12x?x?xf32>
func.func @mask_rules_of_positions(%s: tensor<?x12x?x?xf32>, %offset: tensor<?xi64>) -> tensor<?x12x?x?xf32> {
  %0 = attn.mask %s by blocks<query = 64, key = 32> : tensor<?x12x?x?xf32>
  %1 = attn.mask %0 by chunked<size = 16> : tensor<?x12x?x?xf32>
  %2 = attn.mask %1 by chunked<size = 16, alignment = offset>(%offset : tensor<?xi64>) : tensor<?x12x?x?xf32>
  %3 = attn.mask %2 by dilated<step = 4, alignment = bottom_right> : tensor<?x12x?x?xf32>
  return %3 : tensor<?x12x?x?xf32>
}

// The operands of a composition's rules follow one another.
// CHECK-LABEL: func.func @mask_compositions
// CHECK: attn.mask %{{.*}} by any_of<[causal<offset>, prefix]>(%{{.*}}, %{{.*}} : tensor<?xi64>, tensor<?xi32>)
// CHECK: attn.mask %{{.*}} by any_of<[window<left = 2, right = 2>, global]>(%{{.*}}, %{{.*}} : tensor<?x?xi1>, tensor<?x?xi1>)
// CHECK: attn.mask %{{.*}} by any_of<[all_of<[causal<top_left>, dilated<step = 4>]>, not<key_padding>]>(%{{.*}} : tensor<?x?xi1>)
// CHECK: attn.mask %{{.*}} by not<dense>(%{{.*}} : tensor<?x?xi1>)
// GENERIC: rule = #attn.any_of<[causal<offset>, prefix]>
func.func @mask_compositions(%s: tensor<?x12x?x?xf32>, %offset: tensor<?xi64>, %prefix: tensor<?xi32>, %flags: tensor<?x?xi1>) -> tensor<?x12x?x?xf32> {
  %0 = attn.mask %s by any_of<[causal<offset>, prefix]>(%offset, %prefix : tensor<?xi64>, tensor<?xi32>) : tensor<?x12x?x?xf32>
  %1 = attn.mask %0 by any_of<[window<left = 2, right = 2>, global]>(%flags, %flags : tensor<?x?xi1>, tensor<?x?xi1>) : tensor<?x12x?x?xf32>
  %2 = attn.mask %1 by any_of<[all_of<[causal<top_left>, dilated<step = 4>]>, not<key_padding>]>(%flags : tensor<?x?xi1>) : tensor<?x12x?x?xf32>
  %3 = attn.mask %2 by not<dense>(%flags : tensor<?x?xi1>) : tensor<?x12x?x?xf32>
  return %3 : tensor<?x12x?x?xf32>
}

// CHECK-LABEL: func.func @bias_broadcasts
// CHECK: attn.bias %{{.*}}, %{{.*}} : tensor<2x12x7x?xf32>, tensor<12x7x?xf32>
// CHECK: attn.bias %{{.*}}, %{{.*}} : tensor<2x12x7x?xf32>, tensor<12x1x1xf32>
// CHECK: attn.bias %{{.*}}, %{{.*}} : tensor<2x12x7x?xf32>, tensor<f32>
func.func @bias_broadcasts(%s: tensor<2x12x7x?xf32>, %a: tensor<12x7x?xf32>, %b: tensor<12x1x1xf32>, %c: tensor<f32>) -> tensor<2x12x7x?xf32> {
  %0 = attn.bias %s, %a : tensor<2x12x7x?xf32>, tensor<12x7x?xf32>
  %1 = attn.bias %0, %b : tensor<2x12x7x?xf32>, tensor<12x1x1xf32>
  %2 = attn.bias %1, %c : tensor<2x12x7x?xf32>, tensor<f32>
  return %2 : tensor<2x12x7x?xf32>
}

// CHECK-LABEL: func.func @softmax
// CHECK: attn.softmax %{{.*}} : tensor<?x12x?x?xf32> -> tensor<?x12x?x?xf32>
// CHECK: %{{.*}}, %{{.*}} = attn.softmax %{{.*}} : tensor<?x12x?x?xf32> -> tensor<?x12x?x?xf32>, tensor<?x12x?xf32>
// CHECK: %{{.*}}, %{{.*}} = attn.softmax %{{.*}} : tensor<5xf16> -> tensor<5xf16>, tensor<f32>
func.func @softmax(%s: tensor<?x12x?x?xf32>, %row: tensor<5xf16>) -> (tensor<?x12x?xf32>, tensor<f32>) {
  %0 = attn.softmax %s : tensor<?x12x?x?xf32> -> tensor<?x12x?x?xf32>
  %1, %lse = attn.softmax %0 : tensor<?x12x?x?xf32> -> tensor<?x12x?x?xf32>, tensor<?x12x?xf32>
  %2, %lse2 = attn.softmax %row : tensor<5xf16> -> tensor<5xf16>, tensor<f32>
  return %lse, %lse2 : tensor<?x12x?xf32>, tensor<f32>
}

// CHECK-LABEL: func.func @softmax_with_sinks
// CHECK: attn.softmax %{{.*}} sinks(%{{.*}} : tensor<12xf32>) : tensor<?x12x?x?xf32> -> tensor<?x12x?x?xf32>, tensor<?x12x?xf32>
func.func @softmax_with_sinks(%s: tensor<?x12x?x?xf32>, %t: tensor<12xf32>) -> tensor<?x12x?xf32> {
  %0, %lse = attn.softmax %s sinks(%t : tensor<12xf32>) : tensor<?x12x?x?xf32> -> tensor<?x12x?x?xf32>, tensor<?x12x?xf32>
  return %lse : tensor<?x12x?xf32>
}

// CHECK-LABEL: func.func @mix_of_grouped_heads
// CHECK: attn.mix %{{.*}}, %{{.*}} layout(bshd) : tensor<?x12x?x?xf32>, tensor<?x?x4x32xf32> -> tensor<?x?x12x32xf32>
// CHECK: attn.mix %{{.*}}, %{{.*}} layout(bhsd) : tensor<?x12x?x?xf32>, tensor<?x4x?x64xf32> -> tensor<?x12x?x64xf32>
func.func @mix_of_grouped_heads(%p: tensor<?x12x?x?xf32>, %v: tensor<?x?x4x32xf32>, %w: tensor<?x4x?x64xf32>)
    -> (tensor<?x?x12x32xf32>, tensor<?x12x?x64xf32>) {
  %0 = attn.mix %p, %v layout(bshd) : tensor<?x12x?x?xf32>, tensor<?x?x4x32xf32> -> tensor<?x?x12x32xf32>
  %1 = attn.mix %p, %w layout(bhsd) : tensor<?x12x?x?xf32>, tensor<?x4x?x64xf32> -> tensor<?x12x?x64xf32>
  return %0, %1 : tensor<?x?x12x32xf32>, tensor<?x12x?x64xf32>
}

// CHECK-LABEL: func.func @mixed_types
// CHECK: attn.scores %{{.*}}, %{{.*}} layout(bshd) : tensor<2x3x4x8xf32>, tensor<2x5x2x8xbf16> -> tensor<2x4x3x5xf32>
// CHECK: attn.bias %{{.*}}, %{{.*}} : tensor<2x4x3x5xf32>, tensor<3x5xf16>
// CHECK: attn.mix %{{.*}}, %{{.*}} layout(bshd) : tensor<2x4x3x5xf32>, tensor<2x5x2x8xbf16> -> tensor<2x3x4x8xf32>
func.func @mixed_types(%q: tensor<2x3x4x8xf32>, %k: tensor<2x5x2x8xbf16>, %bias: tensor<3x5xf16>) -> tensor<2x3x4x8xf32> {
  %s = attn.scores %q, %k layout(bshd) : tensor<2x3x4x8xf32>, tensor<2x5x2x8xbf16> -> tensor<2x4x3x5xf32>
  %t = attn.bias %s, %bias : tensor<2x4x3x5xf32>, tensor<3x5xf16>
  %o = attn.mix %t, %k layout(bshd) : tensor<2x4x3x5xf32>, tensor<2x5x2x8xbf16> -> tensor<2x3x4x8xf32>
  return %o : tensor<2x3x4x8xf32>
}
