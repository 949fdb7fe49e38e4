// A head size that is known only when the model runs would need scratch memory
// without a bound. It is refused where it is written.
//
// RUN: not attn-opt %s 2>&1 | FileCheck %s
// CHECK: head-size-unknown.mlir:[[#@LINE+4]]:8: error: 'attn.scores' op expected a static D in query
// CHECK-SAME: got a dynamic one

func.func @main(%q: tensor<1x4x6x?xf32>, %k: tensor<1x2x6x?xf32>) -> tensor<1x4x6x6xf32> {
  %s = attn.scores %q, %k layout(bhsd) : tensor<1x4x6x?xf32>, tensor<1x2x6x?xf32> -> tensor<1x4x6x6xf32>
  return %s : tensor<1x4x6x6xf32>
}
