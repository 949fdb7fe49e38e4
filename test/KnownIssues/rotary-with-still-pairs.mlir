// The other meaning of a part: channel c turns with c + 4 of 8, and the pairs
// beyond the part have frequency 0, cosine 1 and sine 0. Its results are not
// those of the first meaning.
//
// CASE: x = normal(1, 2, 5, 8)
// CASE: angle = (np.arange(5)[:, None] * 10000.0 ** -(np.arange(2) / 2)[None, :])
// CASE: cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
// CASE: cos = np.concatenate([cos, np.ones_like(cos)], axis=1)
// CASE: sin = np.concatenate([sin, np.zeros_like(sin)], axis=1)
// CASE: y = rotate(x, cos, sin)
// CASE: assert abs(y - rotate(x, cos[:, :2], sin[:, :2])).max() > 0.1
// CASE: case(x=x, cos=cos, sin=sin, out_y=y)
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: attn-run %s --case %t.0.npz --tolerance=1e-6,1e-6

func.func @main(
    %x: tensor<1x2x5x8xf32> {attn.name = "x"},
    %cos: tensor<5x4xf32> {attn.name = "cos"},
    %sin: tensor<5x4xf32> {attn.name = "sin"})
    -> (tensor<1x2x5x8xf32> {attn.name = "y"}) {
  %y = attn.rotary %x, %cos, %sin layout(bhsd)<half> : tensor<1x2x5x8xf32>, tensor<5x4xf32>, tensor<5x4xf32>
  return %y : tensor<1x2x5x8xf32>
}
