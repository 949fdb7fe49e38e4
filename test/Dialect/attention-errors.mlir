// RUN: attn-opt %s --split-input-file --verify-diagnostics

func.func @split_heads_c1_count(%x: tensor<2x3x12xf32>) {
  // expected-error @+1 {{expected H = 4 in result (because heads is 4), got 3}}
  %0 = attn.split_heads %x heads(4) layout(bshd) : tensor<2x3x12xf32> -> tensor<2x3x3x4xf32>
  return
}

// -----

func.func @split_heads_c1_dynamic_size(%x: tensor<2x3x12xf32>) {
  // expected-error @+1 {{expected a static D in result (because the number and the size of heads are compiled in), got a dynamic one}}
  %0 = attn.split_heads %x heads(4) layout(bshd) : tensor<2x3x12xf32> -> tensor<2x3x4x?xf32>
  return
}

// -----

func.func @split_heads_c1_no_heads(%x: tensor<2x3x12xf32>) {
  // expected-error @+1 {{attribute 'heads' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %0 = attn.split_heads %x heads(0) layout(bshd) : tensor<2x3x12xf32> -> tensor<2x3x4x3xf32>
  return
}

// -----

func.func @split_heads_c2_channels(%x: tensor<2x3x13xf32>) {
  // expected-error @+1 {{expected 12 channels in input (because H * D = 4 * 3), got 13}}
  %0 = attn.split_heads %x heads(4) layout(bshd) : tensor<2x3x13xf32> -> tensor<2x3x4x3xf32>
  return
}

// -----

func.func @split_heads_c2_dynamic_channels(%x: tensor<2x3x?xf32>) {
  // expected-error @+1 {{expected a static number of channels in input (because it is H * D = 12), got a dynamic one}}
  %0 = attn.split_heads %x heads(4) layout(bshd) : tensor<2x3x?xf32> -> tensor<2x3x4x3xf32>
  return
}

// -----

func.func @split_heads_c3_sequence_of_layout(%x: tensor<2x3x12xf32>) {
  // expected-error @+1 {{expected S = 3 in result (because input has S = 3), got 5}}
  %0 = attn.split_heads %x heads(4) layout(bhsd) : tensor<2x3x12xf32> -> tensor<2x4x5x3xf32>
  return
}

// -----

func.func @split_heads_c4_element(%x: tensor<2x3x12xf32>) {
  // expected-error @+1 {{expected element type 'f32' in result (because input has 'f32'), got 'f16'}}
  %0 = attn.split_heads %x heads(4) layout(bshd) : tensor<2x3x12xf32> -> tensor<2x3x4x3xf16>
  return
}

// -----

func.func @layout_keyword(%x: tensor<2x3x12xf32>) {
  // expected-error @+1 {{expected a layout, bshd, bhsd or sbhd, got 'hsbd'}}
  %0 = attn.split_heads %x heads(4) layout(hsbd) : tensor<2x3x12xf32> -> tensor<2x3x4x3xf32>
  return
}

// -----

func.func @merge_heads_c1_channels(%x: tensor<2x3x4x3xf32>) {
  // expected-error @+1 {{expected 12 channels in result (because H * D = 4 * 3), got 13}}
  %0 = attn.merge_heads %x layout(bshd) : tensor<2x3x4x3xf32> -> tensor<2x3x13xf32>
  return
}

// -----

func.func @merge_heads_c1_dynamic(%x: tensor<2x3x4x3xf32>) {
  // expected-error @+1 {{expected a static number of channels in result (because it is H * D = 12), got a dynamic one}}
  %0 = attn.merge_heads %x layout(bshd) : tensor<2x3x4x3xf32> -> tensor<2x3x?xf32>
  return
}

// -----

func.func @merge_heads_c2_batch(%x: tensor<2x3x4x3xf32>) {
  // expected-error @+1 {{expected B = 2 in result (because input has B = 2), got 1}}
  %0 = attn.merge_heads %x layout(bshd) : tensor<2x3x4x3xf32> -> tensor<1x3x12xf32>
  return
}

