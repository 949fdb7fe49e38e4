// RUN: attn-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(attn-fuse-attention{fail-if-not-fused}))'

func.func @softcap_after_a_mask(%q: tensor<1x3x1x2xf32>) -> tensor<1x3x1x2xf32> {
  %s = attn.scores %q, %q layout(bshd) : tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32> -> tensor<1x1x3x3xf32>
  %m = attn.mask %s by causal<top_left> : tensor<1x1x3x3xf32>
  // expected-note @+1 {{the obstacle is here}}
  %t = math.tanh %m : tensor<1x1x3x3xf32>
  %p = attn.softmax %t : tensor<1x1x3x3xf32> -> tensor<1x1x3x3xf32>
  // expected-error @+1 {{but math.tanh follows a mask and may make a hidden score visible: move it in front of the attn.mask}}
  %o = attn.mix %p, %q layout(bshd) : tensor<1x1x3x3xf32>, tensor<1x3x1x2xf32> -> tensor<1x3x1x2xf32>
  return %o : tensor<1x3x1x2xf32>
}

// -----

func.func @negative_factor_after_a_mask(%q: tensor<1x3x1x2xf32>) -> tensor<1x3x1x2xf32> {
  %c = arith.constant dense<-2.0> : tensor<1x1x3x3xf32>
  %s = attn.scores %q, %q layout(bshd) : tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32> -> tensor<1x1x3x3xf32>
  %m = attn.mask %s by causal<top_left> : tensor<1x1x3x3xf32>
  // expected-note @+1 {{the obstacle is here}}
  %t = arith.mulf %m, %c : tensor<1x1x3x3xf32>
  %p = attn.softmax %t : tensor<1x1x3x3xf32> -> tensor<1x1x3x3xf32>
  // expected-error @+1 {{but arith.mulf follows a mask and may make a hidden score visible}}
  %o = attn.mix %p, %q layout(bshd) : tensor<1x1x3x3xf32>, tensor<1x3x1x2xf32> -> tensor<1x3x1x2xf32>
  return %o : tensor<1x3x1x2xf32>
}

// -----

// A hidden score on the right of a difference would become +inf.
func.func @difference_with_a_mask_on_the_right(%q: tensor<1x3x1x2xf32>, %b: tensor<1x1x3x3xf32>) -> tensor<1x3x1x2xf32> {
  %s = attn.scores %q, %q layout(bshd) : tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32> -> tensor<1x1x3x3xf32>
  %m = attn.mask %s by causal<top_left> : tensor<1x1x3x3xf32>
  // expected-note @+1 {{the obstacle is here}}
  %t = arith.subf %b, %m : tensor<1x1x3x3xf32>
  %p = attn.softmax %t : tensor<1x1x3x3xf32> -> tensor<1x1x3x3xf32>
  // expected-error @+1 {{but arith.subf follows a mask and may make a hidden score visible}}
  %o = attn.mix %p, %q layout(bshd) : tensor<1x1x3x3xf32>, tensor<1x3x1x2xf32> -> tensor<1x3x1x2xf32>
  return %o : tensor<1x3x1x2xf32>
}

// -----

func.func @two_products(%q: tensor<1x3x1x2xf32>, %k: tensor<1x3x1x2xf32>) -> tensor<1x3x1x2xf32> {
  %s = attn.scores %q, %q layout(bshd) : tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32> -> tensor<1x1x3x3xf32>
  // expected-note @+1 {{the obstacle is here}}
  %t = attn.scores %q, %k layout(bshd) : tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32> -> tensor<1x1x3x3xf32>
  %u = arith.addf %s, %t : tensor<1x1x3x3xf32>
  %p = attn.softmax %u : tensor<1x1x3x3xf32> -> tensor<1x1x3x3xf32>
  // expected-error @+1 {{but two attn.scores meet in one softmax: compute one product of concatenated queries and keys}}
  %o = attn.mix %p, %q layout(bshd) : tensor<1x1x3x3xf32>, tensor<1x3x1x2xf32> -> tensor<1x3x1x2xf32>
  return %o : tensor<1x3x1x2xf32>
}

