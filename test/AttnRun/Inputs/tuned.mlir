// Odd sizes, which no formula chooses.
module attributes {attn.tuning = [
  #attn.tuned_linear<target = "x86-64-v2", inputs = 32, outputs = 32, mr = 3, nr = 12, kc = 16, mb = 6>,
  #attn.tuned_attention<target = "x86-64-v2", head_size = 8, value_size = 8, is_masked = false, queries = 12, keys = 12, key_unroll = 4>
]} {
}
