/*===- Matrix.c - tiles of the matrix unit (AMX) -----------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* What kernels of bf16 attention call for a tile of queries and keys. Halide
 * has no way to say which of the eight tile registers holds what; everything
 * around these calls (loops, masks, rules of scores, the recurrence) it emits.
 *
 * The unit multiplies 16 rows of 32 bf16 numbers by 16 columns of 32 and adds
 * to 16 x 16 f32 numbers. The numbers of a column lie in pairs, a 32-bit word
 * each. Queries are the columns, as they are the lanes of vectors elsewhere:
 *
 *     scores   S[key][query]     = K as it is stored  x  Q in pairs of channels
 *     mix      O[channel][query] = V transposed       x  P in pairs of keys
 *
 * Every array of a query tile has its `queries` (a multiple of 32) side by
 * side. A pointer comes as the base of a buffer and a number of elements. Tile
 * registers are set up once a query tile, in attn_rt_matrix_queries: that takes
 * as long as twelve products. */
#include "Runtime.h"
#include "attn-c/cpu.h"
#include <stddef.h>

#if defined(__x86_64__)
#include <immintrin.h>

#define VECTORS "avx512f,avx512bw,avx512dq,avx512vl,avx512bf16"
#define MATRIX __attribute__((target(VECTORS ",amx-tile,amx-bf16")))
#define INLINE static inline __attribute__((always_inline))

enum {
  SIDE = 16,       /* rows of a tile, and columns */
  DEPTH = 2 * SIDE /* products that a tile adds up for each of its numbers */
};

void attn_rt_matrix_queries(uint32_t *out, int64_t out_at,
                            const uint16_t *query, int64_t query_at,
                            int64_t stride, int32_t rows, int32_t queries,
                            int32_t channels, float sign);
void attn_rt_matrix_values(uint16_t *out, int64_t out_at, int64_t out_stride,
                           const uint16_t *value, int64_t value_at,
                           int64_t stride, int32_t rows, int32_t channels);
void attn_rt_matrix_scores(float *out, int64_t out_at, const uint32_t *query,
                           int64_t query_at, const uint16_t *key,
                           int64_t key_at, int64_t stride, int32_t rows,
                           int32_t queries, int32_t keys, int32_t channels);
void attn_rt_matrix_weights(uint32_t *out, int64_t out_at, const float *score,
                            int64_t score_at, const float *offset,
                            int64_t offset_at, float factor, int32_t queries,
                            int32_t keys);
void attn_rt_matrix_product(float *out, int64_t out_at, const uint32_t *row,
                            int64_t row_at, const uint16_t *weight,
                            int64_t weight_at, int64_t stride, int32_t outputs,
                            int32_t channels);
void attn_rt_matrix_mix(float *out, int64_t out_at, const uint32_t *weight,
                        int64_t weight_at, const uint16_t *value,
                        int64_t value_at, int64_t stride, int32_t rows,
                        int32_t queries, int32_t channels);

/* The operand of LDTILECFG: eight tiles of 16 rows of 64 bytes. */
typedef struct tile_shapes {
  uint8_t palette, start_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
} tile_shapes;

static const tile_shapes shapes __attribute__((aligned(64))) = {
    1,
    0,
    {0},
    {64, 64, 64, 64, 64, 64, 64, 64},
    {SIDE, SIDE, SIDE, SIDE, SIDE, SIDE, SIDE, SIDE}};

/*===----------------------------------------------------------------------===*\
|* Transposition
\*===----------------------------------------------------------------------===*/

