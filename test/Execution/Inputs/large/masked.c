/*===- masked.c - a mask of more than 2^32 elements ---------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.      *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
\*===----------------------------------------------------------------------===*/
/* 200 rows, compared in f64: the last of the mask among them, whose offset is
 * above 2^32, and on both sides of 2^31. With keys dense, then with keys and
 * values 2^17 elements apart, so that their offsets pass 2^33. */
#include "sparse.h"

#include "masked.h"

#include <string.h>

enum { N = 65537, D = 64, SAMPLES = 200 };
static float q[N][D], o[N][D];

static int64_t sample(int s) {
  static const int64_t edges[] = {0,     1,     32766, 32767, 32768,
                                  32769, 65534, 65535, 65536};
  if (s < 9)
    return edges[s];
  return (int64_t)s * 326 + s % 7;
}

static errors check(masked_ctx *ctx, const float *mask, int64_t stride) {
  float *k = sparse((uint64_t)N * (uint64_t)stride);
  float *v = sparse((uint64_t)N * (uint64_t)stride);
  for (int64_t j = 0; j < N; ++j)
    for (int d = 0; d < D; ++d) {
      k[j * stride + d] = 2 * noise((uint64_t)(j * D + d) + 77777777);
      v[j * stride + d] = noise((uint64_t)(j * D + d) + 177777777);
    }
  masked_inputs in;
  masked_outputs out;
  memset(&in, 0, sizeof in);
  memset(&out, 0, sizeof out);
  memset(o, 0xff, sizeof o);
  in.length = N;
  in.q.data = &q[0][0];
  in.k.data = k;
  in.v.data = v;
  in.mask.data = mask;
  int64_t strides[4] = {N * stride, N * stride, stride, 1};
  memcpy(in.k.stride, strides, sizeof strides);
  memcpy(in.v.stride, strides, sizeof strides);
  out.o.data = &o[0][0];
  int status = masked_run(ctx, &in, &out, NULL, 0);
  if (status) {
    printf("%s: %s\n", masked_status_string(status), masked_last_error(ctx));
    exit(1);
  }
  errors error = {0, 0};
  for (int s = 0; s < SAMPLES; ++s) {
    int64_t i = sample(s);
    compare_row(&error, q[i], k, v, mask + i * N, 0, N, stride, D, o[i]);
  }
  munmap(k, (uint64_t)N * (uint64_t)stride * sizeof(float));
  munmap(v, (uint64_t)N * (uint64_t)stride * sizeof(float));
  return error;
}

int main(void) {
  float *mask = sparse((uint64_t)N * N);
  for (int64_t i = 0; i < N; ++i)
    for (int d = 0; d < D; ++d)
      q[i][d] = 2 * noise((uint64_t)(i * D + d));
  /* Each sampled row hides other keys and lifts one; a wrapped offset would
   * read the zeros of another row. */
  for (int s = 0; s < SAMPLES; ++s) {
    int64_t i = sample(s);
    for (int64_t j = 0; j < N; ++j)
      if ((j + i) % 3 == 0)
        mask[i * N + j] = -INFINITY;
    mask[i * N + (i * 7919) % N] = 9;
  }
  masked_model *model;
  masked_ctx *ctx;
  masked_options options;
  memset(&options, 0, sizeof options);
  options.num_threads = 2;
  if (masked_load(NULL, 0, NULL, &model) ||
      masked_create(model, &options, &ctx))
    return 1;
  errors dense = check(ctx, mask, D);
  report("dense keys", &dense);
  errors apart = check(ctx, mask, 1 << 17);
  report("keys apart", &apart);
  masked_destroy(ctx);
  masked_unload(model);
  return 0;
}
