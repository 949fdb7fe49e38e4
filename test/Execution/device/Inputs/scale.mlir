// A row-wise kernel with a weight: small enough for each way of running it.
attn.dim @rows range(0, 2147483647)
func.func @main(%x: tensor<?x64xf32> {attn.dims = ["rows", ""], attn.name = "x"}, %g: tensor<64xf32> {attn.name = "g"})
    -> (tensor<?x64xf32> {attn.name = "y"}) {
  %y = attn.rms_norm %x, %g epsilon(1.0e-5) : tensor<?x64xf32>, tensor<64xf32>
  return %y : tensor<?x64xf32>
}
