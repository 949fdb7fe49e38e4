// RUN: attn-opt %s --split-input-file --verify-diagnostics

// The checks of attributes, wherever one is written.

// expected-error @+1 {{expected left >= -1 (because it counts keys, and -1 leaves the side unbounded), got -2}}
func.func private @window_c1_left() attributes {a = #attn.window<left = -2, right = 0>}

// -----

// expected-error @+1 {{expected right >= -1 (because it counts keys, and -1 leaves the side unbounded), got -7}}
func.func private @window_c1_right() attributes {a = #attn.window<left = 0, right = -7>}

// -----

// expected-error @+1 {{expected a file and a tensor name, got "" and "x"}}
func.func private @source_c1() attributes {a = #attn.source<"", "x">}

// -----

// expected-error @+1 {{expected axis >= 0, got -1}}
func.func private @concat_c1() attributes {a = #attn.concat<[@a], axis = -1>}

// -----

// expected-error @+1 {{expected panel >= 1, got 0}}
func.func private @pack_c1() attributes {a = #attn.pack<@a, panel = 0>}

// -----

// expected-error @+1 {{expected key_unroll >= 1, got 0}}
func.func private @flash_schedule_c1() attributes {a = #attn.flash_schedule<vector = 8, key_unroll = 0, value_unroll = 4>}

// -----

// expected-error @+1 {{expected nr >= 1, got -24}}
func.func private @linear_schedule_c1() attributes {a = #attn.linear_schedule<vector = 8, mr = 4, nr = -24, kc = 0, mb = 64>}

// -----

// expected-error @+1 {{expected kc >= 0 (because 0 stands for a K that is not blocked), got -1}}
func.func private @linear_schedule_c2() attributes {a = #attn.linear_schedule<vector = 8, mr = 4, nr = 24, kc = -1, mb = 64>}

// -----

// expected-error @+1 {{expected rows >= 1, got 0}}
func.func private @rowwise_schedule_c1() attributes {a = #attn.rowwise_schedule<vector = 8, rows = 0>}

// -----

// expected-error @+1 {{expected a map (i0, i1)[N, M, u...] with the same symbols as begin for full_end, got affine_map<(d0) -> (d0)>}}
func.func private @key_range_c1_form() attributes {a = #attn.key_range<begin = affine_map<(i0, i1)[n, m] -> (0)>,
  full_begin = affine_map<(i0, i1)[n, m] -> (0)>, full_end = affine_map<(i0) -> (i0)>, end = affine_map<(i0, i1)[n, m] -> (m)>>}

// -----

// expected-error @+1 {{expected at least one bound for begin, got affine_map<(d0, d1)[s0, s1] -> ()>}}
func.func private @key_range_c1_bound() attributes {a = #attn.key_range<begin = affine_map<(i0, i1)[n, m] -> ()>,
  full_begin = affine_map<(i0, i1)[n, m] -> (0)>, full_end = affine_map<(i0, i1)[n, m] -> (m)>, end = affine_map<(i0, i1)[n, m] -> (m)>>}

// -----

// expected-error @+1 {{expected bounds that are affine in i0 and i1 and in the symbols for end, got affine_map<(d0, d1)[s0, s1] -> (d0 * s0)>}}
func.func private @key_range_c1_affine() attributes {a = #attn.key_range<begin = affine_map<(i0, i1)[n, m] -> (0)>,
  full_begin = affine_map<(i0, i1)[n, m] -> (0)>, full_end = affine_map<(i0, i1)[n, m] -> (m)>, end = affine_map<(i0, i1)[n, m] -> (i0 * n)>>}

// -----

// expected-error @+1 {{expected a set (i0, i1)[N, M, u...] with the same symbols as begin for where, got affine_set<(d0) : (d0 >= 0)>}}
func.func private @key_range_c2() attributes {a = #attn.key_range<where = affine_set<(i0) : (i0 >= 0)>, begin = affine_map<(i0, i1)[n, m] -> (0)>,
  full_begin = affine_map<(i0, i1)[n, m] -> (0)>, full_end = affine_map<(i0, i1)[n, m] -> (m)>, end = affine_map<(i0, i1)[n, m] -> (m)>>}

// -----

// expected-error @+1 {{expected ranges with the same symbols as the first one, 2, got 3}}
func.func private @key_ranges_c1_symbols() attributes {a = #attn.key_ranges<[<begin = affine_map<(i0, i1)[n, m] -> (0)>,
  full_begin = affine_map<(i0, i1)[n, m] -> (0)>, full_end = affine_map<(i0, i1)[n, m] -> (m)>, end = affine_map<(i0, i1)[n, m] -> (m)>>,
  <begin = affine_map<(i0, i1)[n, m, u] -> (0)>, full_begin = affine_map<(i0, i1)[n, m, u] -> (0)>,
  full_end = affine_map<(i0, i1)[n, m, u] -> (m)>, end = affine_map<(i0, i1)[n, m, u] -> (m)>>] exact = true, opaque = false>}

// -----

// expected-error @+1 {{expected at least one range of keys (because one that is empty says that nothing is visible), got none}}
func.func private @key_ranges_c1_none() attributes {a = #attn.key_ranges<[] exact = true, opaque = false>}

// -----

// expected-error @+1 {{expected a set (i0, i1, j0, j1)[N, M, u...] with the symbols of the ranges, got affine_set<(d0, d1)[s0, s1] : (d0 >= 0)>}}
func.func private @key_ranges_c2() attributes {a = #attn.key_ranges<[<begin = affine_map<(i0, i1)[n, m] -> (0)>,
  full_begin = affine_map<(i0, i1)[n, m] -> (0)>, full_end = affine_map<(i0, i1)[n, m] -> (m)>, end = affine_map<(i0, i1)[n, m] -> (m)>>]
  hidden [affine_set<(i0, i1)[n, m] : (i0 >= 0)>] exact = true, opaque = false>}
