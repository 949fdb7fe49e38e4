// RUN: attn-opt %s | attn-opt | FileCheck %s

// CHECK: module attributes {attn.tuning = [
// CHECK-SAME: #attn.tuned_attention<target = "x86-64-v3", head_size = 64, value_size = 32, is_masked = true, queries = 24, keys = 32, key_unroll = 4>
// CHECK-SAME: #attn.tuned_linear<target = "arm64", inputs = 384, outputs = 1536, mr = 4, nr = 24, kc = 0, mb = 512>
module attributes {attn.tuning = [
  #attn.tuned_attention<target = "x86-64-v3", head_size = 64, value_size = 32, is_masked = true, queries = 24, keys = 32, key_unroll = 4>,
  #attn.tuned_linear<target = "arm64", inputs = 384, outputs = 1536, mr = 4, nr = 24, kc = 0, mb = 512>
]} {
}
