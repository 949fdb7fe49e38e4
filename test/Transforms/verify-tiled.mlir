// What the pipeline makes passes, and so does what a user made of it by hand: other
// tile sizes, another unrolling, another block.
// RUN: attn-opt %s --attn-fused-to-tiled -o %t.mlir
// RUN: attn-opt %t.mlir --attn-verify-tiled -o /dev/null
// RUN: sed -e 's/key_unroll = 4/key_unroll = 2/' -e 's/mr = 6/mr = 4/' -e 's/kc = 0/kc = 5/' -e 's/mb = 510/mb = 64/' %t.mlir | attn-opt --attn-verify-tiled -o /dev/null
// RUN: sed -e 's/24x/32x/g' -e 's/<24xf32>/<32xf32>/g' -e 's/ 24/ 32/g' %t.mlir | attn-opt --attn-verify-tiled | FileCheck %s
// CHECK: affine.min {{.*}}
// CHECK: !attn.tile<32x8xf32>
// CHECK-NOT: !attn.tile<24

// RUN: sed -e 's/vector = 8, key_unroll/vector = 16, key_unroll/' %t.mlir | not attn-opt --attn-verify-tiled 2>&1 | FileCheck %s --check-prefix=VECTOR
// VECTOR: error: 'attn.tile_scores' op expected a number of queries that is a multiple of vector = 16 (because queries are the lanes), got '!attn.tile<24x128xf32>'

// RUN: sed -e 's/key_unroll = 4/key_unroll = 3/' %t.mlir | not attn-opt --attn-verify-tiled 2>&1 | FileCheck %s --check-prefix=UNROLL
// UNROLL: error: 'attn.tile_scores' op expected a number of keys that is a multiple of key_unroll = 3, got '!attn.tile<24x128xf32>'

// RUN: sed -e 's/nr = 16/nr = 24/' %t.mlir | not attn-opt --attn-verify-tiled 2>&1 | FileCheck %s --check-prefix=PANEL
// PANEL: error: 'attn.fused_linear' op expected panels of 24 columns (because of nr of the schedule), got 'tensor<1x16x16xf32>'

// RUN: sed -e 's/mb = 510/mb = 511/' %t.mlir | not attn-opt --attn-verify-tiled 2>&1 | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: error: 'attn.fused_linear' op expected mb to be a multiple of mr = 6, got 511

// RUN: sed -e 's/linear_schedule<vector = 8/linear_schedule<vector = 32/' %t.mlir | not attn-opt --attn-verify-tiled 2>&1 | FileCheck %s --check-prefix=LANES
// LANES: error: 'attn.fused_linear' op expected nr to be a multiple of vector = 32, got 16

// RUN: sed -e 's/flash_schedule<vector = 8, key_unroll = 4, value_unroll = 4>/rowwise_schedule<vector = 8, rows = 4>/' %t.mlir | not attn-opt --attn-verify-tiled 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: 'attn.kernel' op expected #attn.flash_schedule, #attn.decode_schedule or #attn.matrix_schedule (because of what the kernel computes), got #attn.rowwise_schedule<vector = 8, rows = 4>
attn.weight @w source<"w.safetensors", "w"> : tensor<16x16xf32>
attn.kernel @attention_0(%q: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %c = arith.constant 1.0 : f32
  %r = attn.attention %q, %q, %q scale(%c : f32) layout(bshd) : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  attn.yield %r : tensor<?x?x2x8xf32>
}
attn.kernel @linear_0(%x: tensor<?x16xf32>, %w: tensor<16x16xf32>) -> tensor<?x16xf32> {
  %y = attn.fused_linear %x, %w : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
  attn.yield %y : tensor<?x16xf32>
}
