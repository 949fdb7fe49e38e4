// RUN: attn-run %s --random --reference

// Rotary positions of more channels than a vector holds: all of them and some,
// in both forms.

func.func @main(%x: tensor<2x5x3x48xf32> {attn.name = "x"}, %c24: tensor<5x24xf32> {attn.name = "c24"},
                %s24: tensor<5x24xf32> {attn.name = "s24"}, %c15: tensor<5x15xf32> {attn.name = "c15"},
                %s15: tensor<5x15xf32> {attn.name = "s15"}, %y: tensor<2x3x5x31xf32> {attn.name = "y"})
    -> (tensor<2x5x3x48xf32>, tensor<2x5x3x48xf32>, tensor<2x5x3x48xf32>, tensor<2x3x5x31xf32>) {
  %0 = attn.rotary %x, %c24, %s24 layout(bshd)<interleaved> : tensor<2x5x3x48xf32>, tensor<5x24xf32>, tensor<5x24xf32>
  %1 = attn.rotary %x, %c15, %s15 layout(bshd)<interleaved> : tensor<2x5x3x48xf32>, tensor<5x15xf32>, tensor<5x15xf32>
  %2 = attn.rotary %x, %c15, %s15 layout(bshd)<half> : tensor<2x5x3x48xf32>, tensor<5x15xf32>, tensor<5x15xf32>
  %3 = attn.rotary %y, %c15, %s15 layout(bhsd)<interleaved> : tensor<2x3x5x31xf32>, tensor<5x15xf32>, tensor<5x15xf32>
  return %0, %1, %2, %3 : tensor<2x5x3x48xf32>, tensor<2x5x3x48xf32>, tensor<2x5x3x48xf32>, tensor<2x3x5x31xf32>
}
