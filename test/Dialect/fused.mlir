// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

// CHECK-DAG: #[[$ZERO:.*]] = affine_map<(d0, d1)[s0, s1] -> (0)>
// CHECK-DAG: #[[$FULL:.*]] = affine_map<(d0, d1)[s0, s1] -> (d0 + 1, s1)>
// CHECK-DAG: #[[$END:.*]] = affine_map<(d0, d1)[s0, s1] -> (d1, s1)>

// CHECK-LABEL: func.func @plain
// CHECK: attn.attention %arg0, %arg1, %arg1 scale(%arg2 : f32) layout(bshd)
// CHECK-SAME: : tensor<?x?x12x32xf32>, tensor<?x?x4x32xf32>, tensor<?x?x4x32xf32> -> tensor<?x?x12x32xf32>
func.func @plain(%q: tensor<?x?x12x32xf32>, %k: tensor<?x?x4x32xf32>, %c: f32) -> tensor<?x?x12x32xf32> {
  %o = attn.attention %q, %k, %k scale(%c : f32) layout(bshd)
      : tensor<?x?x12x32xf32>, tensor<?x?x4x32xf32>, tensor<?x?x4x32xf32> -> tensor<?x?x12x32xf32>
  return %o : tensor<?x?x12x32xf32>
}

// CHECK-LABEL: func.func @attention_with_sinks
// CHECK: attn.attention %{{.*}}, %{{.*}}, %{{.*}} scale(%{{.*}} : f32) sinks(%{{.*}} : tensor<4xf16>) layout(sbhd)
// CHECK: attn.attention %{{.*}}, %{{.*}}, %{{.*}} scale(%{{.*}} : f32) sinks(%{{.*}} : tensor<4xf16>) capture(%{{.*}} : f32) layout(sbhd) score
func.func @attention_with_sinks(%q: tensor<3x2x4x8xf16>, %k: tensor<5x2x2x8xf16>, %c: f32, %t: tensor<4xf16>)
    -> (tensor<3x2x4x8xf16>, tensor<3x2x4x8xf16>) {
  %o = attn.attention %q, %k, %k scale(%c : f32) sinks(%t : tensor<4xf16>) layout(sbhd)
      : tensor<3x2x4x8xf16>, tensor<5x2x2x8xf16>, tensor<5x2x2x8xf16> -> tensor<3x2x4x8xf16>
  %r = attn.attention %q, %k, %k scale(%c : f32) sinks(%t : tensor<4xf16>) capture(%c : f32) layout(sbhd) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index, %x: f32):
    %0 = arith.addf %s, %x : f32
    attn.yield %0 : f32
  } : tensor<3x2x4x8xf16>, tensor<5x2x2x8xf16>, tensor<5x2x2x8xf16> -> tensor<3x2x4x8xf16>
  return %o, %r : tensor<3x2x4x8xf16>, tensor<3x2x4x8xf16>
}

// CHECK-LABEL: func.func @all_regions
// CHECK: %[[O:.*]], %[[LSE:.*]] = attn.attention %{{.*}} scale(%{{.*}} : f32) capture(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x?xi64>, index, f32) layout(bhsd) combine {
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: tensor<?x?xi64>, %{{.*}}: index, %{{.*}}: f32):
// CHECK: } score {
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: tensor<?x?xi64>, %{{.*}}: index, %{{.*}}: f32):
// CHECK: } mask {
// CHECK: attn.yield %{{.*}} : i1
// CHECK: } value {
// CHECK: } : tensor<?x12x?x32xf32>, tensor<?x12x?x32xf32>, tensor<?x12x?x64xf32> -> tensor<?x12x?x64xf32>, tensor<?x12x?xf32>
func.func @all_regions(%q: tensor<?x12x?x32xf32>, %v: tensor<?x12x?x64xf32>, %c: f32, %padding: tensor<?x?xi64>, %n: index)
    -> (tensor<?x12x?x64xf32>, tensor<?x12x?xf32>) {
  %o, %lse = attn.attention %q, %q, %v scale(%c : f32) capture(%padding, %n, %c : tensor<?x?xi64>, index, f32) layout(bhsd)
  combine {
  ^bb0(%x: f32, %y: f32, %b: index, %h: index, %i: index, %j: index, %d: index, %p: tensor<?x?xi64>, %m: index, %f: f32):
    %0 = arith.addf %x, %y : f32
    %1 = math.tanh %0 : f32
    attn.yield %1 : f32
  } score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index, %p: tensor<?x?xi64>, %m: index, %f: f32):
    %0 = arith.mulf %s, %f : f32
    attn.yield %0 : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %p: tensor<?x?xi64>, %m: index, %f: f32):
    %zero = arith.constant 0 : i64
    %0 = tensor.extract %p[%b, %j] : tensor<?x?xi64>
    %1 = arith.cmpi ne, %0, %zero : i64
    attn.yield %1 : i1
  } value {
  ^bb0(%x: f32, %b: index, %h: index, %i: index, %j: index, %d: index, %p: tensor<?x?xi64>, %m: index, %f: f32):
    %0 = arith.addf %x, %f : f32
    attn.yield %0 : f32
  } : tensor<?x12x?x32xf32>, tensor<?x12x?x32xf32>, tensor<?x12x?x64xf32> -> tensor<?x12x?x64xf32>, tensor<?x12x?xf32>
  return %o, %lse : tensor<?x12x?x64xf32>, tensor<?x12x?xf32>
}