// -----

func.func @merge_heads_c3_element(%x: tensor<2x3x4x3xf32>) {
  // expected-error @+1 {{expected element type 'f32' in result (because input has 'f32'), got 'f64'}}
  %0 = attn.merge_heads %x layout(bshd) : tensor<2x3x4x3xf32> -> tensor<2x3x12xf64>
  return
}

// -----

func.func @scores_c1_head_size(%q: tensor<2x3x4x32xf32>, %k: tensor<2x5x4x16xf32>) {
  // expected-error @+1 {{'attn.scores' op expected D = 32 in key (because query has D = 32), got 16}}
  %0 = attn.scores %q, %k layout(bshd) : tensor<2x3x4x32xf32>, tensor<2x5x4x16xf32> -> tensor<2x4x3x5xf32>
  return
}

// -----

// Everything that is wrong is reported at once.
func.func @scores_c1_c3_all_at_once(%q: tensor<2x3x4x32xf32>, %k: tensor<1x5x4x16xf32>) {
  // expected-error @+3 {{expected B = 2 in key (because query has B = 2), got 1}}
  // expected-error @+2 {{expected D = 32 in key (because query has D = 32), got 16}}
  // expected-error @+1 {{expected M = 5 in result (because key has M = 5), got 6}}
  %0 = attn.scores %q, %k layout(bshd) : tensor<2x3x4x32xf32>, tensor<1x5x4x16xf32> -> tensor<2x4x3x6xf32>
  return
}

// -----

func.func @scores_c2_groups(%q: tensor<2x3x6x8xf32>, %k: tensor<2x5x4x8xf32>) {
  // expected-error @+1 {{expected H to be a multiple of G = 4 (because neighbouring query heads share a key head), got H = 6}}
  %0 = attn.scores %q, %k layout(bshd) : tensor<2x3x6x8xf32>, tensor<2x5x4x8xf32> -> tensor<2x6x3x5xf32>
  return
}

// -----

func.func @scores_c2_dynamic_heads(%q: tensor<2x3x?x8xf32>, %k: tensor<2x5x4x8xf32>) {
  // expected-error @+1 {{expected a static H in query (because the number and the size of heads are compiled in), got a dynamic one}}
  %0 = attn.scores %q, %k layout(bshd) : tensor<2x3x?x8xf32>, tensor<2x5x4x8xf32> -> tensor<2x4x3x5xf32>
  return
}

// -----

func.func @scores_c3_layout_of_result(%q: tensor<2x3x4x8xf32>) {
  // expected-error @+1 {{expected N = 3 in result (because query has N = 3), got 4}}
  %0 = attn.scores %q, %q layout(bshd) : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x4x4x3xf32>
  return
}

// -----

func.func @scores_c4_scale(%q: tensor<2x3x4x8xf16>, %scale: f16) {
  // expected-error @+1 {{expected a scale of type 'f32' (because query has element type 'f16'), got 'f16'}}
  %0 = attn.scores %q, %q scale(%scale : f16) layout(bshd) : tensor<2x3x4x8xf16>, tensor<2x3x4x8xf16> -> tensor<2x4x3x3xf16>
  return
}

// -----

func.func @scores_c5_element(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf64>) {
  // expected-error @+2 {{expected element type 'f32', 'f16' or 'bf16' in key (because query has 'f32' and one type computes with both), got 'f64'}}
  // expected-error @+1 {{expected element type 'f32' in result (because query has 'f32'), got 'f64'}}
  %0 = attn.scores %q, %k layout(bshd) : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf64> -> tensor<2x4x3x3xf64>
  return
}

// -----

func.func @scores_c5_doubles(%q: tensor<2x3x4x8xf64>, %k: tensor<2x3x4x8xbf16>) {
  // expected-error @+1 {{expected element type 'f64' in key (because query has 'f64' and one type computes with both), got 'bf16'}}
  %0 = attn.scores %q, %k layout(bshd) : tensor<2x3x4x8xf64>, tensor<2x3x4x8xbf16> -> tensor<2x4x3x3xf64>
  return
}

