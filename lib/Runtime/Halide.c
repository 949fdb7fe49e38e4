/*===- Halide.c - what Halide's kernels call ---------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* Kernels are compiled without a run-time and with a user context, which is our
 * attn_ctx. These definitions win over the weak ones of Halide's own run-time:
 * no abort and no hidden thread pool; Scratch.c has the allocator. */
#include "FloatState.h"
#include "Runtime.h"
#include <stddef.h>
#include <string.h>

void halide_error(void *user_context, const char *message);
void halide_error(void *user_context, const char *message) {
  attn_ctx *ctx = user_context;
  if (!ctx) /* Halide's run-time of a device has none at times */
    return;
  size_t length = strlen(message);
  while (length && message[length - 1] == '\n')
    --length;
  attn_rt_ctx_fail(
      ctx, ATTN_ERROR_INTERNAL,
      ctx->device ? "the device failed: %.*s" : "a kernel failed: %.*s",
      length < ATTN_ERROR_TEXT ? (int)length : ATTN_ERROR_TEXT, message);
}

void halide_print(void *user_context, const char *message);
void halide_print(void *user_context, const char *message) {
  (void)user_context;
  (void)message; /* a library does not write to its caller's terminal */
}

typedef int (*loop_body)(void *user_context, int index, uint8_t *closure);

typedef struct loop {
  void *user_context;
  loop_body body;
  int min;
  uint8_t *closure;
} loop;

static int run_body(void *argument, int index) {
  const loop *l = argument;
  int result = l->body(l->user_context, l->min + index, l->closure);
  attn_rt_matrix_release(((attn_ctx *)l->user_context)->model->variant);
  return result;
}

/* The caller's threads may be in any mode. */
static int run_body_elsewhere(void *argument, int index) {
  uint64_t saved = attn_rt_float_enter();
  int result = run_body(argument, index);
  attn_rt_float_leave(saved);
  return result;
}

int halide_do_par_for(void *user_context, loop_body body, int min, int size,
                      uint8_t *closure);
int halide_do_par_for(void *user_context, loop_body body, int min, int size,
                      uint8_t *closure) {
  attn_ctx *ctx = user_context;
  loop l = {user_context, body, min, closure};
  if (ctx->parallel_for && size > 1)
    return ctx->parallel_for(ctx->user, run_body_elsewhere, &l, size);
  return attn_rt_pool_run(ctx->pool, run_body, &l, size);
}

int halide_do_task(void *user_context, loop_body body, int index,
                   uint8_t *closure);
int halide_do_task(void *user_context, loop_body body, int index,
                   uint8_t *closure) {
  return body(user_context, index, closure);
}
