// Rotary positions of (batch, heads, positions, channels) of (2, 4, 3, 8): the
// positions are the third dimension, not the second.
//
// CASE: x = normal(2, 4, 3, 8)
// CASE: angle = (np.arange(3)[:, None] * 10000.0 ** -(np.arange(4) / 4)[None, :])
// CASE: cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
// CASE: case(x=x, cos=cos, sin=sin, out_y=rotate(x, cos, sin, 'interleaved'))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=1e-6,1e-6

func.func @main(
    %x: tensor<2x4x3x8xf32> {attn.name = "x"},
    %cos: tensor<3x4xf32> {attn.name = "cos"},
    %sin: tensor<3x4xf32> {attn.name = "sin"})
    -> (tensor<2x4x3x8xf32> {attn.name = "y"}) {
  %y = attn.rotary %x, %cos, %sin layout(bhsd)<interleaved> : tensor<2x4x3x8xf32>, tensor<3x4xf32>, tensor<3x4xf32>
  return %y : tensor<2x4x3x8xf32>
}
