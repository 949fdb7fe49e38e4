// One key and value head for each query head, 33 keys, a mask of one row.
func.func @main(
    %q: tensor<2x4x7x16xf32> {attn.name = "q"},
    %k: tensor<2x4x33x16xf32> {attn.name = "k"},
    %v: tensor<2x4x33x16xf32> {attn.name = "v"},
    %mask: tensor<2x1x1x33xi1> {attn.name = "mask"})
    -> (tensor<2x4x7x16xf32> {attn.name = "o"}) {
  %s = attn.scores %q, %k layout(bhsd) : tensor<2x4x7x16xf32>, tensor<2x4x33x16xf32> -> tensor<2x4x7x33xf32>
  %m = attn.mask %s by dense(%mask : tensor<2x1x1x33xi1>) : tensor<2x4x7x33xf32>
  %p = attn.softmax %m : tensor<2x4x7x33xf32> -> tensor<2x4x7x33xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<2x4x7x33xf32>, tensor<2x4x33x16xf32> -> tensor<2x4x7x16xf32>
  return %o : tensor<2x4x7x16xf32>
}
