// What was measured takes the place of what formulas choose, for kernels of its
// sizes and its target.
// RUN: attn-opt %s --attn-analyze-masks --attn-select-targets=targets=x86-64-v3 --attn-tile --attn-schedule | FileCheck %s
// RUN: attn-opt %s --attn-analyze-masks --attn-select-targets=targets=x86-64-v4 --attn-tile --attn-schedule | FileCheck %s --check-prefix=OTHER
module attributes {attn.tuning = [
  #attn.tuned_attention<target = "x86-64-v3", head_size = 64, value_size = 64, is_masked = false, queries = 16, keys = 32, key_unroll = 8>,
  #attn.tuned_attention<target = "x86-64-v3", head_size = 32, value_size = 32, is_masked = false, queries = 16, keys = 32, key_unroll = 8>,
  #attn.tuned_attention<target = "x86-64-v3", head_size = 32, value_size = 32, is_masked = true, queries = 16, keys = 32, key_unroll = 4>,
  #attn.tuned_attention<target = "x86-64-v3", head_size = 128, value_size = 64, is_masked = false, queries = 24, keys = 32, key_unroll = 2>,
  #attn.tuned_linear<target = "x86-64-v3", inputs = 64, outputs = 96, mr = 5, nr = 16, kc = 32, mb = 20>
]} {
// CHECK-LABEL: attn.kernel @tuned
// CHECK-SAME: schedule = #attn.flash_schedule<vector = 8, key_unroll = 8, value_unroll = 8>
// CHECK: attn.tile_scores {{.*}} -> !attn.tile<16x32xf32>
// OTHER-LABEL: attn.kernel @tuned
// OTHER-SAME: schedule = #attn.flash_schedule<vector = 16, key_unroll = 8, value_unroll = 8>
// OTHER: -> !attn.tile<48x64xf32>
attn.kernel @tuned(%q: tensor<?x?x4x64xf32>, %k: tensor<?x?x4x64xf32>, %c: f32) -> tensor<?x?x4x64xf32> {
  %o = attn.attention %q, %k, %k scale(%c : f32) layout(bshd) : tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32> -> tensor<?x?x4x64xf32>
  attn.yield %o : tensor<?x?x4x64xf32>
}

// A register tile of few keys still has four channels.
// CHECK-LABEL: attn.kernel @two_keys
// CHECK-SAME: schedule = #attn.flash_schedule<vector = 8, key_unroll = 2, value_unroll = 4>
attn.kernel @two_keys(%q: tensor<?x?x4x128xf32>, %k: tensor<?x?x4x128xf32>, %v: tensor<?x?x4x64xf32>, %c: f32) -> tensor<?x?x4x64xf32> {
  %o = attn.attention %q, %k, %v scale(%c : f32) layout(bshd) : tensor<?x?x4x128xf32>, tensor<?x?x4x128xf32>, tensor<?x?x4x64xf32> -> tensor<?x?x4x64xf32>
  attn.yield %o : tensor<?x?x4x64xf32>
}

// With a mask, with few queries, or with other channels the model chooses.
// CHECK-LABEL: attn.kernel @masked
// CHECK: -> !attn.tile<24x64xf32>
attn.kernel @masked(%q: tensor<?x?x4x64xf32>, %k: tensor<?x?x4x64xf32>, %c: f32) -> tensor<?x?x4x64xf32> {
  %o = attn.attention %q, %k, %k scale(%c : f32) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %0 = arith.cmpi sle, %j, %i : index
    attn.yield %0 : i1
  } : tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32> -> tensor<?x?x4x64xf32>
  attn.yield %o : tensor<?x?x4x64xf32>
}

// Entries that differ in the mask have register tiles of their own.
// CHECK-LABEL: attn.kernel @masked_entry
// CHECK-SAME: key_unroll = 4, value_unroll = 4>
attn.kernel @masked_entry(%q: tensor<?x?x4x32xf32>, %k: tensor<?x?x4x32xf32>, %c: f32) -> tensor<?x?x4x32xf32> {
  %o = attn.attention %q, %k, %k scale(%c : f32) layout(bshd) mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %0 = arith.cmpi sle, %j, %i : index
    attn.yield %0 : i1
  } : tensor<?x?x4x32xf32>, tensor<?x?x4x32xf32>, tensor<?x?x4x32xf32> -> tensor<?x?x4x32xf32>
  attn.yield %o : tensor<?x?x4x32xf32>
}

// CHECK-LABEL: attn.kernel @few_queries
// CHECK-SAME: schedule = #attn.decode_schedule
attn.kernel @few_queries(%q: tensor<?x1x4x64xf32>, %k: tensor<?x?x4x64xf32>, %c: f32) -> tensor<?x1x4x64xf32> {
  %o = attn.attention %q, %k, %k scale(%c : f32) layout(bshd) : tensor<?x1x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32> -> tensor<?x1x4x64xf32>
  attn.yield %o : tensor<?x1x4x64xf32>
}

// CHECK-LABEL: attn.kernel @short
// CHECK: -> !attn.tile<16x32xf32>
attn.kernel @short(%q: tensor<?x9x4x64xf32>, %k: tensor<?x?x4x64xf32>, %c: f32) -> tensor<?x9x4x64xf32> {
  %o = attn.attention %q, %k, %k scale(%c : f32) layout(bshd) : tensor<?x9x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32> -> tensor<?x9x4x64xf32>
  attn.yield %o : tensor<?x9x4x64xf32>
}

// CHECK-LABEL: attn.kernel @linear
// CHECK-SAME: schedule = #attn.linear_schedule<vector = 8, mr = 5, nr = 16, kc = 32, mb = 20>
// OTHER-LABEL: attn.kernel @linear
// OTHER-NOT: mr = 5
attn.kernel @linear(%x: tensor<?x64xf32>, %w: tensor<96x64xf32>) -> tensor<?x96xf32> {
  %y = attn.fused_linear %x, %w : tensor<?x64xf32>, tensor<96x64xf32> -> tensor<?x96xf32>
  attn.yield %y : tensor<?x96xf32>
}

// CHECK-LABEL: attn.kernel @other_linear
// CHECK-SAME: nr = 24
attn.kernel @other_linear(%x: tensor<?x96xf32>, %w: tensor<96x96xf32>) -> tensor<?x96xf32> {
  %y = attn.fused_linear %x, %w : tensor<?x96xf32>, tensor<96x96xf32> -> tensor<?x96xf32>
  attn.yield %y : tensor<?x96xf32>
}
}
