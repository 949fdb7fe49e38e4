// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* Two models, each in two threads, with pools of their own. */
#include "attention.h"
#include "lookup.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static attention_model *attention;
static lookup_model *lookup;

/* The example: Q = K = [[1,0],[0,1],[1,1]], V = [[1,0],[0,1],[0.5,0.5]]. */
static void *run_attention(void *result) {
  static const float q[3][2] = {{1, 0}, {0, 1}, {1, 1}};
  static const float v[3][2] = {{1, 0}, {0, 1}, {0.5f, 0.5f}};
  attention_options options;
  memset(&options, 0, sizeof options);
  options.num_threads = 2;
  attention_ctx *ctx;
  if (attention_create(attention, &options, &ctx))
    return result;
  attention_inputs inputs = {
      1, 3, {&q[0][0], {0}}, {&q[0][0], {0}}, {&v[0][0], {0}}};
  int good = 1;
  for (int i = 0; i < 500; ++i) {
    float out[3][2] = {{0}};
    attention_outputs outputs = {{&out[0][0], {0}}};
    good &= attention_run(ctx, &inputs, &outputs, NULL, 0) == ATTENTION_OK;
    good &= fabsf(out[2][0] - 0.5f) < 1e-6f;
    good &= fabsf(out[0][0] + out[0][1] - 1) < 1e-6f;
  }
  attention_destroy(ctx);
  *(int *)result = good;
  return NULL;
}

static void *run_lookup(void *result) {
  lookup_options options;
  memset(&options, 0, sizeof options);
  options.num_threads = 2;
  lookup_ctx *ctx;
  if (lookup_create(lookup, &options, &ctx))
    return result;
  int good = 1;
  for (int i = 0; i < 500; ++i) {
    const int64_t ids[] = {i % 3, 1};
    float projected[2][5] = {{0}};
    lookup_inputs inputs = {2, {ids, {0}}};
    lookup_outputs outputs = {{&projected[0][0], {0}}};
    good &= lookup_run(ctx, &inputs, &outputs, NULL, 0) == LOOKUP_OK;
    good &= projected[0][0] == (float)(11 + 2 * (i % 3));
    good &= projected[1][4] == 53.5f;
  }
  lookup_destroy(ctx);
  *(int *)result = good;
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 2 || attention_load(NULL, 0, NULL, &attention) ||
      lookup_load_file(argv[1], NULL, &lookup))
    return 1;
  pthread_t threads[4];
  int good[4] = {0};
  for (int i = 0; i < 4; ++i)
    pthread_create(&threads[i], NULL, i % 2 ? run_attention : run_lookup,
                   &good[i]);
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], NULL);
  attention_unload(attention);
  lookup_unload(lookup);
  printf("%d %d %d %d\n", good[0], good[1], good[2], good[3]);
  return 0;
}