/* 16 x 16 words: pairs, then pairs of pairs, then quarters of registers. */
INLINE MATRIX void transpose(__m512i v[SIDE]) {
  __m512i t[SIDE];
  for (int i = 0; i < SIDE; i += 2) {
    t[i] = _mm512_unpacklo_epi32(v[i], v[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(v[i], v[i + 1]);
  }
  for (int i = 0; i < SIDE; i += 4) {
    v[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    v[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    v[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    v[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(v[i], v[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(v[i], v[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_i32x4(v[i + 8], v[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(v[i + 8], v[i + 12], 0xdd);
  }
  for (int i = 0; i < 8; ++i) {
    v[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    v[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
  }
}

/* Channels [first, first + 32) of a row, zeros past the last one. */
INLINE MATRIX __m512i load_row(const uint16_t *row, int32_t first,
                               int32_t channels) {
  int32_t left = channels - first;
  __mmask32 mask = left >= DEPTH ? 0xffffffffu : (1u << left) - 1;
  return _mm512_maskz_loadu_epi16(mask, row + first);
}

/* Queries in pairs of channels, out[pair][query]: 32 at a time, zeros where
 * there is no row or channel. `sign` is 1, -1, or 0, which leaves of a number
 * 0 and of what is not finite NaN. */
MATRIX void attn_rt_matrix_queries(uint32_t *out, int64_t out_at,
                                   const uint16_t *query, int64_t query_at,
                                   int64_t stride, int32_t rows,
                                   int32_t queries, int32_t channels,
                                   float sign) {
  _tile_loadconfig(&shapes);
  out += out_at;
  query += query_at;
  const __m512i exponent = _mm512_set1_epi16(0x7f80);
  const __m512i flip = _mm512_set1_epi16(sign < 0 ? (short)0x8000 : 0);
  for (int32_t i = 0; i < queries; i += SIDE)
    for (int32_t d = 0; d < channels; d += DEPTH) {
      __m512i v[SIDE];
      for (int32_t r = 0; r < SIDE; ++r) {
        v[r] = _mm512_setzero_si512();
        if (i + r < rows)
          v[r] = load_row(query + (i + r) * stride, d, channels);
        __mmask32 infinite =
            _mm512_cmpeq_epi16_mask(_mm512_and_si512(v[r], exponent), exponent);
        v[r] = sign != 0 ? _mm512_xor_si512(v[r], flip)
                         : _mm512_maskz_mov_epi16(infinite,
                                                  _mm512_set1_epi16(0x7fc0));
      }
      transpose(v);
      for (int32_t pair = 0; pair < SIDE; ++pair)
        _mm512_storeu_si512(out + (int64_t)(d / 2 + pair) * queries + i,
                            v[pair]);
    }
}

/* 32 values transposed, out[channel][key]: zeros where there is no row, and
 * rows of zeros up to a multiple of 32 channels. */
MATRIX void attn_rt_matrix_values(uint16_t *out, int64_t out_at,
                                  int64_t out_stride, const uint16_t *value,
                                  int64_t value_at, int64_t stride,
                                  int32_t rows, int32_t channels) {
  out += out_at;
  value += value_at;
  /* Numbers 0 to 15 of two rows by turns, and 16 to 31. */
  const __m512i low = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11,
                                       42, 10, 41, 9, 40, 8, 39, 7, 38, 6, 37,
                                       5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
  const __m512i high = _mm512_add_epi16(low, _mm512_set1_epi16(SIDE));
  for (int32_t d = 0; d < channels; d += DEPTH) {
    __m512i first[SIDE], second[SIDE];
    for (int32_t pair = 0; pair < SIDE; ++pair) {
      __m512i even = _mm512_setzero_si512(), odd = even;
      if (2 * pair < rows)
        even = load_row(value + 2 * pair * stride, d, channels);
      if (2 * pair + 1 < rows)
        odd = load_row(value + (2 * pair + 1) * stride, d, channels);
      first[pair] = _mm512_permutex2var_epi16(even, low, odd);
      second[pair] = _mm512_permutex2var_epi16(even, high, odd);
    }
    transpose(first);
    transpose(second);
    for (int32_t r = 0; r < SIDE; ++r) {
      _mm512_storeu_si512(out + (d + r) * out_stride, first[r]);
      _mm512_storeu_si512(out + (d + SIDE + r) * out_stride, second[r]);
    }
  }
}

/*===----------------------------------------------------------------------===*\
|* Products
\*===----------------------------------------------------------------------===*/

/* 32 keys and 32 queries. The tiles of keys that follow are loaded before sums
 * are stored: a load waits for a store whose address ends in the same bits. */
INLINE MATRIX void multiply_keys(float *out, const uint32_t *query,
                                 const uint16_t *key, const uint16_t *next,
                                 int64_t stride, int32_t queries,
                                 int32_t channels) {
  int64_t bytes = 2 * stride, row = 4 * (int64_t)queries;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (int32_t d = 0; d < channels; d += DEPTH) {
    const uint32_t *pairs = query + (int64_t)d / 2 * queries;
    _tile_loadd(6, pairs, row);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(2, 5, 6);
    _tile_loadd(7, pairs + SIDE, row);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(3, 5, 7);
    const uint16_t *load = d + DEPTH < channels ? key + d + DEPTH : next;
    _tile_loadd(4, load, bytes);
    _tile_loadd(5, load + SIDE * stride, bytes);
  }
  _tile_stored(0, out, row);
  _tile_stored(1, out + SIDE, row);
  _tile_stored(2, out + SIDE * queries, row);
  _tile_stored(3, out + SIDE * queries + SIDE, row);
}

/* 16 keys and 32 queries of 64 channels, whose pairs stay in tiles 4 to 7. */
INLINE MATRIX void multiply_keys_64(float *out, const uint16_t *next,
                                    int64_t stride, int32_t queries) {
  int64_t row = 4 * (int64_t)queries;
  _tile_zero(0);
  _tile_zero(1);
  _tile_dpbf16ps(0, 2, 4);
  _tile_dpbf16ps(1, 2, 5);
  _tile_dpbf16ps(0, 3, 6);
  _tile_dpbf16ps(1, 3, 7);
  _tile_loadd(2, next, 2 * stride);
  _tile_loadd(3, next + DEPTH, 2 * stride);
  _tile_stored(0, out, row);
  _tile_stored(1, out + SIDE, row);
}

/* Scores of `keys` keys, a multiple of 32. */
INLINE MATRIX void multiply(float *out, const uint32_t *query,
                            const uint16_t *key, int64_t stride,
                            int32_t queries, int32_t keys, int32_t channels) {
  for (int32_t i = 0; i < queries; i += DEPTH) {
    const uint32_t *pairs = query + i;
    if (channels == 2 * DEPTH) {
      int64_t row = 4 * (int64_t)queries;
      _tile_loadd(4, pairs, row);
      _tile_loadd(5, pairs + SIDE, row);
      _tile_loadd(6, pairs + SIDE * queries, row);
      _tile_loadd(7, pairs + SIDE * queries + SIDE, row);
      _tile_loadd(2, key, 2 * stride);
      _tile_loadd(3, key + DEPTH, 2 * stride);
      for (int32_t j = 0; j < keys; j += SIDE)
        multiply_keys_64(out + (int64_t)j * queries + i,
                         key + (j + SIDE < keys ? j + SIDE : 0) * stride,
                         stride, queries);
      continue;
    }
    _tile_loadd(4, key, 2 * stride);
    _tile_loadd(5, key + SIDE * stride, 2 * stride);
    for (int32_t j = 0; j < keys; j += DEPTH)
      multiply_keys(out + (int64_t)j * queries + i, pairs, key + j * stride,
                    key + (j + DEPTH < keys ? j + DEPTH : 0) * stride, stride,
                    queries, channels);
  }
}

/* S, out[key][query], of `keys` keys of which `rows` exist; channels is a
 * multiple of 32, at most 512. */
MATRIX void attn_rt_matrix_scores(float *out, int64_t out_at,
                                  const uint32_t *query, int64_t query_at,
                                  const uint16_t *key, int64_t key_at,
                                  int64_t stride, int32_t rows, int32_t queries,
                                  int32_t keys, int32_t channels) {
  out += out_at;
  query += query_at;
  key += key_at;
  int32_t whole = rows < keys ? rows / DEPTH * DEPTH : keys;
  if (whole > 0)
    multiply(out, query, key, stride, queries, whole, channels);
  if (whole == keys)
    return;
  /* Nothing behind the last key is read. */
  uint16_t last[DEPTH * 512] __attribute__((aligned(64)));
  for (int32_t r = 0; r < DEPTH; ++r)
    for (int32_t d = 0; d < channels; d += DEPTH) {
      __m512i v = _mm512_setzero_si512();
      if (whole + r < rows)
        v = _mm512_loadu_si512(key + (whole + r) * stride + d);
      _mm512_store_si512(last + r * channels + d, v);
    }
  multiply(out + (int64_t)whole * queries, query, last, channels, queries,
           DEPTH, channels);
}

/* 32 rows of 32 numbers times 32 columns in pairs, added to tiles 0 to 3. Pairs
 * lie `pitch` bytes apart, rows `stride` numbers. */
INLINE MATRIX void multiply_step(const uint32_t *pairs, int64_t pitch,
                                 const uint16_t *rows, int64_t stride) {
  int64_t bytes = 2 * stride;
  _tile_loadd(4, rows, bytes);
  _tile_loadd(6, pairs, pitch);
  _tile_dpbf16ps(0, 4, 6);
  _tile_loadd(7, pairs + SIDE, pitch);
  _tile_dpbf16ps(1, 4, 7);
  _tile_loadd(5, rows + SIDE * stride, bytes);
  _tile_dpbf16ps(2, 5, 6);
  _tile_dpbf16ps(3, 5, 7);
}

/* O, out[channel][query], over `rows` keys: channels are counted up to a
 * multiple of 32. What follows the last key may be NaN. */
MATRIX void attn_rt_matrix_mix(float *out, int64_t out_at,
                               const uint32_t *weight, int64_t weight_at,
                               const uint16_t *value, int64_t value_at,
                               int64_t stride, int32_t rows, int32_t queries,
                               int32_t channels) {
  int64_t row = 4 * (int64_t)queries;
  int32_t whole = rows / DEPTH * DEPTH;
  __mmask32 rest = (1u << (rows - whole)) - 1;
  for (int32_t i = 0; i < queries; i += DEPTH)
    for (int32_t d = 0; d < channels; d += DEPTH) {
      const uint32_t *pairs = weight + weight_at + i;
      const uint16_t *columns = value + value_at + d * stride;
      float *sums = out + out_at + (int64_t)d * queries + i;
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
      for (int32_t j = 0; j < whole; j += DEPTH)
        multiply_step(pairs + (int64_t)j / 2 * queries, row, columns + j,
                      stride);
      if (rest) {
        uint16_t last[DEPTH * DEPTH] __attribute__((aligned(64)));
        for (int32_t c = 0; c < DEPTH; ++c)
          _mm512_store_si512(
              last + c * DEPTH,
              _mm512_maskz_loadu_epi16(rest, columns + c * stride + whole));
        multiply_step(pairs + (int64_t)whole / 2 * queries, row, last, DEPTH);
      }
      _tile_stored(0, sums, row);
      _tile_stored(1, sums + SIDE, row);
      _tile_stored(2, sums + SIDE * queries, row);
      _tile_stored(3, sums + SIDE * queries + SIDE, row);
    }
}

/* A product of a linear layer, out[row][output] of 32 rows and `outputs` output
 * channels, a multiple of 32: `row` in pairs of channels, weights as they are.
 */
MATRIX void attn_rt_matrix_product(float *out, int64_t out_at,
                                   const uint32_t *row, int64_t row_at,
                                   const uint16_t *weight, int64_t weight_at,
                                   int64_t stride, int32_t outputs,
                                   int32_t channels) {
  _tile_loadconfig(&shapes);
  for (int32_t n = 0; n < outputs; n += DEPTH) {
    const uint16_t *columns = weight + weight_at + n * stride;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int32_t d = 0; d < channels; d += DEPTH)
      multiply_step(row + row_at + (int64_t)d / 2 * DEPTH, 4 * DEPTH,
                    columns + d, stride);
    float sums[4][SIDE * SIDE] __attribute__((aligned(64)));
    _tile_stored(0, sums[0], 4 * SIDE);
    _tile_stored(1, sums[1], 4 * SIDE);
    _tile_stored(2, sums[2], 4 * SIDE);
    _tile_stored(3, sums[3], 4 * SIDE);
    for (int tile = 0; tile < 4; ++tile) {
      __m512i v[SIDE];
      for (int r = 0; r < SIDE; ++r)
        v[r] = _mm512_load_si512(sums[tile] + r * SIDE);
      transpose(v);
      float *place = out + out_at + n + tile / 2 * SIDE +
                     (int64_t)(tile % 2) * SIDE * outputs;
      for (int r = 0; r < SIDE; ++r)
        _mm512_storeu_si512(place + (int64_t)r * outputs, v[r]);
    }
  }
}

/*===----------------------------------------------------------------------===*\
|* Weights
\*===----------------------------------------------------------------------===*/

/* 2^x to 8e-5, a 25th of what rounding to bf16 leaves: 2^n p(f), f in
 * [-1/2, 1/2], p of least largest relative error. 0 for -infinity, NaN for NaN.
 */
INLINE MATRIX __m512 exp2_to_bf16(__m512 x) {
  __m512 f = _mm512_reduce_ps(x, 0), n = _mm512_sub_ps(x, f);
  __m512 p = _mm512_set1_ps(0.0551716691f);
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.242611122f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.693260985f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.999928074f));
  return _mm512_scalef_ps(p, n);
}

/* P in pairs of keys, out[pair][query]: 2^(factor score - offset[query]).
 * Behind the pairs the sum over all keys, before it was rounded, as bits. */
MATRIX void attn_rt_matrix_weights(uint32_t *out, int64_t out_at,
                                   const float *score, int64_t score_at,
                                   const float *offset, int64_t offset_at,
                                   float factor, int32_t queries,
                                   int32_t keys) {
  enum { CHAINS = 4 };
  const __m512i by_turns = _mm512_set_epi16(
      31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22,
      6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  const __m512 factors = _mm512_set1_ps(factor);
  for (int32_t i = 0; i < queries; i += SIDE) {
    uint32_t *pair = out + out_at + i;
    const float *s = score + score_at + i;
    const __m512 offsets = _mm512_loadu_ps(offset + offset_at + i);
    __m512 sum[CHAINS];
    for (int c = 0; c < CHAINS; ++c)
      sum[c] = _mm512_setzero_ps();
    for (int32_t j = 0; j < keys; j += CHAINS) {
      __m512 p[CHAINS];
      for (int c = 0; c < CHAINS; ++c, s += queries) {
        p[c] =
            exp2_to_bf16(_mm512_fmsub_ps(_mm512_loadu_ps(s), factors, offsets));
        sum[c] = _mm512_add_ps(sum[c], p[c]);
      }
      for (int c = 0; c < CHAINS; c += 2, pair += queries)
        _mm512_storeu_si512(
            pair, _mm512_permutexvar_epi16(
                      by_turns, (__m512i)_mm512_cvtne2ps_pbh(p[c + 1], p[c])));
    }
    _mm512_storeu_ps((float *)(void *)pair,
                     _mm512_add_ps(_mm512_add_ps(sum[0], sum[1]),
                                   _mm512_add_ps(sum[2], sum[3])));
  }
}

MATRIX static void release(void) { _tile_release(); }

void attn_rt_matrix_release(const attn_variant *variant) {
  if (variant->cpu_features & ATTN_CPU_AMX_TILE)
    release();
}
#else
void attn_rt_matrix_release(const attn_variant *variant) { (void)variant; }
#endif
