// Measured tiles that are not whole vectors of the target.
// RUN: attn-opt %s --attn-select-targets=targets=x86-64-v3 --attn-tile --attn-schedule -split-input-file -verify-diagnostics
module attributes {attn.tuning = [
  #attn.tuned_attention<target = "x86-64-v3", head_size = 64, value_size = 64, is_masked = false, queries = 12, keys = 32, key_unroll = 8>
]} {
attn.kernel @attention(%q: tensor<?x?x4x64xf32>, %k: tensor<?x?x4x64xf32>, %c: f32) -> tensor<?x?x4x64xf32> {
  // expected-error @+1 {{expected queries of #attn.tuned_attention to be a multiple of 8 (because these are the f32 lanes of x86-64-v3), got 12}}
  %o = attn.attention %q, %k, %k scale(%c : f32) layout(bshd) : tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32> -> tensor<?x?x4x64xf32>
  attn.yield %o : tensor<?x?x4x64xf32>
}
}

// -----

module attributes {attn.tuning = [
  #attn.tuned_linear<target = "x86-64-v3", inputs = 64, outputs = 96, mr = 5, nr = 20, kc = 32, mb = 20>
]} {
attn.kernel @linear(%x: tensor<?x64xf32>, %w: tensor<96x64xf32>) -> tensor<?x96xf32> {
  // expected-error @+1 {{expected nr of #attn.tuned_linear to be a multiple of 8 (because these are the f32 lanes of x86-64-v3), got 20}}
  %y = attn.fused_linear %x, %w : tensor<?x64xf32>, tensor<96x64xf32> -> tensor<?x96xf32>
  attn.yield %y : tensor<?x96xf32>
}
}
