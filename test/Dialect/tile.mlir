// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

// One step of the recurrence over key tiles.

// CHECK-LABEL: attn.kernel @step
// CHECK-SAME: attributes {schedule = #attn.flash_schedule<vector = 8, key_unroll = 4, value_unroll = 4>}
attn.kernel @step(%q: tensor<?x?x12x32xf32>, %k: tensor<?x?x12x32xf32>, %slopes: tensor<12xf32>, %scale: f32, %rows: index) -> (tensor<?x32xf32>, tensor<?xf32>)
    attributes {schedule = #attn.flash_schedule<vector = 8, key_unroll = 4, value_unroll = 4>} {
  %c0 = arith.constant 0 : index
  // CHECK: attn.tile_load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] dims [1, 3] rows(%{{.*}}) : tensor<?x?x12x32xf32> -> !attn.tile<24x32xf32>
  %qt = attn.tile_load %q[%c0, %c0, %c0, %c0] dims [1, 3] rows(%rows) : tensor<?x?x12x32xf32> -> !attn.tile<24x32xf32>
  %kt = attn.tile_load %k[%c0, %c0, %c0, %c0] dims [1, 3] rows(%rows) : tensor<?x?x12x32xf32> -> !attn.tile<128x32xf32>
  // CHECK: attn.tile_fill 0xFF800000 : !attn.tile<24xf32>
  // CHECK: attn.tile_fill 0.0 : !attn.tile<24xf32>
  // CHECK: attn.tile_fill -0.0 : !attn.tile<24x32xf32>
  %m = attn.tile_fill 0xFF800000 : !attn.tile<24xf32>
  %l = attn.tile_fill 0.0 : !attn.tile<24xf32>
  %a = attn.tile_fill -0.0 : !attn.tile<24x32xf32>
  // CHECK: attn.tile_scores %{{.*}}, %{{.*}} scale(%{{.*}} : f32) : !attn.tile<24x32xf32>, !attn.tile<128x32xf32> -> !attn.tile<24x128xf32>
  %s0 = attn.tile_scores %qt, %kt scale(%scale : f32) : !attn.tile<24x32xf32>, !attn.tile<128x32xf32> -> !attn.tile<24x128xf32>
  // CHECK: attn.tile_scores %{{.*}}, %{{.*}} scale(%{{.*}} : f32) at(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) capture(%{{.*}} : f32) combine {
  %s1 = attn.tile_scores %qt, %kt scale(%scale : f32) at(%c0, %c0, %c0, %c0) capture(%scale : f32) combine {
  ^bb0(%x: f32, %y: f32, %b: index, %h: index, %i: index, %j: index, %d: index, %c: f32):
    %0 = arith.addf %x, %y : f32
    attn.yield %0 : f32
  } : !attn.tile<24x32xf32>, !attn.tile<128x32xf32> -> !attn.tile<24x128xf32>
  // CHECK: attn.tile_score %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) capture(%{{.*}} : tensor<12xf32>) {
  %s2 = attn.tile_score %s1 at(%c0, %c0, %c0, %c0) capture(%slopes : tensor<12xf32>) {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index, %t: tensor<12xf32>):
    %0 = tensor.extract %t[%h] : tensor<12xf32>
    %1 = arith.addf %s, %0 : f32
    attn.yield %1 : f32
  } : !attn.tile<24x128xf32>
  // CHECK: attn.tile_mask %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {
  // CHECK: } : !attn.tile<24x128xf32>
  %s3 = attn.tile_mask %s2 at(%c0, %c0, %c0, %c0) {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %0 = arith.cmpi ule, %j, %i : index
    attn.yield %0 : i1
  } : !attn.tile<24x128xf32>
  // CHECK: %any = attn.tile_any at(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) rows(%{{.*}}) keys(%{{.*}}) sizes [24, 128] capture(%{{.*}} : tensor<12xf32>) {
  // CHECK-NEXT: ^bb0(%b: index, %h: index, %i: index, %j: index, %{{.*}}: tensor<12xf32>):
  %any = attn.tile_any at(%c0, %c0, %c0, %c0) rows(%rows) keys(%rows) sizes [24, 128] capture(%slopes : tensor<12xf32>) {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %t: tensor<12xf32>):
    %0 = arith.cmpi ule, %j, %i : index
    attn.yield %0 : i1
  }
  // CHECK: attn.tile_max %{{.*}}, %{{.*}} : !attn.tile<24x128xf32>, !attn.tile<24xf32>
  %m1 = attn.tile_max %s3, %m : !attn.tile<24x128xf32>, !attn.tile<24xf32>
  // CHECK: attn.tile_exp %{{.*}}, %{{.*}} scale(1.442695) : !attn.tile<24x128xf32>, !attn.tile<24xf32>
  %p = attn.tile_exp %s3, %m1 scale(1.44269502) : !attn.tile<24x128xf32>, !attn.tile<24xf32>
  // CHECK: attn.tile_rescale %{{.*}} from %{{.*}} to %{{.*}} scale(1.442695) : !attn.tile<24xf32>, !attn.tile<24xf32>
  // CHECK: attn.tile_rescale %{{.*}} from %{{.*}} to %{{.*}} scale(1.442695) : !attn.tile<24x32xf32>, !attn.tile<24xf32>
  %l1 = attn.tile_rescale %l from %m to %m1 scale(1.44269502) : !attn.tile<24xf32>, !attn.tile<24xf32>
  %a1 = attn.tile_rescale %a from %m to %m1 scale(1.44269502) : !attn.tile<24x32xf32>, !attn.tile<24xf32>
  // CHECK: attn.tile_sum %{{.*}}, %{{.*}} : !attn.tile<24x128xf32>, !attn.tile<24xf32>
  %l2 = attn.tile_sum %p, %l1 : !attn.tile<24x128xf32>, !attn.tile<24xf32>
  // CHECK: attn.tile_mix %{{.*}}, %{{.*}}, %{{.*}} : !attn.tile<24x128xf32>, !attn.tile<128x32xf32>, !attn.tile<24x32xf32>
  %a2 = attn.tile_mix %p, %kt, %a1 : !attn.tile<24x128xf32>, !attn.tile<128x32xf32>, !attn.tile<24x32xf32>
  // CHECK: attn.tile_mix %{{.*}}, %{{.*}}, %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) value {
  %a3 = attn.tile_mix %p, %kt, %a2 at(%c0, %c0, %c0, %c0) value {
  ^bb0(%v: f32, %b: index, %h: index, %i: index, %j: index, %d: index):
    %0 = arith.negf %v : f32
    attn.yield %0 : f32
  } : !attn.tile<24x128xf32>, !attn.tile<128x32xf32>, !attn.tile<24x32xf32>
  // CHECK: %{{.*}}, %{{.*}} = attn.tile_finish %{{.*}}, %{{.*}}, %{{.*}} rows(%{{.*}}) scale(1.442695) : !attn.tile<24x32xf32>, !attn.tile<24xf32> -> tensor<?x32xf32>, tensor<?xf32>
  %o, %lse = attn.tile_finish %a3, %l2, %m1 rows(%rows) scale(1.44269502) : !attn.tile<24x32xf32>, !attn.tile<24xf32> -> tensor<?x32xf32>, tensor<?xf32>
  attn.yield %o, %lse : tensor<?x32xf32>, tensor<?xf32>
}

