// Two dimensions of rows: the outer one is the second of blocks.
func.func @main(%x: tensor<?x?x4xf32> {attn.dims = ["a", "b", ""], attn.name = "x"}, %g: tensor<4xf32> {attn.name = "g"})
    -> (tensor<?x?x4xf32> {attn.name = "y"}) {
  %y = attn.rms_norm %x, %g epsilon(1.0e-5) : tensor<?x?x4xf32>, tensor<4xf32>
  return %y : tensor<?x?x4xf32>
}
