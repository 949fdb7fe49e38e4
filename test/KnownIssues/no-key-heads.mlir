// Heads that do not divide are refused, a number of zero among them, before
// anything is divided by it.
//
// RUN: split-file %s %t
// RUN: not attn-opt %t/none.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not attn-opt %t/three.mlir 2>&1 | FileCheck %s --check-prefix=THREE

//--- none.mlir
// NONE: none.mlir:4:8: error: 'attn.scores' op expected H to be a multiple of G = 0
// NONE-SAME: got H = 4
func.func @main(%q: tensor<1x4x6x8xf32>, %k: tensor<1x0x6x8xf32>) -> tensor<1x4x6x6xf32> {
  %s = attn.scores %q, %k layout(bhsd) : tensor<1x4x6x8xf32>, tensor<1x0x6x8xf32> -> tensor<1x4x6x6xf32>
  return %s : tensor<1x4x6x6xf32>
}

//--- three.mlir
// THREE: error: 'attn.scores' op expected H to be a multiple of G = 3
// THREE-SAME: got H = 4
func.func @main(%q: tensor<1x4x6x8xf32>, %k: tensor<1x3x6x8xf32>) -> tensor<1x4x6x6xf32> {
  %s = attn.scores %q, %k layout(bhsd) : tensor<1x4x6x8xf32>, tensor<1x3x6x8xf32> -> tensor<1x4x6x6xf32>
  return %s : tensor<1x4x6x6xf32>
}
