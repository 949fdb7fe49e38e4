// RUN: attn-opt %s --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @drops_identities
// CHECK-NOT: capture
// CHECK-NOT: attn.yield
// CHECK: return
func.func @drops_identities(%q: tensor<?x?x4x8xf32>, %c: f32) -> tensor<?x?x4x8xf32> {
  %o = attn.attention %q, %q, %q scale(%c : f32) capture(%c : f32) layout(bshd) combine {
  ^bb0(%x: f32, %y: f32, %b: index, %h: index, %i: index, %j: index, %d: index, %f: f32):
    %0 = arith.mulf %y, %x : f32
    attn.yield %0 : f32
  } score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index, %f: f32):
    attn.yield %s : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %f: f32):
    %true = arith.constant true
    attn.yield %true : i1
  } value {
  ^bb0(%v: f32, %b: index, %h: index, %i: index, %j: index, %d: index, %f: f32):
    attn.yield %v : f32
  } : tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32> -> tensor<?x?x4x8xf32>
  return %o : tensor<?x?x4x8xf32>
}

// -----

// CHECK-LABEL: func.func @keeps_what_matters
// CHECK: combine {
// CHECK: arith.mulf %[[X:.*]], %[[X]]
// CHECK: score {
// CHECK: mask {
// CHECK: %[[FALSE:.*]] = arith.constant false
// CHECK: attn.yield %[[FALSE]]
func.func @keeps_what_matters(%q: tensor<?x?x4x8xf32>, %c: f32) -> tensor<?x?x4x8xf32> {
  %o = attn.attention %q, %q, %q scale(%c : f32) capture(%c : f32) layout(bshd) combine {
  ^bb0(%x: f32, %y: f32, %b: index, %h: index, %i: index, %j: index, %d: index, %f: f32):
    %0 = arith.mulf %x, %x : f32
    attn.yield %0 : f32
  } score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index, %f: f32):
    attn.yield %f : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %f: f32):
    %false = arith.constant false
    attn.yield %false : i1
  } : tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32> -> tensor<?x?x4x8xf32>
  return %o : tensor<?x?x4x8xf32>
}

// -----

// CHECK-LABEL: func.func @merges_captures
// CHECK: capture(%arg1, %arg2 : f32, tensor<4xf32>)
// CHECK: ^bb0(%{{.*}}: f32, %{{.*}}: index, %[[H:.*]]: index, %{{.*}}: index, %{{.*}}: index, %[[C:.*]]: f32, %[[T:.*]]: tensor<4xf32>):
// CHECK-NEXT: tensor.extract %[[T]][%[[H]]]
// CHECK-NEXT: arith.mulf %[[C]], %[[C]]
func.func @merges_captures(%q: tensor<?x?x4x8xf32>, %c: f32, %t: tensor<4xf32>, %unused: index) -> tensor<?x?x4x8xf32> {
  %o = attn.attention %q, %q, %q scale(%c : f32) capture(%c, %unused, %t, %c : f32, index, tensor<4xf32>, f32) layout(bshd) score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index, %f: f32, %n: index, %slopes: tensor<4xf32>, %g: f32):
    %0 = tensor.extract %slopes[%h] : tensor<4xf32>
    %1 = arith.mulf %f, %g : f32
    %2 = arith.addf %0, %1 : f32
    attn.yield %2 : f32
  } : tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32> -> tensor<?x?x4x8xf32>
  return %o : tensor<?x?x4x8xf32>
}

// -----

// CHECK-LABEL: func.func @linear_drops_identity_epilogue
// CHECK-NEXT: attn.fused_linear %arg0, %arg1 layer_norm(%arg2, %arg2 : tensor<4xf32>, tensor<4xf32>) epsilon(1.0e-05)
func.func @linear_drops_identity_epilogue(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>, %b: tensor<4xf32>) -> tensor<?x4xf32> {
  %0 = attn.fused_linear %x, %w capture(%b : tensor<4xf32>) epilogue {
  ^bb0(%acc: f32, %m: index, %n: index, %bias: tensor<4xf32>):
    attn.yield %acc : f32
  } layer_norm(%b, %b : tensor<4xf32>, tensor<4xf32>) epsilon(1.0e-5) : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
