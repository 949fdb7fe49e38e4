// RUN: attn-opt %s --split-input-file --verify-diagnostics

func.func @softcap_c1_type(%s: tensor<2x4x3x5xf16>, %cap: f64) {
  // expected-error @+1 {{expected element type 'f32' in cap (because scores has 'f16'), got 'f64'}}
  %0 = attn.softcap %s cap(%cap : f64) : tensor<2x4x3x5xf16>
  return
}

// -----

func.func @softcap_c2_zero(%s: tensor<2x4x3x5xf32>) {
  %cap = arith.constant 0.0 : f32
  // expected-error @+1 {{expected a finite cap > 0 (because scores are divided by it), got 0}}
  %0 = attn.softcap %s cap(%cap : f32) : tensor<2x4x3x5xf32>
  return
}

// -----

func.func @softcap_c2_negative(%s: tensor<2x4x3x5xf32>) {
  %cap = arith.constant -3.0 : f32
  // expected-error @+1 {{expected a finite cap > 0 (because scores are divided by it), got -3}}
  %0 = attn.softcap %s cap(%cap : f32) : tensor<2x4x3x5xf32>
  return
}

// -----

func.func @softcap_c3_type(%s: tensor<2x4x?x5xf32>, %cap: f32) {
  // expected-error @+1 {{failed to verify that all of {scores, result} have same type}}
  %0 = "attn.softcap"(%s, %cap) : (tensor<2x4x?x5xf32>, f32) -> tensor<2x4x3x5xf32>
  return
}

// -----

func.func @alibi_c1_slopes(%s: tensor<2x4x3x5xf32>, %m: tensor<5xf32>) {
  // expected-error @+1 {{expected H = 4 in slopes (because scores has H = 4), got 5}}
  %0 = attn.alibi %s slopes(%m : tensor<5xf32>) : tensor<2x4x3x5xf32>
  return
}

// -----

func.func @alibi_c1_dynamic(%s: tensor<2x?x3x5xf32>) {
  // expected-error @+1 {{expected a static H in scores (because each head has its slope), got a dynamic one}}
  %0 = attn.alibi %s : tensor<2x?x3x5xf32>
  return
}

// -----

func.func @alibi_c2_missing(%s: tensor<2x4x3x5xf32>) {
  // expected-error @+1 {{expected offsets (because the alignment is offset), got none}}
  %0 = attn.alibi %s aligned(offset) : tensor<2x4x3x5xf32>
  return
}

// -----

func.func @alibi_c2_batch(%s: tensor<2x4x3x5xf32>, %o: tensor<3xi64>) {
  // expected-error @+1 {{expected B = 2 in offsets (because scores has B = 2), got 3}}
  %0 = attn.alibi %s aligned(offset, %o : tensor<3xi64>) : tensor<2x4x3x5xf32>
  return
}

// -----

func.func @alibi_c3_type(%s: tensor<2x4x?x5xf32>) {
  // expected-error @+1 {{failed to verify that all of {scores, result} have same type}}
  %0 = "attn.alibi"(%s) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<2x4x?x5xf32>) -> tensor<2x4x3x5xf32>
  return
}

// -----

func.func @t5_bias_c1_dynamic(%s: tensor<2x4x3x5xf32>, %t: tensor<?x4xf32>) {
  // expected-error @+1 {{expected a static buckets in table (because the bucket of each distance is compiled in), got a dynamic one}}
  %0 = attn.t5_bias %s, %t : tensor<2x4x3x5xf32>, tensor<?x4xf32>
  return
}

// -----

func.func @t5_bias_c1_one(%s: tensor<2x4x3x5xf32>, %t: tensor<1x4xf32>) {
  // expected-error @+1 {{expected 2 to 1024 buckets in table (because each side has near and far ones), got 1}}
  %0 = attn.t5_bias %s, %t : tensor<2x4x3x5xf32>, tensor<1x4xf32>
  return
}

// -----

func.func @t5_bias_c1_odd(%s: tensor<2x4x3x5xf32>, %t: tensor<7x4xf32>) {
  // expected-error @+1 {{expected an even number from 4 to 1024 of buckets in table (because each side has near and far ones), got 7}}
  %0 = attn.t5_bias %s, %t bidirectional : tensor<2x4x3x5xf32>, tensor<7x4xf32>
  return
}

// -----

func.func @t5_bias_c2_heads(%s: tensor<2x4x3x5xf32>, %t: tensor<8x3xf32>) {
  // expected-error @+1 {{expected H = 4 in table (because scores has H = 4), got 3}}
  %0 = attn.t5_bias %s, %t : tensor<2x4x3x5xf32>, tensor<8x3xf32>
  return
}

// -----

