// RUN: attn-opt %s --emit=host | FileCheck %s

// Three temporaries of 8, 16 and 8 channels: the third takes the slot of the
// first, whose life is over, and the workspace holds two slots.
attn.dim @rows range(0, 100000)
attn.weight @up value<dense<1.0> : tensor<8x4xf32>> : tensor<8x4xf32>
attn.weight @wide value<dense<1.0> : tensor<16x8xf32>> : tensor<16x8xf32>
attn.weight @narrow value<dense<1.0> : tensor<8x16xf32>> : tensor<8x16xf32>
attn.weight @down value<dense<1.0> : tensor<4x8xf32>> : tensor<4x8xf32>

// CHECK-LABEL: func.func private @model__driver_v3(
// CHECK-SAME:    %[[ROWS:[^ ]+]]: index, %[[WORK:[^ ]+]]: memref<?xi8>)
// CHECK:         %[[FIRST:.+]] = arith.muli %[[ROWS]], %c32{{.*}} : index
// CHECK:         %[[PADDED:.+]] = arith.addi %[[FIRST]], %c63{{.*}} : index
// CHECK:         %[[SECOND:.+]] = arith.andi %[[PADDED]], %c-64{{.*}} : index
// CHECK:         %[[A:.+]] = memref.view %[[WORK]][%c0][%[[ROWS]]] : memref<?xi8> to memref<?x8xf32>
// CHECK:         attn.call @linear_0 {{.+}} outs(%[[A]] :
// CHECK:         %[[B:.+]] = memref.view %[[WORK]][%[[SECOND]]][%[[ROWS]]] : memref<?xi8> to memref<?x16xf32>
// CHECK:         attn.call @linear_1 ins(%[[A]], {{.+}} outs(%[[B]] :
// CHECK:         attn.call @linear_2 ins(%[[B]], {{.+}} outs(%[[A]] :
// CHECK:         attn.call @linear_3 ins(%[[A]], {{.+}} outs(%y :
// CHECK-NOT:     memref.view

// The size says so where it does not fit into 64 bits.
// CHECK-LABEL: func.func private @model__workspace_v3(
// CHECK-SAME:    %[[ROWS:[^ ]+]]: index) -> i64
// CHECK:         %[[I:.+]] = arith.index_cast %[[ROWS]] : index to i64
// CHECK:         %[[LOW:.+]], %[[HIGH:.+]] = arith.mului_extended %[[I]], %c32_i64 : i64
// CHECK:         arith.cmpi ne, %[[HIGH]], %c0_i64 : i64
// CHECK:         arith.select %{{.+}}, %c-1_i64, %{{.+}} : i64
func.func @chain(%x: tensor<?x4xf32> {attn.name = "x", attn.dims = ["rows", ""]})
    -> (tensor<?x4xf32> {attn.name = "y", attn.dims = ["rows", ""]}) {
  %w0 = attn.weight_ref @up : tensor<8x4xf32>
  %w1 = attn.weight_ref @wide : tensor<16x8xf32>
  %w2 = attn.weight_ref @narrow : tensor<8x16xf32>
  %w3 = attn.weight_ref @down : tensor<4x8xf32>
  %0 = attn.linear %x, %w0 : tensor<?x4xf32>, tensor<8x4xf32> -> tensor<?x8xf32>
  %1 = attn.linear %0, %w1 : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  %2 = attn.linear %1, %w2 : tensor<?x16xf32>, tensor<8x16xf32> -> tensor<?x8xf32>
  %3 = attn.linear %2, %w3 : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
  return %3 : tensor<?x4xf32>
}
