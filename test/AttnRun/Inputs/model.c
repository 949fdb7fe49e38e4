/*===- model.c - a model written by hand ------------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* y = SCALE * x over (rows, 3), and n = ids + 1, through the API that compiled
 * models have. FAULT makes it misbehave, to see that attn-run notices. */
#include "attn-c/model.h"
#include <stdlib.h>
#include <string.h>

#ifndef SCALE
#define SCALE 2.0f
#endif
#ifndef MAX_ROWS
#define MAX_ROWS 100
#endif
#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)

struct attn_model {
  attn_options options;
};
struct attn_ctx {
  attn_options options;
  float *workspace;
  char error[64];
};

const char *hand_info(void) {
#ifdef BAD_INFO
  return "{\"name\":\"hand\",\"dims\":[{\"name\":\"rows\"}]}";
#endif
  return "{\"name\":\"hand\",\"dims\":[{\"name\":\"rows\",\"min\":0,"
         "\"max\":" TEXT_OF(
             MAX_ROWS) "}],"
                       "\"inputs\":[{\"name\":\"x\",\"type\":\"f32\",\"dims\":["
                       "\"rows\",3]},{\"name\":\"ids\",\"type\":\"i64\","
                       "\"dims\":["
                       "\"rows\"]}],\"outputs\":[{\"name\":\"y\",\"type\":"
                       "\"f32\","
                       "\"dims\":[\"rows\",3]},{\"name\":\"n\",\"type\":"
                       "\"i64\","
                       "\"dims\":[\"rows\"]}]}";
}

attn_status hand_load(const void *weights, size_t size,
                      const attn_options *options, attn_model **model) {
  (void)weights;
  (void)size;
  *model = malloc(sizeof(**model));
  (*model)->options = *options;
  return ATTN_OK;
}
attn_status hand_load_file(const char *path, const attn_options *options,
                           attn_model **model) {
  (void)path;
  return hand_load(NULL, 0, options, model);
}
void hand_unload(attn_model *model) { free(model); }

attn_status hand_create(const attn_model *model, const attn_options *options,
                        attn_ctx **ctx) {
  (void)model;
  if (options->num_threads > 4) {
    strncpy(options->error, "no more than 4 threads", options->error_size);
    return ATTN_ERROR_THREADS;
  }
  *ctx = calloc(1, sizeof(**ctx));
  (*ctx)->options = *options;
  (*ctx)->workspace = options->allocate(options->user, 5 * sizeof(float), 64);
  return ATTN_OK;
}
void hand_destroy(attn_ctx *ctx) {
  ctx->options.deallocate(ctx->options.user, ctx->workspace);
  free(ctx);
}

attn_status hand_run_generic(attn_ctx *ctx, const int64_t *dims,
                             const void *const *inputs,
                             const int64_t *const *input_strides,
                             void *const *outputs,
                             const int64_t *const *output_strides) {
  const float *x = inputs[0];
  const int64_t *ids = inputs[1];
  float *y = outputs[0];
  int64_t *n = outputs[1];
  int64_t i;
  (void)input_strides;
  (void)output_strides;
  if (dims[0] == 13) {
    strcpy(ctx->error, "expected rows other than 13, got 13");
    return ATTN_ERROR_SHAPE;
  }
  for (i = 0; i < dims[0] * 3; ++i)
    y[i] = SCALE * x[i];
  for (i = 0; i < dims[0]; ++i)
    n[i] = ids[i] + 1;
#ifdef READ_PAST
  y[0] += x[dims[0] * 3];
#endif
#ifdef WRITE_PAST
  y[dims[0] * 3] = 1;
#endif
#ifdef WRITE_BEFORE
  y[-1] = 1;
#endif
#ifdef WRITE_INPUT
  ((float *)x)[0] = 1;
#endif
#ifdef WRITE_PAST_WORKSPACE
  ctx->workspace[5] = 1;
#endif
#ifdef FORGET
  y[1] = ((float *)outputs[0])[1] * 0.0f / 0.0f;
#endif
  return ATTN_OK;
}
int64_t hand_workspace_size_generic(attn_ctx *ctx, const int64_t *dims) {
  (void)ctx;
  return dims[0] * 4;
}
const char *hand_last_error(const attn_ctx *ctx) { return ctx->error; }
const char *hand_status_string(attn_status status) {
  (void)status;
  return "a status";
}
const char *hand_target(const attn_model *model) {
  (void)model;
  return "by-hand";
}