func.func @t5_bias_c3_distance(%s: tensor<2x4x3x5xf32>, %t: tensor<32x4xf32>) {
  // expected-error @+1 {{expected a max_distance from 9 to 65536 (because distances below 8 have a bucket each), got 8}}
  %0 = attn.t5_bias %s, %t bidirectional max_distance(8) : tensor<2x4x3x5xf32>, tensor<32x4xf32>
  return
}

// -----

func.func @t5_bias_c4_element(%s: tensor<2x4x3x5xf32>, %t: tensor<32x4xf16>) {
  // expected-error @+1 {{expected element type 'f32' in table (because scores has 'f32'), got 'f16'}}
  %0 = attn.t5_bias %s, %t : tensor<2x4x3x5xf32>, tensor<32x4xf16>
  return
}

// -----

func.func @t5_bias_c5_needless(%s: tensor<2x4x3x5xf32>, %t: tensor<32x4xf32>, %o: tensor<2xi64>) {
  // expected-error @+1 {{expected no offsets (because the alignment is top_left), got some}}
  %0 = attn.t5_bias %s, %t aligned(top_left, %o : tensor<2xi64>) : tensor<2x4x3x5xf32>, tensor<32x4xf32>
  return
}

// -----

func.func @t5_bias_c6_type(%s: tensor<2x4x?x5xf32>, %t: tensor<32x4xf32>) {
  // expected-error @+1 {{failed to verify that all of {scores, result} have same type}}
  %0 = "attn.t5_bias"(%s, %t) : (tensor<2x4x?x5xf32>, tensor<32x4xf32>) -> tensor<2x4x3x5xf32>
  return
}

// -----

func.func @rotary_c1_width(%x: tensor<2x3x4x8xf32>, %c: tensor<3x5xf32>) {
  // expected-error @+1 {{expected R / 2 <= 4 in cos and sin (because D = 8 channels hold that many pairs), got 5}}
  %0 = attn.rotary %x, %c, %c layout(bshd)<half> : tensor<2x3x4x8xf32>, tensor<3x5xf32>, tensor<3x5xf32>
  return
}

// -----

func.func @rotary_c1_dynamic(%x: tensor<2x3x4x8xf32>, %c: tensor<3x?xf32>) {
  // expected-error @+2 {{expected a static R/2 in cos (because the pairs of channels are compiled in), got a dynamic one}}
  // expected-error @+1 {{expected a static R/2 in sin}}
  %0 = attn.rotary %x, %c, %c layout(bshd)<half> : tensor<2x3x4x8xf32>, tensor<3x?xf32>, tensor<3x?xf32>
  return
}

// -----

func.func @rotary_c2_length(%x: tensor<3x2x4x8xf32>, %c: tensor<2x4x4xf32>) {
  // expected-error @+2 {{expected S = 3 in cos (because input has S = 3), got 4}}
  // expected-error @+1 {{expected S = 3 in sin (because input has S = 3), got 4}}
  %0 = attn.rotary %x, %c, %c layout(sbhd)<half> : tensor<3x2x4x8xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>
  return
}

// -----

func.func @rotary_c2_batch(%x: tensor<2x3x4x8xf32>, %c: tensor<5x3x4xf32>) {
  // expected-error @+2 {{expected B = 2 in cos (because input has B = 2), got 5}}
  // expected-error @+1 {{expected B = 2 in sin (because input has B = 2), got 5}}
  %0 = attn.rotary %x, %c, %c layout(bshd)<half> : tensor<2x3x4x8xf32>, tensor<5x3x4xf32>, tensor<5x3x4xf32>
  return
}

// -----

func.func @rotary_c2_shapes(%x: tensor<2x3x4x8xf32>, %c: tensor<1x3x4xf32>, %s: tensor<2x3x4xf32>) {
  // expected-error @+1 {{expected cos and sin of one shape, got 'tensor<1x3x4xf32>' and 'tensor<2x3x4xf32>'}}
  %0 = attn.rotary %x, %c, %s layout(bshd)<half> : tensor<2x3x4x8xf32>, tensor<1x3x4xf32>, tensor<2x3x4xf32>
  return
}

// -----

func.func @rotary_c2_table_of_positions(%x: tensor<2x3x4x8xf32>, %c: tensor<2x3x4xf32>, %p: tensor<2x3xi64>) {
  // expected-error @+2 {{expected cos of rank 2 (because it is (P, R/2)), got rank 3}}
  // expected-error @+1 {{expected sin of rank 2 (because it is (P, R/2)), got rank 3}}
  %0 = attn.rotary %x, %c, %c positions(%p : tensor<2x3xi64>) layout(bshd)<half> : tensor<2x3x4x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
  return
}

// -----

