/*===- blocks.c - long attention in blocks ------------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.      *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
\*===----------------------------------------------------------------------===*/
/* 200 rows of each of three heads, compared in f64. The heads lie 2^28 elements
 * apart, so that the offset of the last passes 2^31; those of the keys lie
 * further apart than a kernel steps, and are copied together. */
#include "sparse.h"

#include "blocks.h"

#include <string.h>

enum { N = 97220, D = 80, H = 16, BLOCK = 64 };

int main(void) {
  const int64_t apart = (int64_t)1 << 28, far = ((int64_t)1 << 31) + 64;
  float *q = sparse((uint64_t)(H * apart)), *k = sparse((uint64_t)(H * far));
  float *v = sparse((uint64_t)(H * apart)), *o = sparse((uint64_t)(H * apart));
  for (int64_t h = 0; h < H; ++h)
    for (int64_t i = 0; i < (int64_t)N * D; ++i) {
      uint64_t seed = (uint64_t)(h * N * D + i);
      q[h * apart + i] = 2 * noise(seed);
      k[h * far + i] = 2 * noise(seed + 3000000000u);
      v[h * apart + i] = noise(seed + 6000000000u);
    }
  blocks_model *model;
  blocks_ctx *ctx;
  blocks_inputs in;
  blocks_outputs out;
  memset(&in, 0, sizeof in);
  memset(&out, 0, sizeof out);
  if (blocks_load(NULL, 0, NULL, &model) || blocks_create(model, NULL, &ctx))
    return 1;
  const int64_t strides[4] = {H * apart, apart, D, 1};
  const int64_t key_strides[4] = {H * far, far, D, 1};
  in.length = N;
  in.q.data = q;
  in.k.data = k;
  in.v.data = v;
  out.o.data = o;
  memcpy(in.q.stride, strides, sizeof strides);
  memcpy(in.k.stride, key_strides, sizeof strides);
  memcpy(in.v.stride, strides, sizeof strides);
  memcpy(out.o.stride, strides, sizeof strides);
  int status = blocks_run(ctx, &in, &out, NULL, 0);
  if (status) {
    printf("%s: %s\n", blocks_status_string(status), blocks_last_error(ctx));
    return 1;
  }
  errors error = {0, 0};
  static const int64_t heads[] = {0, 7, 15};
  for (int s = 0; s < 3 * 200; ++s) {
    const int64_t base = heads[s % 3] * apart;
    int64_t i = s < 3 ? N - 1 : (int64_t)s * 162;
    int64_t first = i / BLOCK * BLOCK;
    int64_t end = first + BLOCK < N ? first + BLOCK : N;
    compare_row(&error, q + base + i * D, k + heads[s % 3] * far, v + base,
                NULL, first, end, D, D, o + base + i * D);
  }
  report("blocks", &error);
  blocks_destroy(ctx);
  blocks_unload(model);
  return 0;
}