// Tiles of f64 have scales of f64.
// CHECK-LABEL: attn.kernel @double
attn.kernel @double(%q: tensor<?x?x12x32xf64>, %scale: f64, %rows: index) -> tensor<?x32xf64> {
  %c0 = arith.constant 0 : index
  // CHECK: attn.tile_load {{.*}} : tensor<?x?x12x32xf64> -> !attn.tile<24x32xf64>
  %qt = attn.tile_load %q[%c0, %c0, %c0, %c0] dims [1, 3] rows(%rows) : tensor<?x?x12x32xf64> -> !attn.tile<24x32xf64>
  // CHECK: attn.tile_fill 0xFF800000 : !attn.tile<24xf64>
  %m = attn.tile_fill 0xFF800000 : !attn.tile<24xf64>
  // CHECK: attn.tile_scores %{{.*}}, %{{.*}} scale(%{{.*}} : f64)
  %s = attn.tile_scores %qt, %qt scale(%scale : f64) : !attn.tile<24x32xf64>, !attn.tile<24x32xf64> -> !attn.tile<24x24xf64>
  // CHECK: attn.tile_exp %{{.*}}, %{{.*}} scale(f64 1.4426950408889634)
  %p = attn.tile_exp %s, %m scale(f64 1.4426950408889634) : !attn.tile<24x24xf64>, !attn.tile<24xf64>
  // CHECK: attn.tile_rescale %{{.*}} from %{{.*}} to %{{.*}} scale(f64 1.0)
  %l = attn.tile_rescale %m from %m to %m scale(f64 1.0) : !attn.tile<24xf64>, !attn.tile<24xf64>
  // CHECK: attn.tile_finish {{.*}} scale(f64 1.0) : !attn.tile<24x24xf64>, !attn.tile<24xf64> -> tensor<?x24xf64>
  %o = attn.tile_finish %p, %l, %m rows(%rows) scale(f64 1.0) : !attn.tile<24x24xf64>, !attn.tile<24xf64> -> tensor<?x24xf64>
  %r = tensor.empty(%rows) : tensor<?x32xf64>
  attn.yield %r : tensor<?x32xf64>
}