// A body in f32 serves tensors of f16; one of f64 is in f64.
// CHECK-LABEL: func.func @half_and_double
// CHECK: ^bb0(%{{.*}}: f32,
// CHECK: tensor<1x2x3x4xf16> -> tensor<1x2x3x4xf16>, tensor<1x3x2xf32>
// CHECK: ^bb0(%{{.*}}: f64,
func.func @half_and_double(%q: tensor<1x2x3x4xf16>, %c: f32, %d: tensor<1x2x3x4xf64>, %e: f64) {
  %o, %lse = attn.attention %q, %q, %q scale(%c : f32) layout(bshd) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %0 = arith.negf %s : f32
    attn.yield %0 : f32
  } : tensor<1x2x3x4xf16>, tensor<1x2x3x4xf16>, tensor<1x2x3x4xf16> -> tensor<1x2x3x4xf16>, tensor<1x3x2xf32>
  %p = attn.attention %d, %d, %d scale(%e : f64) layout(bshd) score {
  ^bb0(%s: f64, %b: index, %h: index, %i: index, %j: index):
    %0 = arith.negf %s : f64
    attn.yield %0 : f64
  } : tensor<1x2x3x4xf64>, tensor<1x2x3x4xf64>, tensor<1x2x3x4xf64> -> tensor<1x2x3x4xf64>
  return
}

// CHECK-LABEL: func.func @key_ranges
// CHECK: key_ranges <[<begin = #[[$ZERO]], full_begin = #[[$ZERO]], full_end = #[[$FULL]], end = #[[$END]]>] exact = true, opaque = false>
func.func @key_ranges(%q: tensor<?x?x12x32xf32>, %c: f32) -> tensor<?x?x12x32xf32> {
  %o = attn.attention %q, %q, %q scale(%c : f32) layout(bshd)
  key_ranges <[<begin = affine_map<(i0, i1)[n, m] -> (0)>, full_begin = affine_map<(i0, i1)[n, m] -> (0)>,
              full_end = affine_map<(i0, i1)[n, m] -> (i0 + 1, m)>, end = affine_map<(i0, i1)[n, m] -> (i1, m)>>]
              exact = true, opaque = false>
  mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %0 = arith.cmpi ule, %j, %i : index
    attn.yield %0 : i1
  } : tensor<?x?x12x32xf32>, tensor<?x?x12x32xf32>, tensor<?x?x12x32xf32> -> tensor<?x?x12x32xf32>
  return %o : tensor<?x?x12x32xf32>
}

// CHECK-LABEL: func.func @fused_linear
// CHECK: attn.fused_linear %{{.*}}, %{{.*}} : tensor<?x384xf32>, tensor<1536x384xf32> -> tensor<?x1536xf32>
// CHECK: attn.fused_linear %{{.*}}, %{{.*}} capture(%{{.*}}, %{{.*}} : tensor<1536xf32>, tensor<?x1536xf32>) epilogue {
// CHECK: attn.gelu %{{.*}}<erf> : f32
// CHECK: } layer_norm(%{{.*}}, %{{.*}} : tensor<1536xf32>, tensor<1536xf32>) epsilon(1.0e-12) : tensor<?x384xf32>, tensor<64x384x24xf32> -> tensor<?x1536xf32>
// CHECK: attn.fused_linear %{{.*}}, %{{.*}} rms_norm(%{{.*}} : tensor<1536xf32>) epsilon(1.0e-06) : tensor<?x384xf32>, tensor<1536x384xf32> -> tensor<?x1536xf32>
func.func @fused_linear(%x: tensor<?x384xf32>, %w: tensor<1536x384xf32>, %p: tensor<64x384x24xf32>, %b: tensor<1536xf32>)
    -> (tensor<?x1536xf32>, tensor<?x1536xf32>) {
  %0 = attn.fused_linear %x, %w : tensor<?x384xf32>, tensor<1536x384xf32> -> tensor<?x1536xf32>
  %1 = attn.fused_linear %x, %p capture(%b, %0 : tensor<1536xf32>, tensor<?x1536xf32>) epilogue {
  ^bb0(%acc: f32, %m: index, %n: index, %bias: tensor<1536xf32>, %residual: tensor<?x1536xf32>):
    %2 = tensor.extract %bias[%n] : tensor<1536xf32>
    %3 = arith.addf %acc, %2 : f32
    %4 = attn.gelu %3<erf> : f32
    %5 = tensor.extract %residual[%m, %n] : tensor<?x1536xf32>
    %6 = arith.addf %4, %5 : f32
    attn.yield %6 : f32
  } layer_norm(%b, %b : tensor<1536xf32>, tensor<1536xf32>) epsilon(1.0e-12)
      : tensor<?x384xf32>, tensor<64x384x24xf32> -> tensor<?x1536xf32>
  %7 = attn.fused_linear %x, %w rms_norm(%b : tensor<1536xf32>) epsilon(1.0e-6) : tensor<?x384xf32>, tensor<1536x384xf32> -> tensor<?x1536xf32>
  return %1, %7 : tensor<?x1536xf32>, tensor<?x1536xf32>
}

// CHECK-LABEL: func.func @attention_of_mixed_types
// CHECK: attn.attention {{.*}} : tensor<2x3x4x8xf32>, tensor<2x5x2x8xbf16>, tensor<2x5x2x6xf16> -> tensor<2x3x4x6xbf16>, tensor<2x4x3xf32>
func.func @attention_of_mixed_types(%q: tensor<2x3x4x8xf32>, %k: tensor<2x5x2x8xbf16>, %v: tensor<2x5x2x6xf16>, %c: f32)
    -> (tensor<2x3x4x6xbf16>, tensor<2x4x3xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%c : f32) layout(bshd)
      : tensor<2x3x4x8xf32>, tensor<2x5x2x8xbf16>, tensor<2x5x2x6xf16> -> tensor<2x3x4x6xbf16>, tensor<2x4x3xf32>
  return %o, %lse : tensor<2x3x4x6xbf16>, tensor<2x4x3xf32>
}
