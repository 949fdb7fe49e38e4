// Lengths that are known, odd and near the size of a vision model compile in
// seconds (the limit is generous).
//
// CASE: q, k, v = normal(1, 3, 577, 64), normal(1, 3, 197, 64), normal(1, 3, 197, 64)
// CASE: case(q=q, k=k, v=v, out_o=attention(q, k, v))
// RUN: %python %S/../Inputs/case.py %s %t
// RUN: timeout 120 attn-run %s --case %t.0.npz --tolerance=2e-6,2e-5

func.func @main(
    %q: tensor<1x3x577x64xf32> {attn.name = "q"},
    %k: tensor<1x3x197x64xf32> {attn.name = "k"},
    %v: tensor<1x3x197x64xf32> {attn.name = "v"})
    -> (tensor<1x3x577x64xf32> {attn.name = "o"}) {
  %s0 = attn.scores %q, %k layout(bhsd) : tensor<1x3x577x64xf32>, tensor<1x3x197x64xf32> -> tensor<1x3x577x197xf32>
  %p = attn.softmax %s0 : tensor<1x3x577x197xf32> -> tensor<1x3x577x197xf32>
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x3x577x197xf32>, tensor<1x3x197x64xf32> -> tensor<1x3x577x64xf32>
  return %o : tensor<1x3x577x64xf32>
}