// -----

func.func @bits_of_f16(%q: tensor<1x3x1x2xf16>) -> tensor<1x3x1x2xf16> {
  %s = attn.scores %q, %q layout(bshd) : tensor<1x3x1x2xf16>, tensor<1x3x1x2xf16> -> tensor<1x1x3x3xf16>
  // expected-note @+1 {{the obstacle is here}}
  %b = arith.bitcast %s : tensor<1x1x3x3xf16> to tensor<1x1x3x3xbf16>
  %t = arith.bitcast %b : tensor<1x1x3x3xbf16> to tensor<1x1x3x3xf16>
  %p = attn.softmax %t : tensor<1x1x3x3xf16> -> tensor<1x1x3x3xf16>
  // expected-error @+1 {{but arith.bitcast reads the bits of a score of 16 bits, which is one of 32 bits here: compute with numbers}}
  %o = attn.mix %p, %q layout(bshd) : tensor<1x1x3x3xf16>, tensor<1x3x1x2xf16> -> tensor<1x3x1x2xf16>
  return %o : tensor<1x3x1x2xf16>
}

// -----

func.func @two_layouts(%q: tensor<1x3x1x2xf32>, %v: tensor<1x1x3x2xf32>) -> tensor<1x1x3x2xf32> {
  // expected-note @+1 {{the obstacle is here}}
  %s = attn.scores %q, %q layout(bshd) : tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32> -> tensor<1x1x3x3xf32>
  %p = attn.softmax %s : tensor<1x1x3x3xf32> -> tensor<1x1x3x3xf32>
  // expected-error @+1 {{but attn.scores has layout bshd and attn.mix has layout bhsd: use one layout for query, key and value}}
  %o = attn.mix %p, %v layout(bhsd) : tensor<1x1x3x3xf32>, tensor<1x1x3x2xf32> -> tensor<1x1x3x2xf32>
  return %o : tensor<1x1x3x2xf32>
}

// -----

func.func @slice_of_scores(%q: tensor<1x3x1x2xf32>, %k: tensor<1x9x1x2xf32>) -> tensor<1x3x1x2xf32> {
  %s = attn.scores %q, %k layout(bshd) : tensor<1x3x1x2xf32>, tensor<1x9x1x2xf32> -> tensor<1x1x3x9xf32>
  // expected-note @+1 {{the obstacle is here}}
  %t = tensor.extract_slice %s[0, 0, 0, 0] [1, 1, 3, 3] [1, 1, 1, 1] : tensor<1x1x3x9xf32> to tensor<1x1x3x3xf32>
  %p = attn.softmax %t : tensor<1x1x3x3xf32> -> tensor<1x1x3x3xf32>
  // expected-error @+1 {{but the softmax is not of attn.scores: tensor.extract_slice is neither element-wise nor a rule of scores: apply it to the query, the key or a bias instead}}
  %o = attn.mix %p, %q layout(bshd) : tensor<1x1x3x3xf32>, tensor<1x3x1x2xf32> -> tensor<1x3x1x2xf32>
  return %o : tensor<1x3x1x2xf32>
}

// -----

func.func @scores_are_an_argument(%s: tensor<1x1x3x3xf32>, %v: tensor<1x3x1x2xf32>) -> tensor<1x3x1x2xf32> {
  // expected-note @+1 {{the obstacle is here}}
  %p = attn.softmax %s : tensor<1x1x3x3xf32> -> tensor<1x1x3x3xf32>
  // expected-error @+1 {{but the softmax is not of attn.scores but of an argument: compute the scores by attn.scores}}
  %o = attn.mix %p, %v layout(bshd) : tensor<1x1x3x3xf32>, tensor<1x3x1x2xf32> -> tensor<1x3x1x2xf32>
  return %o : tensor<1x3x1x2xf32>
}

