// HALF stands for f16 or bf16: a causal attention with its log-sum-exp, rules
// of both types on one score, queries of f32 over keys and values of 16 bits,
// and conversions that the attention takes in.
attn.dim @b range(1, 4)
attn.dim @n range(1, 64)
attn.dim @m range(1, 512)
func.func @half(%q: tensor<?x?x4x24xHALF> {attn.name = "q", attn.dims = ["b", "n", "", ""]},
                %k: tensor<?x?x2x24xHALF> {attn.name = "k", attn.dims = ["b", "m", "", ""]},
                %v: tensor<?x?x2x6xHALF> {attn.name = "v", attn.dims = ["b", "m", "", ""]},
                %wide: tensor<?x?x4x24xf32> {attn.name = "wide", attn.dims = ["b", "n", "", ""]},
                %bias: tensor<4x?x?xHALF> {attn.name = "bias", attn.dims = ["", "n", "m"]},
                %bias32: tensor<?x?xf32> {attn.name = "bias32", attn.dims = ["n", "m"]},
                %mask: tensor<?x?xf32> {attn.name = "mask", attn.dims = ["n", "m"]},
                %sinks: tensor<4xHALF> {attn.name = "sinks"},
                %lengths: tensor<?xi64> {attn.name = "lengths", attn.dims = ["b"]})
    -> (tensor<?x?x4x6xHALF>, tensor<?x4x?xf32>, tensor<?x?x4x6xHALF>, tensor<?x?x4x6xf32>, tensor<?x?x4x6xHALF>) {
  %s0 = attn.scores %q, %k layout(bshd) : tensor<?x?x4x24xHALF>, tensor<?x?x2x24xHALF> -> tensor<?x4x?x?xHALF>
  %m0 = attn.mask %s0 by causal<bottom_right> : tensor<?x4x?x?xHALF>
  %p0, %lse = attn.softmax %m0 : tensor<?x4x?x?xHALF> -> tensor<?x4x?x?xHALF>, tensor<?x4x?xf32>
  %o0 = attn.mix %p0, %v layout(bshd) : tensor<?x4x?x?xHALF>, tensor<?x?x2x6xHALF> -> tensor<?x?x4x6xHALF>

  %s1 = attn.scores %q, %k layout(bshd) : tensor<?x?x4x24xHALF>, tensor<?x?x2x24xHALF> -> tensor<?x4x?x?xHALF>
  %t1 = math.tanh %s1 : tensor<?x4x?x?xHALF>
  %b1 = attn.bias %t1, %bias : tensor<?x4x?x?xHALF>, tensor<4x?x?xHALF>
  %c1 = attn.bias %b1, %bias32 : tensor<?x4x?x?xHALF>, tensor<?x?xf32>
  %m1 = attn.mask %c1 by dense(%mask : tensor<?x?xf32>) : tensor<?x4x?x?xHALF>
  %p1 = attn.softmax %m1 sinks(%sinks : tensor<4xHALF>) : tensor<?x4x?x?xHALF> -> tensor<?x4x?x?xHALF>
  %o1 = attn.mix %p1, %v layout(bshd) : tensor<?x4x?x?xHALF>, tensor<?x?x2x6xHALF> -> tensor<?x?x4x6xHALF>

  %s2 = attn.scores %wide, %k layout(bshd) : tensor<?x?x4x24xf32>, tensor<?x?x2x24xHALF> -> tensor<?x4x?x?xf32>
  %m2 = attn.mask %s2 by key_lengths(%lengths : tensor<?xi64>) : tensor<?x4x?x?xf32>
  %p2 = attn.softmax %m2 : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xf32>
  %o2 = attn.mix %p2, %v layout(bshd) : tensor<?x4x?x?xf32>, tensor<?x?x2x6xHALF> -> tensor<?x?x4x6xf32>

  %q3 = arith.extf %q : tensor<?x?x4x24xHALF> to tensor<?x?x4x24xf32>
  %k3 = arith.extf %k : tensor<?x?x2x24xHALF> to tensor<?x?x2x24xf32>
  %v3 = arith.extf %v : tensor<?x?x2x6xHALF> to tensor<?x?x2x6xf32>
  %s3 = attn.scores %q3, %k3 layout(bshd) : tensor<?x?x4x24xf32>, tensor<?x?x2x24xf32> -> tensor<?x4x?x?xf32>
  %p3 = attn.softmax %s3 : tensor<?x4x?x?xf32> -> tensor<?x4x?x?xf32>
  %w3 = attn.mix %p3, %v3 layout(bshd) : tensor<?x4x?x?xf32>, tensor<?x?x2x6xf32> -> tensor<?x?x4x6xf32>
  %o3 = arith.truncf %w3 : tensor<?x?x4x6xf32> to tensor<?x?x4x6xHALF>
  return %o0, %lse, %o1, %o2, %o3 : tensor<?x?x4x6xHALF>, tensor<?x4x?xf32>, tensor<?x?x4x6xHALF>, tensor<?x?x4x6xf32>, tensor<?x?x4x6xHALF>
}
