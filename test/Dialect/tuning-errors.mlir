// RUN: attn-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{expected attn.tuning to be a list of #attn.tuned_attention and #attn.tuned_linear on a module, got [1]}}
module attributes {attn.tuning = [1]} {
}

// -----

// expected-error @+1 {{expected attn.tuning to be a list of #attn.tuned_attention and #attn.tuned_linear on a module, got []}}
func.func private @f() attributes {attn.tuning = []}

// -----

func.func private @tuned_attention_c1_positive() attributes {
  // expected-error @+1 {{expected queries >= 1, got 0}}
  t = #attn.tuned_attention<target = "x86-64-v3", head_size = 64, value_size = 64, is_masked = false, queries = 0, keys = 128, key_unroll = 4>}

// -----

func.func private @tuned_attention_c2_divides() attributes {
  // expected-error @+1 {{expected key_unroll to divide keys = 60, got 8}}
  t = #attn.tuned_attention<target = "x86-64-v3", head_size = 64, value_size = 64, is_masked = false, queries = 24, keys = 60, key_unroll = 8>}

// -----

func.func private @tuned_linear_c1_positive() attributes {
  // expected-error @+1 {{expected mb >= 1, got -8}}
  t = #attn.tuned_linear<target = "x86-64-v3", inputs = 64, outputs = 64, mr = 4, nr = 24, kc = 0, mb = -8>}

// -----

func.func private @tuned_linear_c2_block() attributes {
  // expected-error @+1 {{expected kc >= 0 (because 0 stands for a K that is not blocked), got -1}}
  t = #attn.tuned_linear<target = "x86-64-v3", inputs = 64, outputs = 64, mr = 4, nr = 24, kc = -1, mb = 8>}