// -----

func.func @no_softmax(%q: tensor<1x3x1x2xf32>) -> tensor<1x3x1x2xf32> {
  // expected-error @+1 {{but no attn.mix uses the softmax of these scores}}
  %s = attn.scores %q, %q layout(bshd) : tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32> -> tensor<1x1x3x3xf32>
  // expected-error @+1 {{but the weights are not the result of an attn.softmax: normalise the scores by attn.softmax}}
  %o = attn.mix %s, %q layout(bshd) : tensor<1x1x3x3xf32>, tensor<1x3x1x2xf32> -> tensor<1x3x1x2xf32>
  return %o : tensor<1x3x1x2xf32>
}

// -----

func.func @no_mix(%q: tensor<1x3x1x2xf32>) -> tensor<1x1x3x3xf32> {
  // expected-error @+1 {{'attn.scores' op expected to become part of an attn.attention (because of fail-if-not-fused), but no attn.mix uses the softmax of these scores: multiply the weights with the values by attn.mix}}
  %s = attn.scores %q, %q layout(bshd) : tensor<1x3x1x2xf32>, tensor<1x3x1x2xf32> -> tensor<1x1x3x3xf32>
  %p = attn.softmax %s : tensor<1x1x3x3xf32> -> tensor<1x1x3x3xf32>
  return %p : tensor<1x1x3x3xf32>
}

// -----

func.func @values_of_the_log_sum_exp(%q: tensor<1x3x1x1xf32>) -> tensor<1x3x1x1xf32> {
  %s = attn.scores %q, %q layout(bshd) : tensor<1x3x1x1xf32>, tensor<1x3x1x1xf32> -> tensor<1x1x3x3xf32>
  %p, %lse = attn.softmax %s : tensor<1x1x3x3xf32> -> tensor<1x1x3x3xf32>, tensor<1x1x3xf32>
  %v = tensor.expand_shape %lse [[0], [1], [2, 3]] output_shape [1, 1, 3, 1] : tensor<1x1x3xf32> into tensor<1x1x3x1xf32>
  %c = tensor.collapse_shape %v [[0, 1], [2, 3]] : tensor<1x1x3x1xf32> into tensor<1x3xf32>
  %w = tensor.expand_shape %c [[0], [1, 2, 3]] output_shape [1, 3, 1, 1] : tensor<1x3xf32> into tensor<1x3x1x1xf32>
  // expected-error @+1 {{but the values depend on the log-sum-exp: compute the values from other operations}}
  %o = attn.mix %p, %w layout(bshd) : tensor<1x1x3x3xf32>, tensor<1x3x1x1xf32> -> tensor<1x3x1x1xf32>
  return %o : tensor<1x3x1x1xf32>
}

// -----

func.func @two_types(%q: tensor<1x3x1x2xf16>, %v: tensor<1x3x1x2xf64>) -> tensor<1x3x1x2xf64> {
  // expected-note @+1 {{the obstacle is here}}
  %s = attn.scores %q, %q layout(bshd) : tensor<1x3x1x2xf16>, tensor<1x3x1x2xf16> -> tensor<1x1x3x3xf16>
  %t = arith.extf %s : tensor<1x1x3x3xf16> to tensor<1x1x3x3xf64>
  %p = attn.softmax %t : tensor<1x1x3x3xf64> -> tensor<1x1x3x3xf64>
  // expected-error @+1 {{but attn.scores reads f16 and attn.mix reads f64: use f64 for all of query, key and value, or for none}}
  %o = attn.mix %p, %v layout(bshd) : tensor<1x1x3x3xf64>, tensor<1x3x1x2xf64> -> tensor<1x3x1x2xf64>
  return %o : tensor<1x3x1x2xf64>
}
