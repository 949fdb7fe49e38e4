// RUN: attn-opt %s --attn-verify-tiled --split-input-file --verify-diagnostics

// All violations are reported at once.
module attributes {attn.target = "x86-64-v3"} {
// expected-error@+1 {{expected a schedule (because code generation chooses nothing), got none: run attn-schedule}}
attn.kernel @attention_0(%q: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %c = arith.constant 1.0 : f32
  // expected-error@+1 {{expected tiled loops, got an operation of the fused level: run attn-tile}}
  %r = attn.attention %q, %q, %q scale(%c : f32) layout(bshd) : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  attn.yield %r : tensor<?x?x2x8xf32>
}
attn.kernel @linear_0(%x: tensor<?x16xf32>, %w: tensor<16x16xf32>) -> tensor<?x16xf32> attributes {schedule = #attn.linear_schedule<vector = 8, mr = 4, nr = 16, kc = 0, mb = 4>} {
  // expected-error@+1 {{expected a packed weight (P, K, 16), got 'tensor<16x16xf32>': run attn-schedule}}
  %y = attn.fused_linear %x, %w : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
  attn.yield %y : tensor<?x16xf32>
}
func.func @main(%w: tensor<16x16xf32>) -> tensor<1x16x16xf32> {
  // expected-error@+1 {{expected packing in a kernel or in the recipe of a weight, got it in a host function: run attn-schedule}}
  %p = attn.pack %w panel(16) : tensor<16x16xf32> -> tensor<1x16x16xf32>
  return %p : tensor<1x16x16xf32>
}
}

// -----

// expected-error@+1 {{expected a module with attn.target (because tile sizes and schedules depend on the CPU), got none: run attn-select-targets}}
attn.kernel @relu(%x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {schedule = #attn.rowwise_schedule<vector = 8, rows = 4>} {
  %y = attn.relu %x : tensor<?x8xf32>
  attn.yield %y : tensor<?x8xf32>
}

// -----

// Whoever edits a schedule by hand.
module attributes {attn.target = "x86-64-v3"} {
// expected-error@+1 {{expected #attn.loops_schedule (because the kernel has tensors of f64, and Halide kernels compute in f32), got #attn.rowwise_schedule<vector = 8, rows = 4>}}
attn.kernel @relu(%x: tensor<?x8xf64>) -> tensor<?x8xf64> attributes {schedule = #attn.rowwise_schedule<vector = 8, rows = 4>} {
  %y = attn.relu %x : tensor<?x8xf64>
  attn.yield %y : tensor<?x8xf64>
}
}

// -----

module attributes {attn.target = "opencl"} {
// expected-error@+1 {{expected #attn.gpu_rowwise_schedule (because of what the kernel computes on a device), got #attn.rowwise_schedule<vector = 8, rows = 4>}}
attn.kernel @relu(%x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {schedule = #attn.rowwise_schedule<vector = 8, rows = 4>} {
  %y = attn.relu %x : tensor<?x8xf32>
  attn.yield %y : tensor<?x8xf32>
}
}
