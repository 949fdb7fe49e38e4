/*===- denormal-modes.c - attention under settings of the caller --*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.      *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
\*===----------------------------------------------------------------------===*/
/* Scores that spread over 110 exponents, so that weights are denormal, under
 * three settings of the unit that computes. */
#include "attention.h"
#include <stdio.h>
#include <string.h>
#include <xmmintrin.h>

enum { N = 67, D = 2 };
static float q[N][D], k[N][D], v[N][D], plain[N][D], result[N][D];

static attention_ctx *ctx;

static void run(const char *what, unsigned setting, float (*o)[D]) {
  attention_inputs in = {
      1, N, {&q[0][0], {0}}, {&k[0][0], {0}}, {&v[0][0], {0}}};
  attention_outputs out = {{&o[0][0], {0}}};
  unsigned before = _mm_getcsr();
  _mm_setcsr(setting);
  int status = attention_run(ctx, &in, &out, NULL, 0);
  /* The low six bits say what happened; they are no setting. */
  unsigned after = _mm_getcsr() & ~0x3fu;
  _mm_setcsr(before);
  printf("%s: %d equal %d setting %d\n", what, status,
         !memcmp(o, plain, sizeof plain), after == (setting & ~0x3fu));
}

int main(void) {
  for (int i = 0; i < N; ++i) {
    q[i][0] = 1.0f;
    k[i][0] = -1.6f * (float)i;
    v[i][0] = 1.0f + (float)i;
    v[i][1] = 1e-39f;
  }
  attention_model *model;
  if (attention_load(NULL, 0, NULL, &model) ||
      attention_create(model, NULL, &ctx))
    return 1;
  run("no trap, kept", 0x1f80, plain);
  memset(result, 0xff, sizeof result);
  run("flushed", 0x1f80 | 0x8040, result);
  memset(result, 0xff, sizeof result);
  run("rounded down", 0x1f80 | 0x2000, result);
  attention_destroy(ctx);
  attention_unload(model);
  return 0;
}
