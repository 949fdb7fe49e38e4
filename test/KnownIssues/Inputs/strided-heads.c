/*===- strided-heads.c - strides that other software got wrong ----*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.      *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
\*===----------------------------------------------------------------------===*/
/* Runs the model on dense tensors, then on other layouts of the same numbers.
 */
#include "model.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { B = 2, H = 4, N = 7, M = 33, D = 16 };
static float q[B][H][N][D], k[B][H][M][D], v[B][H][M][D];
static float head_k[B][M][D], head_v[B][M][D];
static float turned[B][H][D][N];
static uint8_t mask[B][M], wide_mask[B][M + 14];
static float dense[B][H][N][D], result[B][H][N][D];
/* Room to move a buffer by four bytes. */
static float moved_q[B * H * N * D + 16], moved_k[B * H * M * D + 16],
    moved_v[B * H * M * D + 16], moved_o[B * H * N * D + 16];

static model_ctx *ctx;

static void run(const char *what, const model_inputs *in, model_outputs *out,
                const float *data) {
  int status = model_run(ctx, in, out, NULL, 0);
  if (status)
    printf("%s: %s: %s\n", what, model_status_string(status),
           model_last_error(ctx));
  else
    printf("%s: %s\n", what,
           memcmp(data, dense, sizeof dense) ? "DIFFERENT" : "equal");
}

int main(void) {
  for (int b = 0; b < B; ++b)
    for (int j = 0; j < M; ++j) {
      mask[b][j] = wide_mask[b][j] = (uint8_t)(j % 3 != b);
      for (int d = 0; d < D; ++d) {
        head_k[b][j][d] = sinf((float)(b * 1000 + j * 17 + d));
        head_v[b][j][d] = cosf((float)(b * 1000 + j * 13 + 3 * d));
      }
    }
  for (int b = 0; b < B; ++b)
    for (int h = 0; h < H; ++h) {
      memcpy(k[b][h], head_k[b], sizeof head_k[b]);
      memcpy(v[b][h], head_v[b], sizeof head_v[b]);
      for (int i = 0; i < N; ++i)
        for (int d = 0; d < D; ++d)
          q[b][h][i][d] = turned[b][h][d][i] =
              sinf((float)(b * 100 + h * 31 + i * 7 + 5 * d));
    }
  model_model *model;
  if (model_load(NULL, 0, NULL, &model) || model_create(model, NULL, &ctx))
    return 1;

  model_inputs in;
  model_outputs out;
  memset(&in, 0, sizeof in);
  memset(&out, 0, sizeof out);
  in.q.data = &q[0][0][0][0];
  in.k.data = &k[0][0][0][0];
  in.v.data = &v[0][0][0][0];
  in.mask.data = &mask[0][0];
  out.o.data = &dense[0][0][0][0];
  if (model_run(ctx, &in, &out, NULL, 0))
    return 1;
  out.o.data = &result[0][0][0][0];

  model_inputs other = in;
  const int64_t heads[4] = {M * D, 0, D, 1};
  other.k.data = &head_k[0][0][0];
  other.v.data = &head_v[0][0][0];
  memcpy(other.k.stride, heads, sizeof heads);
  memcpy(other.v.stride, heads, sizeof heads);
  run("repeated heads", &other, &out, &result[0][0][0][0]);

  memset(result, 0, sizeof result);
  const int64_t channels[4] = {H * D * N, D * N, 1, N};
  other = in;
  other.q.data = &turned[0][0][0][0];
  memcpy(other.q.stride, channels, sizeof channels);
  run("channels apart", &other, &out, &result[0][0][0][0]);

  memset(result, 0, sizeof result);
  const int64_t rows[4] = {M + 14, M, M, 1};
  other = in;
  other.mask.data = &wide_mask[0][0];
  memcpy(other.mask.stride, rows, sizeof rows);
  run("mask rows apart", &other, &out, &result[0][0][0][0]);

  float *moved = moved_o;
  while (((uintptr_t)moved & 63) != 4)
    ++moved;
  memcpy(moved_q + 1, q, sizeof q);
  memcpy(moved_k + 2, k, sizeof k);
  memcpy(moved_v + 3, v, sizeof v);
  other.q.data = moved_q + 1;
  other.k.data = moved_k + 2;
  other.v.data = moved_v + 3;
  out.o.data = moved;
  run("odd addresses", &other, &out, moved);
  model_destroy(ctx);
  model_unload(model);
  return 0;
}