// -----

func.func @mask_c1_missing(%s: tensor<2x4x3x5xf32>) {
  // expected-error @+1 {{expected 1 inputs (because rule #attn.key_lengths reads i32 or i64 of shape (B)), got 0}}
  %0 = attn.mask %s by key_lengths : tensor<2x4x3x5xf32>
  return
}

// -----

func.func @mask_c1_missing_offset(%s: tensor<2x4x3x5xf32>) {
  // expected-error @+1 {{expected 1 inputs (because rule #attn.window<left = 2, right = 0, alignment = offset> reads i64 of shape (B)), got 0}}
  %0 = attn.mask %s by window<left = 2, right = 0, alignment = offset> : tensor<2x4x3x5xf32>
  return
}

// -----

func.func @mask_c1_missing_dense(%s: tensor<2x4x3x5xf32>) {
  // expected-error @+1 {{expected 1 inputs (because rule #attn.dense reads a mask that broadcasts to (B, H, N, M)), got 0}}
  %0 = attn.mask %s by dense : tensor<2x4x3x5xf32>
  return
}

// -----

func.func @mask_c1_needless(%s: tensor<2x4x3x5xf32>, %lengths: tensor<2xi64>) {
  // expected-error @+1 {{expected 0 inputs (because rule #attn.causal<top_left> reads none), got 1}}
  %0 = attn.mask %s by causal<top_left>(%lengths : tensor<2xi64>) : tensor<2x4x3x5xf32>
  return
}

// -----

func.func @mask_c2_shape(%s: tensor<2x4x3x5xf32>, %padding: tensor<2x3xi1>) {
  // expected-error @+1 {{expected M = 5 in input 0 (because scores has M = 5), got 3}}
  %0 = attn.mask %s by key_padding(%padding : tensor<2x3xi1>) : tensor<2x4x3x5xf32>
  return
}

// -----

func.func @mask_c2_rank(%s: tensor<2x4x3x5xf32>, %lengths: tensor<2x1xi64>) {
  // expected-error @+1 {{expected input 0 of rank 1 (because it is (B)), got rank 2}}
  %0 = attn.mask %s by key_lengths(%lengths : tensor<2x1xi64>) : tensor<2x4x3x5xf32>
  return
}

// -----

func.func @mask_c2_dense_broadcast(%s: tensor<2x4x3x5xf32>, %mask: tensor<3x6xi1>) {
  // expected-error @+1 {{expected M = 5, less or 1 in input 0 (because it broadcasts to the scores), got 6}}
  %0 = attn.mask %s by dense(%mask : tensor<3x6xi1>) : tensor<2x4x3x5xf32>
  return
}

// -----

func.func @mask_c3_padding_of_float(%s: tensor<2x4x3x5xf32>, %padding: tensor<2x5xf32>) {
  // expected-error @+1 {{expected element type i1, i8, i32 or i64 in input 0 (because rule #attn.key_padding reads that), got 'f32'}}
  %0 = attn.mask %s by key_padding(%padding : tensor<2x5xf32>) : tensor<2x4x3x5xf32>
  return
}

// -----

func.func @mask_c3_dense_of_integers(%s: tensor<2x4x3x5xf32>, %mask: tensor<3x5xi64>) {
  // expected-error @+1 {{expected element type i1 or a float type in input 0 (because rule #attn.dense reads that), got 'i64'}}
  %0 = attn.mask %s by dense(%mask : tensor<3x5xi64>) : tensor<2x4x3x5xf32>
  return
}

// -----

func.func @mask_rule_keyword(%s: tensor<2x4x3x5xf32>) {
  // expected-error @+1 {{expected an attribute of the attn dialect without its prefix, such as causal<top_left>, got 'diagonal'}}
  %0 = attn.mask %s by diagonal : tensor<2x4x3x5xf32>
  return
}

