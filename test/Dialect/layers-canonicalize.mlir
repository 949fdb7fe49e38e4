// RUN: attn-opt %s --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @linear_drops_zero_bias
// CHECK-NEXT: attn.linear %arg0, %arg1 : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
func.func @linear_drops_zero_bias(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>) -> tensor<?x4xf32> {
  %b = arith.constant dense<0.0> : tensor<4xf32>
  %0 = attn.linear %x, %w bias(%b) : tensor<?x8xf32>, tensor<4x8xf32>, tensor<4xf32> -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: func.func @linear_keeps_bias
// CHECK: attn.linear %arg0, %arg1 bias(%{{.*}})
func.func @linear_keeps_bias(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>) -> tensor<?x4xf32> {
  %b = arith.constant dense<[0.0, 0.0, 0.0, 1.0]> : tensor<4xf32>
  %0 = attn.linear %x, %w bias(%b) : tensor<?x8xf32>, tensor<4x8xf32>, tensor<4xf32> -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: func.func @relu_of_relu
// CHECK-NEXT: attn.relu
// CHECK-NEXT: return
func.func @relu_of_relu(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = attn.relu %x : tensor<?xf32>
  %1 = attn.relu %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// The class token is taken whatever the mask says.
// CHECK-LABEL: func.func @cls_ignores_mask
// CHECK-NEXT: attn.pool %arg0<cls>
// CHECK-NEXT: attn.pool %arg0 mask(%arg1 : tensor<?x?xi64>)<mean>
func.func @cls_ignores_mask(%x: tensor<?x?x8xf32>, %m: tensor<?x?xi64>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = attn.pool %x mask(%m : tensor<?x?xi64>)<cls> : tensor<?x?x8xf32> -> tensor<?x8xf32>
  %1 = attn.pool %x mask(%m : tensor<?x?xi64>)<mean> : tensor<?x?x8xf32> -> tensor<?x8xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}
