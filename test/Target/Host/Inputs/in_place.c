/*===- in_place.c - a decoder that keeps its caches ---------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.      *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
\*===----------------------------------------------------------------------===*/
/* Steps in place against steps with memory apart. A position of a cache is one
 * page, so that all pages but those of new positions can be made read-only: a
 * write that changes nothing is noticed too. */
#include "decode.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { B = 2, C = 8, S = 3, ROW = 16 * 64, PAGE = ROW * sizeof(float) };
typedef float cache[B][C][ROW];

/* The one of the C library may see that both addresses are equal, and then
 * writes nothing. */
void *memcpy(void *restrict to, const void *restrict from, size_t size) {
  volatile char *target = to;
  const char *source = from;
  for (size_t i = 0; i < size; ++i)
    target[i] = source[i];
  return to;
}

static float q[B * S * ROW], k[B * S * ROW], v[B * S * ROW];
static float out[B * S * ROW], out_apart[B * S * ROW];
static cache keys_apart[2], values_apart[2];

/* A cache that the caller keeps. */
static cache *make_cache(void) {
  void *memory = mmap(NULL, sizeof(cache), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/* Nothing but positions [length[b], length[b] + count) can be written. */
static void protect(cache *memory, const int64_t *length, int64_t count) {
  mprotect(memory, sizeof *memory, PROT_READ);
  for (int b = 0; b < B && count; ++b)
    mprotect((*memory)[b][length[b]], (size_t)count * PAGE,
             PROT_READ | PROT_WRITE);
}

static void make_inputs(int step) {
  for (int i = 0; i < B * S * ROW; ++i) {
    q[i] = sinf((float)(i + step));
    k[i] = cosf((float)(3 * i - step));
    v[i] = sinf((float)(7 * i + 2 * step));
  }
}

static decode_inputs inputs_of(int64_t count, const void *keys,
                               const void *values, const int64_t *length) {
  decode_inputs in = {
      B,           count,         {q, {0}},        {k, {0}}, {v, {0}},
      {keys, {0}}, {values, {0}}, {length, {0}}};
  return in;
}

static decode_outputs outputs_of(void *result, void *keys, void *values) {
  decode_outputs to = {{result, {0}}, {keys, {0}}, {values, {0}}};
  return to;
}

int main(void) {
  decode_model *model;
  decode_ctx *ctx;
  cache *keys = make_cache(), *values = make_cache();
  if (!keys || !values || decode_load(NULL, 0, NULL, &model) ||
      decode_create(model, NULL, &ctx))
    return 1;
  int64_t length[B] = {1, 0};
  decode_inputs in;
  decode_outputs to;

  for (int step = 0; step < 4; ++step) {
    int64_t count = step == 0 ? S : 1;
    int now = step & 1, next = !now;
    make_inputs(step);
    in = inputs_of(count, keys_apart[now], values_apart[now], length);
    to = outputs_of(out_apart, keys_apart[next], values_apart[next]);
    int apart = decode_run(ctx, &in, &to, NULL, 0);
    protect(keys, length, count);
    protect(values, length, count);
    in = inputs_of(count, keys, values, length);
    to = outputs_of(out, keys, values);
    int same = decode_run(ctx, &in, &to, NULL, 0);
    size_t bytes = (size_t)(B * count) * PAGE;
    printf("step %d: %d %d %d %d %d\n", step, apart, same,
           !memcmp(out, out_apart, bytes),
           !memcmp(keys, keys_apart[next], sizeof *keys),
           !memcmp(values, values_apart[next], sizeof *values));
    for (int b = 0; b < B; ++b)
      length[b] += count;
  }

    static cache values_next;
  in = inputs_of(1, keys_apart[0], values_apart[0], length);
  to = outputs_of(out_apart, keys_apart[1], values_apart[1]);
  if (decode_run(ctx, &in, &to, NULL, 0))
    return 1;
  protect(keys, length, 1);
  in = inputs_of(1, keys, values_apart[0], length);
  to = outputs_of(out, keys, values_next);
  int status = decode_run(ctx, &in, &to, NULL, 0);
  size_t bytes = (size_t)B * PAGE;
  printf("one: %d %d %d %d\n", status, !memcmp(out, out_apart, bytes),
         !memcmp(keys, keys_apart[1], sizeof *keys),
         !memcmp(values_next, values_apart[1], sizeof values_next));

  static float wide[B][C + 1][ROW];
  for (int b = 0; b < B; ++b) {
    memcpy(wide[b], keys_apart[0][b], sizeof keys_apart[0][b]);
    wide[b][C][5] = 42;
  }
  const int64_t batches[4] = {(C + 1) * ROW, ROW, 64, 1};
  in = inputs_of(1, wide, values_apart[0], length);
  to = outputs_of(out, wide, values_next);
  memcpy(in.keys_in.stride, batches, sizeof batches);
  memcpy(to.keys_out.stride, batches, sizeof batches);
  status = decode_run(ctx, &in, &to, NULL, 0);
  int equal = 1, kept = 1;
  for (int b = 0; b < B; ++b) {
    equal &= !memcmp(wide[b], keys_apart[1][b], sizeof keys_apart[1][b]);
    kept &= wide[b][C][5] == 42;
  }
  printf("strided: %d %d %d %d\n", status, !memcmp(out, out_apart, bytes),
         equal, kept);

  const int64_t full[B] = {0, C};
  protect(keys, full, 0);
  protect(values, full, 0);
  in = inputs_of(1, keys, values, full);
  to = outputs_of(out, keys, values);
  status = decode_run(ctx, &in, &to, NULL, 0);
  printf("full: %d %s\n", status, decode_last_error(ctx));

  in = inputs_of(1, wide, values_apart[0], length);
  to = outputs_of(out, wide[0][1], values_next);
  status = decode_run(ctx, &in, &to, NULL, 0);
  printf("behind: %d %s\n", status, decode_last_error(ctx));
  in.keys_in.data = wide[0][1];
  to.keys_out.data = &wide[0][0][0];
  status = decode_run(ctx, &in, &to, NULL, 0);
  printf("before: %d %s\n", status, decode_last_error(ctx));
  in.keys_in.data = &wide[0][0][0];
  memcpy(to.keys_out.stride, batches, sizeof batches);
  status = decode_run(ctx, &in, &to, NULL, 0);
  printf("strides: %d %s\n", status, decode_last_error(ctx));

  /* Two caches in one block, position by position: no element is in both. */
  static float pairs[B][C][2][ROW];
  const int64_t both[4] = {C * 2 * ROW, 2 * ROW, 64, 1};
  in.keys_in.data = pairs[0][0][0];
  memcpy(in.keys_in.stride, both, sizeof both);
  to.keys_out.data = pairs[0][0][1];
  memcpy(to.keys_out.stride, both, sizeof both);
  status = decode_run(ctx, &in, &to, NULL, 0);
  printf("beside: %d\n", status);

  decode_destroy(ctx);
  decode_unload(model);
  return 0;
}
