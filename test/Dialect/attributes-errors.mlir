// RUN: attn-opt %s --split-input-file --verify-diagnostics

// The checks of attributes, wherever one is written.

// expected-error @+1 {{expected left >= -1 (because it counts keys, and -1 leaves the side unbounded), got -2}}
func.func private @window_c1_left() attributes {a = #attn.window<left = -2, right = 0>}

// -----

// expected-error @+1 {{expected right >= -1 (because it counts keys, and -1 leaves the side unbounded), got -7}}
func.func private @window_c1_right() attributes {a = #attn.window<left = 0, right = -7>}

// -----

// expected-error @+1 {{expected query >= 1, got 0}}
func.func private @blocks_c1_query() attributes {a = #attn.blocks<query = 0, key = 4>}

// -----

// expected-error @+1 {{expected key >= 1, got -4}}
func.func private @blocks_c1_key() attributes {a = #attn.blocks<query = 4, key = -4>}

// -----

// expected-error @+1 {{expected size >= 1, got 0}}
func.func private @chunked_c1() attributes {a = #attn.chunked<size = 0>}

// -----

// expected-error @+1 {{expected step >= 1, got -1}}
func.func private @dilated_c1() attributes {a = #attn.dilated<step = -1, alignment = bottom_right>}

// -----

// expected-error @+1 {{expected rules of attn.mask, got #attn.layout<bshd>}}
func.func private @any_of_c1_kind() attributes {a = #attn.any_of<[causal<top_left>, layout<bshd>]>}

// -----

// expected-error @+1 {{expected a rule of attn.mask, got none}}
func.func private @any_of_c1_none() attributes {a = #attn.any_of<[]>}

// -----

// expected-error @+1 {{expected rules of attn.mask, got #attn.layout<bshd>}}
func.func private @all_of_c1_kind() attributes {a = #attn.all_of<[layout<bshd>]>}

// -----

// expected-error @+1 {{expected rules of attn.mask, got #attn.layout<bshd>}}
func.func private @not_c1_kind() attributes {a = #attn.not<layout<bshd>>}

// -----

// expected-error @+1 {{expected one rule (because not turns one around), got 2}}
func.func private @not_c1_count() attributes {a = #attn.not<prefix, prefix>}

// -----

// expected-error @+1 {{expected a file and a tensor name, got "" and "x"}}
func.func private @source_c1() attributes {a = #attn.source<"", "x">}

// -----

// expected-error @+1 {{expected a file and an offset >= 0, got "" and 0}}
func.func private @bytes_c1_file() attributes {a = #attn.bytes<"", offset = 0>}

// -----

// expected-error @+1 {{expected a file and an offset >= 0, got "x" and -1}}
func.func private @bytes_c1_offset() attributes {a = #attn.bytes<"x", offset = -1>}

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

// expected-error @+1 {{expected value_unroll >= 1, got -8}}
func.func private @decode_schedule_c1() attributes {a = #attn.decode_schedule<vector = 8, key_unroll = 2, value_unroll = -8>}

// -----

// expected-error @+1 {{expected vector >= 1, got 0}}
func.func private @matrix_schedule_c1() attributes {a = #attn.matrix_schedule<vector = 0, key_unroll = 32, value_unroll = 16>}

// -----

// expected-error @+1 {{expected mb >= 1, got 0}}
func.func private @matrix_linear_schedule_c1() attributes {a = #attn.matrix_linear_schedule<vector = 16, nb = 256, mb = 0>}

// -----

// expected-error @+1 {{expected nr >= 1, got -24}}
func.func private @linear_schedule_c1() attributes {a = #attn.linear_schedule<vector = 8, mr = 4, nr = -24, kc = 0, mb = 64>}

// -----

// expected-error @+1 {{expected kc >= 0 (because 0 stands for a K that is not blocked), got -1}}
func.func private @linear_schedule_c2() attributes {a = #attn.linear_schedule<vector = 8, mr = 4, nr = 24, kc = -1, mb = 64>}

// -----

// expected-error @+1 {{expected y >= 1, got 0}}
func.func private @gpu_attention_schedule_c1() attributes {a = #attn.gpu_attention_schedule<x = 16, y = 0>}

// -----

// expected-error @+1 {{expected kc >= 1, got 0}}
func.func private @gpu_linear_schedule_c1() attributes {a = #attn.gpu_linear_schedule<x = 16, y = 16, mr = 4, nr = 4, kc = 0>}

// -----

// expected-error @+1 {{expected x >= 1, got -1}}
func.func private @gpu_rowwise_schedule_c1() attributes {a = #attn.gpu_rowwise_schedule<x = -1>}

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

#set = affine_set<(i0) : (i0 >= 0)>
// expected-error @+1 {{expected a set (i0, i1)[N, M, u...] with the same symbols as begin for where, got affine_set<(d0) : (d0 >= 0)>}}
func.func private @key_range_c2() attributes {a = #attn.key_range<where = #set, begin = affine_map<(i0, i1)[n, m] -> (0)>,
  full_begin = affine_map<(i0, i1)[n, m] -> (0)>, full_end = affine_map<(i0, i1)[n, m] -> (m)>, end = affine_map<(i0, i1)[n, m] -> (m)>>}

// -----

// expected-error @+1 {{expected ranges with the same symbols as the first one, 2, got 3}}
func.func private @key_ranges_c1_symbols() attributes {a = #attn.key_ranges<[<begin = affine_map<(i0, i1)[n, m] -> (0)>,
  full_begin = affine_map<(i0, i1)[n, m] -> (0)>, full_end = affine_map<(i0, i1)[n, m] -> (m)>, end = affine_map<(i0, i1)[n, m] -> (m)>>,
  <begin = affine_map<(i0, i1)[n, m, u] -> (0)>, full_begin = affine_map<(i0, i1)[n, m, u] -> (0)>,
  full_end = affine_map<(i0, i1)[n, m, u] -> (m)>, end = affine_map<(i0, i1)[n, m, u] -> (m)>>] exact = true, opaque = false>}

// -----

#set = affine_set<(i0, i1)[n, m] : (i0 >= 0)>
// expected-error @+1 {{expected a set (i0, i1, j0, j1)[N, M, u...] with the symbols of the ranges, got affine_set<(d0, d1)[s0, s1] : (d0 >= 0)>}}
func.func private @key_ranges_c2() attributes {a = #attn.key_ranges<[<begin = affine_map<(i0, i1)[n, m] -> (0)>,
  full_begin = affine_map<(i0, i1)[n, m] -> (0)>, full_end = affine_map<(i0, i1)[n, m] -> (m)>, end = affine_map<(i0, i1)[n, m] -> (m)>>]
  hidden [#set] exact = true, opaque = false>}