// -----

func.func @mask_rule_of_another_kind(%s: tensor<2x4x3x5xf32>) {
  // expected-error @+1 {{attribute 'rule' failed to satisfy constraint}}
  %0 = attn.mask %s by layout<bshd> : tensor<2x4x3x5xf32>
  return
}

// -----

func.func @bias_c1_rank(%s: tensor<2x4x3x5xf32>, %bias: tensor<1x2x4x3x5xf32>) {
  // expected-error @+1 {{expected bias of rank 4 or less (because it broadcasts to (B, H, N, M)), got rank 5}}
  %0 = attn.bias %s, %bias : tensor<2x4x3x5xf32>, tensor<1x2x4x3x5xf32>
  return
}

// -----

func.func @bias_c1_heads(%s: tensor<2x4x3x5xf32>, %bias: tensor<2x1x1xf32>) {
  // expected-error @+1 {{expected H = 4 or 1 in bias (because it broadcasts to the scores), got 2}}
  %0 = attn.bias %s, %bias : tensor<2x4x3x5xf32>, tensor<2x1x1xf32>
  return
}

// -----

func.func @bias_c2_element(%s: tensor<2x4x3x5xf32>, %bias: tensor<3x5xf64>) {
  // expected-error @+1 {{expected element type 'f32', 'f16' or 'bf16' in bias (because scores has 'f32' and one type computes with both), got 'f64'}}
  %0 = attn.bias %s, %bias : tensor<2x4x3x5xf32>, tensor<3x5xf64>
  return
}

// -----

func.func @softmax_c1_rank_0(%s: tensor<f32>) {
  // expected-error @+1 {{expected input of rank 1 or more (because softmax runs over the last dimension), got rank 0}}
  %0 = attn.softmax %s : tensor<f32> -> tensor<f32>
  return
}

// -----

func.func @softmax_c1_shape(%s: tensor<2x3xf32>) {
  // expected-error @+1 {{expected dimension 0 = 2 in result (because input has dimension 0 = 2), got 3}}
  %0 = attn.softmax %s : tensor<2x3xf32> -> tensor<3x3xf32>
  return
}

// -----

func.func @softmax_c2_rank(%s: tensor<2x3xf32>) {
  // expected-error @+1 {{expected lse of rank 1 (because it is (dimension 0)), got rank 2}}
  %0, %lse = attn.softmax %s : tensor<2x3xf32> -> tensor<2x3xf32>, tensor<2x1xf32>
  return
}

// -----

func.func @softmax_c3_elements(%s: tensor<2x3xf16>) {
  // expected-error @+2 {{expected element type 'f16' in result (because input has 'f16'), got 'f32'}}
  // expected-error @+1 {{expected element type 'f32' in lse (because input has 'f16'), got 'f16'}}
  %0, %lse = attn.softmax %s : tensor<2x3xf16> -> tensor<2x3xf32>, tensor<2xf16>
  return
}

// -----

func.func @mix_c1_keys(%p: tensor<2x4x3x5xf32>, %v: tensor<2x6x4x8xf32>) {
  // expected-error @+1 {{expected M = 5 in value (because weights has M = 5), got 6}}
  %0 = attn.mix %p, %v layout(bshd) : tensor<2x4x3x5xf32>, tensor<2x6x4x8xf32> -> tensor<2x3x4x8xf32>
  return
}

// -----

func.func @mix_c2_groups(%p: tensor<2x4x3x5xf32>, %v: tensor<2x5x3x8xf32>) {
  // expected-error @+1 {{expected H to be a multiple of G = 3 (because neighbouring query heads share a value head), got H = 4}}
  %0 = attn.mix %p, %v layout(bshd) : tensor<2x4x3x5xf32>, tensor<2x5x3x8xf32> -> tensor<2x3x4x8xf32>
  return
}

// -----

