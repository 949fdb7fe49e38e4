// Five keys and six values are refused when the model is compiled; so are two
// names for what must be one length. Nothing is read past the shorter.
//
// RUN: split-file %s %t
// RUN: not attn-opt %t/static.mlir 2>&1 | FileCheck %s --check-prefix=STATIC
// RUN: not attn-opt %t/named.mlir --emit=fused 2>&1 | FileCheck %s --check-prefix=NAMED

//--- static.mlir
// STATIC: error: 'attn.mix' op expected M = 5 in value (because weights has M = 5), got 6
func.func @main(%q: tensor<1x4x6x8xf32>, %k: tensor<1x4x5x8xf32>, %v: tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32> {
  %s = attn.scores %q, %k layout(bhsd) : tensor<1x4x6x8xf32>, tensor<1x4x5x8xf32> -> tensor<1x4x6x5xf32>
  %p = attn.softmax %s : tensor<1x4x6x5xf32> -> tensor<1x4x6x5xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x4x6x5xf32>, tensor<1x4x6x8xf32> -> tensor<1x4x6x8xf32>
  return %o : tensor<1x4x6x8xf32>
}

//--- named.mlir
// NAMED: error: expected sizes 'keys' and 'values' to have one name
attn.dim @keys range(0, 100)
attn.dim @values range(0, 100)
func.func @main(%q: tensor<1x4x6x8xf32> {attn.name = "q"},
                %k: tensor<1x4x?x8xf32> {attn.name = "k", attn.dims = ["", "", "keys", ""]},
                %v: tensor<1x4x?x8xf32> {attn.name = "v", attn.dims = ["", "", "values", ""]})
    -> (tensor<1x4x6x8xf32> {attn.name = "o"}) {
  %s = attn.scores %q, %k layout(bhsd) : tensor<1x4x6x8xf32>, tensor<1x4x?x8xf32> -> tensor<1x4x6x?xf32>
  %p = attn.softmax %s : tensor<1x4x6x?xf32> -> tensor<1x4x6x?xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x4x6x?xf32>, tensor<1x4x?x8xf32> -> tensor<1x4x6x8xf32>
  return %o : tensor<1x4x6x8xf32>
}