func.func @rotary_c3_positions(%x: tensor<2x3x4x8xf32>, %c: tensor<90x4xf32>, %p: tensor<1x4xi64>) {
  // expected-error @+1 {{expected S = 3 in positions (because input has S = 3), got 4}}
  %0 = attn.rotary %x, %c, %c positions(%p : tensor<1x4xi64>) layout(bshd)<half> : tensor<2x3x4x8xf32>, tensor<90x4xf32>, tensor<90x4xf32>
  return
}

// -----

func.func @rotary_c4_type(%x: tensor<2x3x4x8xf32>, %c: tensor<3x4xf32>) {
  // expected-error @+1 {{failed to verify that all of {input, result} have same type}}
  %0 = "attn.rotary"(%x, %c, %c) <{layout = #attn.layout<bshd>, form = #attn.rotary_form<half>}>
      : (tensor<2x3x4x8xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4x8xf16>
  return
}

// -----

func.func @cache_append_c1_heads(%c: tensor<2x16x4x8xf32>, %k: tensor<2x3x2x8xf32>, %l: tensor<2xi64>) {
  // expected-error @+1 {{expected G = 4 in update (because cache has G = 4), got 2}}
  %0 = attn.cache_append %c, %k at(%l : tensor<2xi64>) layout(bshd) : tensor<2x16x4x8xf32>, tensor<2x3x2x8xf32>
  return
}

// -----

func.func @cache_append_c1_length(%c: tensor<2x16x4x8xf32>, %k: tensor<2x3x4x8xf32>, %l: tensor<1xi64>) {
  // expected-error @+1 {{expected B = 2 in length (because cache has B = 2), got 1}}
  %0 = attn.cache_append %c, %k at(%l : tensor<1xi64>) layout(bshd) : tensor<2x16x4x8xf32>, tensor<2x3x4x8xf32>
  return
}

// -----

func.func @cache_append_c2_room(%c: tensor<2x4x16x8xf32>, %k: tensor<2x4x17x8xf32>, %l: tensor<2xi64>) {
  // expected-error @+1 {{expected S <= C = 16 in update (because the cache has room for that many positions), got 17}}
  %0 = attn.cache_append %c, %k at(%l : tensor<2xi64>) layout(bhsd) : tensor<2x4x16x8xf32>, tensor<2x4x17x8xf32>
  return
}

// -----

func.func @cache_append_c3_element(%c: tensor<2x16x4x8xf16>, %k: tensor<2x3x4x8xf32>, %l: tensor<2xi64>) {
  // expected-error @+1 {{expected element type 'f16' in update (because cache has 'f16'), got 'f32'}}
  %0 = attn.cache_append %c, %k at(%l : tensor<2xi64>) layout(bshd) : tensor<2x16x4x8xf16>, tensor<2x3x4x8xf32>
  return
}

// -----

func.func @cache_append_c4_type(%c: tensor<2x16x4x8xf32>, %k: tensor<2x3x4x8xf32>, %l: tensor<2xi64>) {
  // expected-error @+1 {{failed to verify that all of {cache, result} have same type}}
  %0 = "attn.cache_append"(%c, %k, %l) <{layout = #attn.layout<bshd>}>
      : (tensor<2x16x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2xi64>) -> tensor<2x19x4x8xf32>
  return
}

// -----

func.func @merge_attention_c1_lse(%o: tensor<2x3x4x8xf32>, %l: tensor<2x3x4xf32>) {
  // expected-error @+2 {{expected H = 4 in first_lse (because first has H = 4), got 3}}
  // expected-error @+1 {{expected N = 3 in first_lse (because first has N = 3), got 4}}
  %0, %1 = attn.merge_attention (%o, %l), (%o, %l) layout(bshd) : tensor<2x3x4x8xf32>, tensor<2x3x4xf32>
  return
}

// -----

func.func @merge_attention_c2_type(%o: tensor<2x3x4x8xf16>, %l: tensor<2x4x3xf16>) {
  // expected-error @+1 {{expected element type 'f32' in first_lse (because first has 'f16'), got 'f16'}}
  %0, %1 = attn.merge_attention (%o, %l), (%o, %l) layout(bshd) : tensor<2x3x4x8xf16>, tensor<2x4x3xf16>
  return
}

// -----

func.func @merge_attention_c3_types(%o: tensor<2x3x4x8xf32>, %p: tensor<2x?x4x8xf32>, %l: tensor<2x4x3xf32>) {
  // expected-error @+1 {{failed to verify that all of {first, second, result} have same type}}
  %0, %1 = "attn.merge_attention"(%o, %l, %p, %l) <{layout = #attn.layout<bshd>}>
      : (tensor<2x3x4x8xf32>, tensor<2x4x3xf32>, tensor<2x?x4x8xf32>, tensor<2x4x3xf32>) -> (tensor<2x3x4x8xf32>, tensor<2x4x3xf32>)
  return
}