func.func @mix_c3_result(%p: tensor<2x4x3x5xf32>, %v: tensor<2x5x4x8xf32>) {
  // expected-error @+1 {{expected D = 8 in result (because value has D = 8), got 9}}
  %0 = attn.mix %p, %v layout(bshd) : tensor<2x4x3x5xf32>, tensor<2x5x4x8xf32> -> tensor<2x3x4x9xf32>
  return
}

// -----

func.func @mix_c4_element(%p: tensor<2x4x3x5xf32>, %v: tensor<2x5x4x8xf64>) {
  // expected-error @+1 {{expected element type 'f32', 'f16' or 'bf16' in value (because weights has 'f32' and one type computes with both), got 'f64'}}
  %0 = attn.mix %p, %v layout(bshd) : tensor<2x4x3x5xf32>, tensor<2x5x4x8xf64> -> tensor<2x3x4x8xf32>
  return
}

// -----

func.func @mask_c4_type(%s: tensor<2x4x?x5xf32>) {
  // expected-error @+1 {{failed to verify that all of {scores, result} have same type}}
  %0 = "attn.mask"(%s) <{rule = #attn.causal<top_left>}> : (tensor<2x4x?x5xf32>) -> tensor<2x4x3x5xf32>
  return
}

// -----

func.func @bias_c3_type(%s: tensor<2x4x?x5xf32>, %b: tensor<f32>) {
  // expected-error @+1 {{failed to verify that all of {scores, result} have same type}}
  %0 = "attn.bias"(%s, %b) : (tensor<2x4x?x5xf32>, tensor<f32>) -> tensor<2x4x3x5xf32>
  return
}

// -----

func.func @split_heads_c3_sequence_first(%x: tensor<3x2x12xf32>) {
  // expected-error @+1 {{expected B = 2 in result (because input has B = 2), got 3}}
  %0 = attn.split_heads %x heads(4) layout(sbhd) : tensor<3x2x12xf32> -> tensor<3x3x4x3xf32>
  return
}

// -----

func.func @scores_c6_even_rows(%q: tensor<2x3x4x8xf32>, %a: tensor<6x8xf32>) {
  // expected-error @+1 {{expected an odd, static number of rows in relative (because there is one for each distance from -C to C), got 6}}
  %0 = attn.scores %q, %q relative(%a : tensor<6x8xf32>) layout(bshd) : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x4x3x3xf32>
  return
}

// -----

func.func @scores_c6_dynamic_rows(%q: tensor<2x3x4x8xf32>, %a: tensor<?x8xf32>) {
  // expected-error @+1 {{expected an odd, static number of rows in relative (because there is one for each distance from -C to C), got a dynamic one}}
  %0 = attn.scores %q, %q relative(%a : tensor<?x8xf32>) layout(bshd) : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x4x3x3xf32>
  return
}

// -----

func.func @scores_c6_columns(%q: tensor<2x3x4x8xf32>, %a: tensor<7x4xf32>) {
  // expected-error @+1 {{expected D = 8 in relative (because query has D = 8), got 4}}
  %0 = attn.scores %q, %q relative(%a : tensor<7x4xf32>) layout(bshd) : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x4x3x3xf32>
  return
}

// -----

func.func @scores_c7_missing(%q: tensor<2x3x4x8xf32>, %a: tensor<7x8xf32>) {
  // expected-error @+1 {{expected offsets (because the alignment is offset), got none}}
  %0 = attn.scores %q, %q relative(%a : tensor<7x8xf32>) aligned(offset) layout(bshd) : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x4x3x3xf32>
  return
}

// -----

func.func @scores_c7_needless(%q: tensor<2x3x4x8xf32>, %a: tensor<7x8xf32>, %o: tensor<2xi64>) {
  // expected-error @+1 {{expected no offsets (because the alignment is bottom_right), got some}}
  %0 = attn.scores %q, %q relative(%a : tensor<7x8xf32>) aligned(bottom_right, %o : tensor<2xi64>) layout(bshd) : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x4x3x3xf32>
  return
}

// -----

func.func @scores_c7_batch(%q: tensor<2x3x4x8xf32>, %a: tensor<7x8xf32>, %o: tensor<3xi64>) {
  // expected-error @+1 {{expected B = 2 in offsets (because query has B = 2), got 3}}
  %0 = attn.scores %q, %q relative(%a : tensor<7x8xf32>) aligned(offset, %o : tensor<3xi64>) layout(bshd) : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x4x3x3xf32>
  return
}

// -----

func.func @scores_c7_without_a_table(%q: tensor<2x3x4x8xf32>) {
  // expected-error @+1 {{expected a relative table (because only its distances are aligned), got none}}
  %0 = attn.scores %q, %q aligned(bottom_right) layout(bshd) : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x4x3x3xf32>
  return
}

// -----

func.func @aligned_keyword(%q: tensor<2x3x4x8xf32>, %a: tensor<7x8xf32>) {
  // expected-error @+1 {{expected an alignment, top_left, bottom_right or offset, got 'centre'}}
  %0 = attn.scores %q, %q relative(%a : tensor<7x8xf32>) aligned(centre) layout(bshd) : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32> -> tensor<2x4x3x3xf32>
  return
}

// -----

func.func @additive_scores_c1_channels(%q: tensor<2x3x4x8xf32>, %v: tensor<7xf32>) {
  // expected-error @+1 {{expected D = 8 in vector (because query has D = 8), got 7}}
  %0 = attn.additive_scores %q, %q, %v layout(bshd) : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<7xf32> -> tensor<2x4x3x3xf32>
  return
}

// -----

func.func @additive_scores_c2_heads(%q: tensor<2x3x4x8xf32>, %v: tensor<2x8xf32>) {
  // expected-error @+1 {{expected H = 4 in vector (because query has H = 4), got 2}}
  %0 = attn.additive_scores %q, %q, %v layout(bshd) : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x8xf32> -> tensor<2x4x3x3xf32>
  return
}

// -----

func.func @additive_scores_c2_groups(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x3x8xf32>, %v: tensor<8xf32>) {
  // expected-error @+1 {{expected H to be a multiple of G = 3 (because neighbouring query heads share a key head), got H = 4}}
  %0 = attn.additive_scores %q, %k, %v layout(bshd) : tensor<2x3x4x8xf32>, tensor<2x3x3x8xf32>, tensor<8xf32> -> tensor<2x4x3x3xf32>
  return
}

// -----

func.func @additive_scores_c3_result(%q: tensor<2x3x4x8xf32>, %v: tensor<8xf32>) {
  // expected-error @+1 {{expected M = 3 in result (because key has M = 3), got 5}}
  %0 = attn.additive_scores %q, %q, %v layout(bshd) : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<8xf32> -> tensor<2x4x3x5xf32>
  return
}

// -----

func.func @additive_scores_c4_element(%q: tensor<2x3x4x8xf32>, %v: tensor<8xf16>) {
  // expected-error @+1 {{expected element type 'f32' in vector (because query has 'f32'), got 'f16'}}
  %0 = attn.additive_scores %q, %q, %v layout(bshd) : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<8xf16> -> tensor<2x4x3x3xf32>
  return
}

// -----

func.func @mask_c1_composition(%s: tensor<2x4x3x5xf32>, %p: tensor<2xi64>) {
  // expected-error @+1 {{expected 3 inputs (because rule #attn.any_of<[prefix, not<segments>]> reads i32 or i64 of shape (B), i32 or i64 of shape (B, N), i32 or i64 of shape (B, M)), got 1}}
  %0 = attn.mask %s by any_of<[prefix, not<segments>]>(%p : tensor<2xi64>) : tensor<2x4x3x5xf32>
  return
}

// -----

func.func @mask_c2_segments(%s: tensor<2x4x3x5xf32>, %q: tensor<2x3xi32>) {
  // expected-error @+1 {{expected M = 5 in input 1 (because scores has M = 5), got 3}}
  %0 = attn.mask %s by segments(%q, %q : tensor<2x3xi32>, tensor<2x3xi32>) : tensor<2x4x3x5xf32>
  return
}

// -----

func.func @mask_c2_dense_leading_size(%s: tensor<2x4x3x5xf32>, %m: tensor<2x5xi1>) {
  // expected-error @+1 {{expected N = 3 or 1 in input 0 (because it broadcasts to the scores), got 2}}
  %0 = attn.mask %s by dense(%m : tensor<2x5xi1>) : tensor<2x4x3x5xf32>
  return
}

// -----

func.func @mask_c3_segments_of_two_types(%s: tensor<2x4x3x5xf32>, %q: tensor<2x3xi32>, %k: tensor<2x5xi64>) {
  // expected-error @+1 {{expected element type 'i32' in input 1 (because input 0 has 'i32'), got 'i64'}}
  %0 = attn.mask %s by segments(%q, %k : tensor<2x3xi32>, tensor<2x5xi64>) : tensor<2x4x3x5xf32>
  return
}

// -----

func.func @mask_c3_prefix_of_bytes(%s: tensor<2x4x3x5xf32>, %p: tensor<2xi8>) {
  // expected-error @+1 {{expected element type i32 or i64 in input 0 (because rule #attn.prefix reads that), got 'i8'}}
  %0 = attn.mask %s by prefix(%p : tensor<2xi8>) : tensor<2x4x3x5xf32>
  return
}

// -----

func.func @mask_c5_summand_in_a_composition(%s: tensor<2x4x3x5xf32>, %m: tensor<3x5xf32>) {
  // expected-error @+1 {{expected element type i1 in input 0 (because a composition shows or hides and adds nothing), got 'f32': apply the dense rule by an attn.mask of its own}}
  %0 = attn.mask %s by all_of<[dense, causal<top_left>]>(%m : tensor<3x5xf32>) : tensor<2x4x3x5xf32>
  return
}

// -----

func.func @mask_rule_keyword_in_a_composition(%s: tensor<2x4x3x5xf32>) {
  // expected-error @+1 {{expected an attribute of the attn dialect without its prefix, such as causal<top_left>, got 'diagonal'}}
  %0 = attn.mask %s by any_of<[causal<top_left>, diagonal]> : tensor<2x4x3x5xf32>
  return
}

// -----

func.func @softmax_c4_rank(%s: tensor<3x5xf32>, %t: tensor<4xf32>) {
  // expected-error @+1 {{expected input of rank 4 (because it is (B, H, N, M)), got rank 2}}
  %0 = attn.softmax %s sinks(%t : tensor<4xf32>) : tensor<3x5xf32> -> tensor<3x5xf32>
  return
}

// -----

func.func @softmax_c4_heads(%s: tensor<2x4x3x5xf32>, %t: tensor<3xf32>) {
  // expected-error @+1 {{expected H = 4 in sinks (because input has H = 4), got 3}}
  %0 = attn.softmax %s sinks(%t : tensor<3xf32>) : tensor<2x4x3x5xf32> -> tensor<2x4x3x5xf32>
  return
}

// -----

func.func @mix_c5_rows(%p: tensor<2x4x3x3xf32>, %v: tensor<2x3x4x8xf32>, %a: tensor<4x8xf32>) {
  // expected-error @+1 {{expected an odd, static number of rows in relative (because there is one for each distance from -C to C), got 4}}
  %0 = attn.mix %p, %v relative(%a : tensor<4x8xf32>) layout(bshd) : tensor<2x4x3x3xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return
}

// -----

func.func @mix_c6_missing(%p: tensor<2x4x3x3xf32>, %v: tensor<2x3x4x8xf32>, %a: tensor<5x8xf32>) {
  // expected-error @+1 {{expected offsets (because the alignment is offset), got none}}
  %0 = attn.mix %p, %v relative(%a : tensor<5x8xf32>) aligned(offset) layout(bshd) : tensor<2x4x3x3xf32>, tensor<2x3x4x8xf32> -> tensor<2x3x4x8xf32>
  return
}
