// Rotary positions of the first 4 of 8 channels: channel c turns with c + 2,
// inside the part. The channels behind stay as they are.
//
// CASE: x = normal(1, 2, 5, 8)
// CASE: angle = (np.arange(5)[:, None] * 10000.0 ** -(np.arange(2) / 2)[None, :])
// CASE: cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
// CASE: y = rotate(x, cos, sin)
// CASE: assert (y[..., 4:] == x[..., 4:]).all()
// CASE: case(x=x, cos=cos, sin=sin, out_y=y)
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=1e-6,1e-6

func.func @main(
    %x: tensor<1x2x5x8xf32> {attn.name = "x"},
    %cos: tensor<5x2xf32> {attn.name = "cos"},
    %sin: tensor<5x2xf32> {attn.name = "sin"})
    -> (tensor<1x2x5x8xf32> {attn.name = "y"}) {
  %y = attn.rotary %x, %cos, %sin layout(bhsd)<half> : tensor<1x2x5x8xf32>, tensor<5x2xf32>, tensor<5x2xf32>
  return %y : tensor<1x2x5x8xf32>
}
