// HALF stands for f16 or bf16: a linear layer with bias, activation, residual
// and norm, norms, a softmax, an l2 norm, positions, rotary positions and a
// pool.
// And a weight of the model, which is packed into panels of 16-bit numbers.
attn.weight @u value<dense<[[0.5, -1.25, 2.0], [3.0, 0.125, -0.75]]> : tensor<2x3xHALF>> : tensor<2x3xHALF>
attn.dim @b range(1, 4)
attn.dim @s range(1, 64)
func.func @layers(%x: tensor<?x?x40xHALF> {attn.name = "x", attn.dims = ["b", "s", ""]},
                  %w: tensor<40x40xHALF> {attn.name = "w"},
                  %bias: tensor<40xHALF> {attn.name = "bias"},
                  %gamma: tensor<40xHALF> {attn.name = "gamma"},
                  %beta: tensor<40xHALF> {attn.name = "beta"},
                  %table: tensor<64x40xHALF> {attn.name = "table"},
                  %cos: tensor<64x4xf32> {attn.name = "cos"},
                  %sin: tensor<64x4xf32> {attn.name = "sin"},
                  %y: tensor<?x?x3xHALF> {attn.name = "y", attn.dims = ["b", "s", ""]},
                  %positions: tensor<1x?xi64> {attn.name = "positions", attn.dims = ["", "s"]})
    -> (tensor<?x?x40xHALF>, tensor<?x?x40xHALF>, tensor<?x?x40xHALF>, tensor<?x?x40xHALF>, tensor<?x40xHALF>, tensor<?x?x5x8xHALF>, tensor<?x?x40xHALF>, tensor<?x?x2xHALF>, tensor<?x?x40xHALF>, tensor<?x?x40xHALF>) {
  %y0 = attn.linear %x, %w bias(%bias) : tensor<?x?x40xHALF>, tensor<40x40xHALF>, tensor<40xHALF> -> tensor<?x?x40xHALF>
  %y1 = attn.gelu %y0<erf> : tensor<?x?x40xHALF>
  %y2 = arith.addf %y1, %x : tensor<?x?x40xHALF>
  %y3 = attn.layer_norm %y2, %gamma, %beta epsilon(1.0e-05) : tensor<?x?x40xHALF>, tensor<40xHALF>, tensor<40xHALF>
  %y4 = attn.linear %x, %w : tensor<?x?x40xHALF>, tensor<40x40xHALF> -> tensor<?x?x40xHALF>

  %z0 = attn.learned_positions %x, %table first(0) : tensor<?x?x40xHALF>, tensor<64x40xHALF>
  %z1 = attn.layer_norm %z0, %gamma, %beta epsilon(1.0e-05) : tensor<?x?x40xHALF>, tensor<40xHALF>, tensor<40xHALF>
  %z2 = attn.softmax %x : tensor<?x?x40xHALF> -> tensor<?x?x40xHALF>
  %z3 = attn.pool %x<mean> : tensor<?x?x40xHALF> -> tensor<?x40xHALF>
  %heads = attn.split_heads %x heads(5) layout(bshd) : tensor<?x?x40xHALF> -> tensor<?x?x5x8xHALF>
  %r = attn.rotary %heads, %cos, %sin positions(%positions : tensor<1x?xi64>) layout(bshd)<half> : tensor<?x?x5x8xHALF>, tensor<64x4xf32>, tensor<64x4xf32>
  %u = attn.weight_ref @u : tensor<2x3xHALF>
  %p = attn.linear %y, %u : tensor<?x?x3xHALF>, tensor<2x3xHALF> -> tensor<?x?x2xHALF>
  %rms = attn.rms_norm %x, %gamma epsilon(1.0e-05) : tensor<?x?x40xHALF>, tensor<40xHALF>
  %y5 = attn.linear %x, %w : tensor<?x?x40xHALF>, tensor<40x40xHALF> -> tensor<?x?x40xHALF>
  %y6 = attn.rms_norm %y5, %gamma epsilon(1.0e-05) : tensor<?x?x40xHALF>, tensor<40xHALF>
  %n = attn.l2_normalize %x epsilon(1.0e-12) : tensor<?x?x40xHALF>
  return %y3, %y4, %z1, %z2, %z3, %r, %n, %p, %rms, %y6 : tensor<?x?x40xHALF>, tensor<?x?x40xHALF>, tensor<?x?x40xHALF>, tensor<?x?x40xHALF>, tensor<?x40xHALF>, tensor<?x?x5x8xHALF>, tensor<?x?x40xHALF>, tensor<?x?x2xHALF>, tensor<?x?x40xHALF>, tensor<?x?x40xHALF>
}
