// 65537 queries and keys under a mask of 2^32 elements and more.
attn.dim @length range(1, 70000)
func.func @main(%q: tensor<1x1x?x64xf32> {attn.name = "q", attn.dims = ["", "", "length", ""]},
                %k: tensor<1x1x?x64xf32> {attn.name = "k", attn.dims = ["", "", "length", ""]},
                %v: tensor<1x1x?x64xf32> {attn.name = "v", attn.dims = ["", "", "length", ""]},
                %mask: tensor<?x?xf32> {attn.name = "mask", attn.dims = ["length", "length"]})
    -> (tensor<1x1x?x64xf32> {attn.name = "o", attn.dims = ["", "", "length", ""]}) {
  %s = attn.scores %q, %k layout(bhsd) : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32> -> tensor<1x1x?x?xf32>
  %m = attn.mask %s by dense(%mask : tensor<?x?xf32>) : tensor<1x1x?x?xf32>
  %p = attn.softmax %m : tensor<1x1x?x?xf32> -> tensor<1x1x?x?xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x1x?x?xf32>, tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return %o : tensor<1x1x?x64xf32>
}
