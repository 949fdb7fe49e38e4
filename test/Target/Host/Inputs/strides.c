/*===- strides.c - attention on strided tensors -------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.      *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
\*===----------------------------------------------------------------------===*/
/* Attention on tensors with strides, on threads of the caller and in memory of
 * the caller gives the bits of the plain run. */
#include "attention.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { B = 2, N = 67, D = 2 };
static float q[B][N][D], k[B][N][D], v[B][N][D], plain[B][N][D];

static int calls;
static int run_backwards(void *user, int (*task)(void *, int), void *argument,
                         int count) {
  (void)user;
  ++calls;
  for (int i = count - 1; i >= 0; --i) {
    int result = task(argument, i);
    if (result)
      return result;
  }
  return 0;
}

static int same(const float *data, int64_t batch, int64_t row, int64_t column) {
  for (int b = 0; b < B; ++b)
    for (int n = 0; n < N; ++n)
      for (int d = 0; d < D; ++d)
        if (data[b * batch + n * row + d * column] != plain[b][n][d])
          return 0;
  return 1;
}

int main(void) {
  for (int i = 0; i < B * N * D; ++i) {
    (&q[0][0][0])[i] = sinf((float)i);
    (&k[0][0][0])[i] = cosf((float)(3 * i));
    (&v[0][0][0])[i] = sinf((float)(7 * i));
  }
  attention_options options;
  memset(&options, 0, sizeof options);
  options.parallel_for = run_backwards;
  attention_model *model;
  attention_ctx *ctx, *other;
  if (attention_load(NULL, 0, NULL, &model) ||
      attention_create(model, NULL, &ctx) ||
      attention_create(model, &options, &other))
    return 1;
  attention_inputs in = {
      B, N, {&q[0][0][0], {0}}, {&k[0][0][0], {0}}, {&v[0][0][0], {0}}};
  attention_outputs out = {{&plain[0][0][0], {0}}};
  printf("plain %d\n", attention_run(ctx, &in, &out, NULL, 0));

  /* Rows of 5 with room between the batches; read and written in place. */
  static float wide[B * (5 * N + 7)], result[B * (5 * N + 7)];
  const int64_t rows[4] = {5 * N + 7, 5, 2, 1};
  for (int b = 0; b < B; ++b)
    for (int n = 0; n < N; ++n)
      memcpy(&wide[b * rows[0] + n * rows[1]], q[b][n], sizeof q[b][n]);
  in.query.data = wide;
  memcpy(in.query.stride, rows, sizeof rows);
  out.output.data = result;
  memcpy(out.output.stride, rows, sizeof rows);
  result[2] = 42; /* between two rows */
  int status = attention_run(ctx, &in, &out, NULL, 0);
  printf("rows %d %d %g\n", status, same(result, rows[0], rows[1], 1),
         result[2]);

  /* Columns first: no kernel reads or writes that, so both are copied. */
  static float columns[B * D * N], turned[B * D * N];
  const int64_t strides[4] = {D * N, 1, 1, N};
  for (int b = 0; b < B; ++b)
    for (int n = 0; n < N; ++n)
      for (int d = 0; d < D; ++d)
        columns[b * D * N + d * N + n] = q[b][n][d];
  in.query.data = columns;
  memcpy(in.query.stride, strides, sizeof strides);
  out.output.data = turned;
  memcpy(out.output.stride, strides, sizeof strides);
  status = attention_run(ctx, &in, &out, NULL, 0);
  printf("columns %d %d\n", status, same(turned, D * N, 1, N));

  /* The caller's threads and memory. */
  int64_t size = attention_workspace_size(other, &in);
  void *workspace = aligned_alloc(64, (size_t)size + 64);
  memset(turned, 0, sizeof turned);
  status = attention_run(other, &in, &out, workspace, (size_t)size);
  printf("caller %d %d %d\n", status, same(turned, D * N, 1, N), calls > 0);
  free(workspace);

  /* One key and value for all batches. */
  const int64_t shared[4] = {0, D, D, 1};
  in.key.data = &k[1][0][0];
  in.value.data = &v[1][0][0];
  memcpy(in.key.stride, shared, sizeof shared);
  memcpy(in.value.stride, shared, sizeof shared);
  memset(in.query.stride, 0, sizeof in.query.stride);
  in.query.data = &q[0][0][0];
  memset(out.output.stride, 0, sizeof out.output.stride);
  out.output.data = result;
  status = attention_run(ctx, &in, &out, NULL, 0);
  printf("shared %d %d\n", status,
         !memcmp(result + N * D, plain[1], sizeof plain[1]) &&
             memcmp(result, plain[0], sizeof plain[0]));

  /* The stride of a single batch is never used, however large. */
  const int64_t far[4] = {(int64_t)1 << 40, D, D, 1};
  attention_inputs single = in;
  single.batch = 1;
  single.key.data = &k[0][0][0];
  single.value.data = &v[0][0][0];
  memcpy(single.query.stride, far, sizeof far);
  memcpy(single.key.stride, far, sizeof far);
  memcpy(single.value.stride, far, sizeof far);
  memcpy(out.output.stride, far, sizeof far);
  memset(result, 0, sizeof result);
  status = attention_run(ctx, &single, &out, NULL, 0);
  printf("single %d %d\n", status, !memcmp(result, plain[0], sizeof plain[0]));
  memset(out.output.stride, 0, sizeof out.output.stride);

  in.key.stride[0] = -1;
  status = attention_run(ctx, &in, &out, NULL, 0);
  printf("%s: %s\n", attention_status_string(status),
         attention_last_error(ctx));
  attention_destroy(ctx);
  attention_destroy(other);
  attention_unload(model);
  return 0;
}
