// RUN: attn-opt %s --convert-attn-to-loops --split-input-file --verify-diagnostics

attn.kernel @fused(%q: tensor<?x?x1x2xf32>, %s: f32) -> tensor<?x?x1x2xf32> attributes {schedule = #attn.loops_schedule} {
  // expected-error@+1 {{expected tiled loops (because the loops lowering starts at the tiled level), got an operation of the fused level: run attn-tile}}
  %r = attn.attention %q, %q, %q scale(%s : f32) layout(bshd) : tensor<?x?x1x2xf32>, tensor<?x?x1x2xf32>, tensor<?x?x1x2xf32> -> tensor<?x?x1x2xf32>
  attn.yield %r : tensor<?x?x1x2xf32>
}

// -----

// All are reported, each at its operation.
attn.kernel @graph(%x: tensor<?x4xf32>, %w: tensor<4x4xf32>) -> tensor<?x4xf32> attributes {schedule = #attn.loops_schedule} {
  // expected-error@+1 {{expected an operation that kernels consist of, got one of the graph level: run attn-graph-to-fused}}
  %0 = attn.linear %x, %w : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
  // expected-error@+1 {{expected an operation that kernels consist of, got one of the graph level: run attn-graph-to-fused}}
  %1 = attn.linear %0, %w : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
  attn.yield %1 : tensor<?x4xf32>
}

// -----

attn.kernel @tiles(%c: i1, %n: index) -> tensor<4x8xf32> attributes {schedule = #attn.loops_schedule} {
  %m = attn.tile_fill 1.0 : !attn.tile<4xf32>
  %o = attn.tile_fill 0.0 : !attn.tile<4x8xf32>
  // expected-error@+1 {{expected tiles in operations of the attn dialect and in scf.for, scf.if and scf.while only, got one here}}
  %s = arith.select %c, %o, %o : !attn.tile<4x8xf32>
  %r = attn.tile_finish %s, %m, %m rows(%n) scale(1.0) : !attn.tile<4x8xf32>, !attn.tile<4xf32> -> tensor<4x8xf32>
  attn.yield %r : tensor<4x8xf32>
}

// -----

// A kernel for Halide may hold anything: it is not looked at.
attn.kernel @other(%x: tensor<?x4xf32>, %w: tensor<4x4xf32>) -> tensor<?x4xf32> {
  %0 = attn.linear %x, %w : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
  attn.yield %0 : tensor<?x4xf32>
}
