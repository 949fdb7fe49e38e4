// RUN: attn-opt %s --emit=stmt --target=x86-64-v3 | FileCheck %s

// The schedule's kc is read from the IR: four blocks of K are added up in a
// buffer, and the rest of 7 columns follows in a tile of its own.

func.func @main(%x: tensor<?x263xf32>, %w: tensor<2x263x24xf32>) -> tensor<?x48xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x263xf32>
  %init = tensor.empty(%m) : tensor<?x48xf32>
  %0 = attn.call @linear_0 ins(%x, %w : tensor<?x263xf32>, tensor<2x263x24xf32>) outs(%init : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %0 : tensor<?x48xf32>
}
attn.kernel @linear_0(%x: tensor<?x263xf32>, %w: tensor<2x263x24xf32>) -> tensor<?x48xf32>
    attributes {schedule = #attn.linear_schedule<vector = 8, mr = 4, nr = 24, kc = 64, mb = 64>} {
  %0 = attn.fused_linear %x, %w : tensor<?x263xf32>, tensor<2x263x24xf32> -> tensor<?x48xf32>
  attn.yield %0 : tensor<?x48xf32>
}

// CHECK-LABEL: linear_0__v3
// CHECK: allocate tile_blocks[float32
// CHECK: for (tile_blocks.s1.tile_block$x, 0, 4)
// CHECK: for (tile.s1.{{.*}}, 0, 32)
// CHECK: strict_add
// CHECK: for (tile_rest.s1.{{.*}}, 0, 7)
