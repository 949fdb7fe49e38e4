// Between two kernels of a device stands one of f64, which the host computes.
func.func @main(%x: tensor<5x64xf32> {attn.name = "x"}, %g: tensor<64xf32> {attn.name = "g"}) -> (tensor<5x64xf32> {attn.name = "y"}) {
  %0 = attn.rms_norm %x, %g epsilon(1.0e-5) : tensor<5x64xf32>, tensor<64xf32>
  %1 = arith.extf %0 : tensor<5x64xf32> to tensor<5x64xf64>
  %2 = attn.softmax %1 : tensor<5x64xf64> -> tensor<5x64xf64>
  %3 = arith.truncf %2 : tensor<5x64xf64> to tensor<5x64xf32>
  %4 = attn.rms_norm %3, %g epsilon(1.0e-5) : tensor<5x64xf32>, tensor<64xf32>
  return %4 : tensor<5x64xf32>
}
