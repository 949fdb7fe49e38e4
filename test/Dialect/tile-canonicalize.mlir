// RUN: attn-opt %s --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @identities
// CHECK-NEXT: return %arg0, %arg0, %arg1
func.func @identities(%s: !attn.tile<4x8xf32>, %a: !attn.tile<4x16xf32>, %m: !attn.tile<4xf32>, %i: index)
    -> (!attn.tile<4x8xf32>, !attn.tile<4x8xf32>, !attn.tile<4x16xf32>) {
  %0 = attn.tile_score %s at(%i, %i, %i, %i) {
  ^bb0(%x: f32, %b: index, %h: index, %n: index, %j: index):
    attn.yield %x : f32
  } : !attn.tile<4x8xf32>
  %1 = attn.tile_mask %0 at(%i, %i, %i, %i) {
  ^bb0(%b: index, %h: index, %n: index, %j: index):
    %true = arith.constant true
    attn.yield %true : i1
  } : !attn.tile<4x8xf32>
  %2 = attn.tile_rescale %a from %m to %m scale(1.44269502) : !attn.tile<4x16xf32>, !attn.tile<4xf32>
  return %0, %1, %2 : !attn.tile<4x8xf32>, !attn.tile<4x8xf32>, !attn.tile<4x16xf32>
}

// -----

// CHECK-LABEL: func.func @not_identities
// CHECK: attn.tile_mask
// CHECK: attn.tile_rescale
func.func @not_identities(%s: !attn.tile<4x8xf32>, %a: !attn.tile<4x16xf32>, %m: !attn.tile<4xf32>, %n: !attn.tile<4xf32>, %i: index)
    -> (!attn.tile<4x8xf32>, !attn.tile<4x16xf32>) {
  %1 = attn.tile_mask %s at(%i, %i, %i, %i) {
  ^bb0(%b: index, %h: index, %r: index, %j: index):
    %false = arith.constant false
    attn.yield %false : i1
  } : !attn.tile<4x8xf32>
  %2 = attn.tile_rescale %a from %m to %n scale(1.44269502) : !attn.tile<4x16xf32>, !attn.tile<4xf32>
  return %1, %2 : !attn.tile<4x8xf32>, !attn.tile<4x16xf32>
}
