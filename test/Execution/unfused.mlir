// RUN: attn-run %s --random --dim batch=2 --dim n=5 --dim m=7 --reference

// Everything that a mask or a bias can be, unfused because the weights are a
// result: each is a generic kernel.

attn.dim @batch range(1, 4)
attn.dim @n range(1, 64)
attn.dim @m range(1, 64)
func.func @unfused(%q: tensor<?x?x4x8xf32> {attn.name = "q", attn.dims = ["batch", "n", "", ""]},
                   %k: tensor<?x?x2x8xf32> {attn.name = "k", attn.dims = ["batch", "m", "", ""]},
                   %v: tensor<?x?x2x8xf32> {attn.name = "v", attn.dims = ["batch", "m", "", ""]},
                   %bias: tensor<1x4x?x?xf32> {attn.name = "bias", attn.dims = ["", "", "n", "m"]},
                   %summand: tensor<?x?xf32> {attn.name = "summand", attn.dims = ["n", "m"]})
    -> (tensor<?x?x4x8xf32>, tensor<?x4x?x?xf32>) {
  %0 = attn.scores %q, %k layout(bshd) : tensor<?x?x4x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x4x?x?xf32>
  %1 = attn.bias %0, %bias : tensor<?x4x?x?xf32>, tensor<1x4x?x?xf32>
  %2 = attn.mask %1 by causal<bottom_right> : tensor<?x4x?x?xf32>
  %3 = attn.mask %2 by dense(%summand : tensor<?x?xf32>) : tensor<?x4x?x?xf32>
  %4 = attn.softmax %3 : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xf32>
  %5 = attn.mix %4, %v layout(bshd) : tensor<?x4x?x?xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x4x8xf32>
  return %5, %4 : tensor<?x?x4x8xf32>, tensor<?x4x?x?xf32>
}
