/*===- Context.c - NAME_create, NAME_destroy, NAME_run -----------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* The typed structs of a model's header are all 8-byte words: the dims, then a
 * pointer and `rank` strides a tensor. One walk over the descriptor turns them
 * into the tables that the generic entry takes. */
#include "Device.h"
#include <stdio.h>
#include <string.h>

attn_status attn_model_create(const attn_model *model,
                              const attn_options *options, attn_ctx **ctx);
void attn_model_destroy(attn_ctx *ctx);
attn_status attn_model_run(attn_ctx *ctx, const void *inputs,
                           const void *outputs, void *workspace,
                           size_t workspace_size);
int64_t attn_model_workspace_size(attn_ctx *ctx, const void *inputs);
attn_status attn_model_run_generic(attn_ctx *ctx, const int64_t *dims,
                                   const void *const *inputs,
                                   const int64_t *const *input_strides,
                                   void *const *outputs,
                                   const int64_t *const *output_strides);
attn_status attn_model_bind_device(attn_ctx *ctx, const char *tensor,
                                   void *memory);
int64_t attn_model_workspace_size_generic(attn_ctx *ctx, const int64_t *dims);
const char *attn_model_last_error(const attn_ctx *ctx);

attn_status attn_model_create(const attn_model *model,
                              const attn_options *options, attn_ctx **result) {
  char *error = options ? options->error : NULL;
  size_t error_size = options ? options->error_size : 0;
#define FAIL(status, ...)                                                      \
  return attn_rt_fail(error, error_size, status, __VA_ARGS__)
  if (error && error_size)
    error[0] = 0;
  if (!result)
    FAIL(ATTN_ERROR_ARGUMENT,
         "expected a place for the context, got a null pointer");
  *result = NULL;
  if (!model)
    FAIL(ATTN_ERROR_ARGUMENT, "expected a loaded model, got a null pointer");
  attn_memory memory;
  if (!attn_rt_memory(options, &memory))
    FAIL(ATTN_ERROR_ARGUMENT, "expected options.allocate and "
                              "options.deallocate both or none, got one of "
                              "them");
  int32_t threads = options ? options->num_threads : 1;
  if (threads < 0 || threads > 1024)
    FAIL(ATTN_ERROR_ARGUMENT,
         "expected 0 <= options.num_threads <= 1024, got %d", threads);
  attn_ctx *ctx = attn_rt_allocate(&memory, sizeof *ctx);
  if (!ctx)
    FAIL(ATTN_ERROR_MEMORY, "out of memory: a context needs %zu bytes",
         sizeof *ctx);
  memset(ctx, 0, sizeof *ctx);
  ctx->model = model;
  ctx->memory = memory;
  pthread_mutex_init(&ctx->lock, NULL);
  if (options) {
    ctx->parallel_for = options->parallel_for;
    ctx->user = options->user;
  }
  if (threads > 1 && !ctx->parallel_for) {
    attn_status status = attn_rt_pool_create(&memory, threads, &ctx->pool);
    if (status) {
      attn_model_destroy(ctx);
      FAIL(status, "expected %d threads (options.num_threads), got fewer: %s",
           threads,
           status == ATTN_ERROR_MEMORY ? "out of memory"
                                       : "the system starts no more");
    }
  }
#undef FAIL
  const attn_device_api *device = model->variant->device;
  if (device) {
    attn_status status = device->attach(ctx, options, error, error_size);
    if (status) {
      attn_model_destroy(ctx);
      return status;
    }
  }
  *result = ctx;
  return ATTN_OK;
}

void attn_model_destroy(attn_ctx *ctx) {
  if (!ctx)
    return;
  attn_memory memory = ctx->memory;
  if (ctx->device)
    ctx->model->variant->device->detach(ctx);
  attn_rt_pool_destroy(&memory, ctx->pool);
  attn_rt_scratch_destroy(ctx);
  attn_rt_deallocate(&memory, ctx->workspace);
  pthread_mutex_destroy(&ctx->lock);
  attn_rt_deallocate(&memory, ctx);
}

attn_status attn_model_run_generic(attn_ctx *ctx, const int64_t *dims,
                                   const void *const *inputs,
                                   const int64_t *const *input_strides,
                                   void *const *outputs,
                                   const int64_t *const *output_strides) {
  if (!ctx)
    return ATTN_ERROR_ARGUMENT;
  ctx->error[0] = 0;
  if ((!dims && ctx->model->descriptor->num_dims) ||
      (!inputs && ctx->model->descriptor->num_inputs) || !outputs)
    return attn_rt_ctx_fail(ctx, ATTN_ERROR_ARGUMENT,
                            "expected arrays of dims, inputs and outputs, got "
                            "a null pointer");
  return attn_rt_run(ctx, dims, inputs, input_strides, outputs, output_strides,
                     NULL, 0);
}

int64_t attn_model_workspace_size_generic(attn_ctx *ctx, const int64_t *dims) {
  if (!ctx)
    return -1;
  ctx->error[0] = 0;
  if (!dims && ctx->model->descriptor->num_dims) {
    attn_rt_ctx_fail(ctx, ATTN_ERROR_ARGUMENT,
                     "expected an array of dims, got a null pointer");
    return -1;
  }
  return attn_rt_workspace_size(ctx, dims);
}

int64_t attn_model_workspace_size(attn_ctx *ctx, const void *inputs) {
  if (!ctx)
    return -1;
  ctx->error[0] = 0;
  if (!inputs) {
    attn_rt_ctx_fail(ctx, ATTN_ERROR_ARGUMENT,
                     "expected the inputs struct, got a null pointer");
    return -1;
  }
  return attn_rt_workspace_size(ctx, inputs); /* the dims come first */
}

/* Splits the words of `count` tensors into pointers and strides. */
static void split(const char *words, const attn_tensor_info *tensors,
                  int32_t count, void **pointers, const int64_t **strides) {
  for (int32_t i = 0; i < count; ++i) {
    memcpy(&pointers[i], words, sizeof(void *));
    strides[i] = (const int64_t *)(const void *)(words + 8);
    words += 8 * (1 + (size_t)tensors[i].rank);
  }
}

attn_status attn_model_run(attn_ctx *ctx, const void *inputs,
                           const void *outputs, void *workspace,
                           size_t workspace_size) {
  if (!ctx)
    return ATTN_ERROR_ARGUMENT;
  ctx->error[0] = 0;
  if (!inputs || !outputs)
    return attn_rt_ctx_fail(ctx, ATTN_ERROR_ARGUMENT,
                            "expected the structs of inputs and outputs, got "
                            "a null pointer");
  const attn_descriptor *descriptor = ctx->model->descriptor;
  enum { MAX = 64 }; /* the compiler refuses more tensors */
  void *in[MAX], *out[MAX];
  const int64_t *in_strides[MAX], *out_strides[MAX];
  split((const char *)inputs + 8 * (size_t)descriptor->num_dims,
        descriptor->inputs, descriptor->num_inputs, in, in_strides);
  split(outputs, descriptor->outputs, descriptor->num_outputs, out,
        out_strides);
  return attn_rt_run(ctx, inputs, (const void *const *)in, in_strides, out,
                     out_strides, workspace, workspace_size);
}

/* The number of an input, or behind them of an output; -1 if there is none. */
static int32_t find_tensor(const attn_descriptor *descriptor,
                           const char *name) {
  for (int32_t i = 0; i < descriptor->num_inputs; ++i)
    if (!strcmp(descriptor->inputs[i].name, name))
      return i;
  for (int32_t i = 0; i < descriptor->num_outputs; ++i)
    if (!strcmp(descriptor->outputs[i].name, name))
      return descriptor->num_inputs + i;
  return -1;
}

attn_status attn_model_bind_device(attn_ctx *ctx, const char *tensor,
                                   void *memory) {
  if (!ctx)
    return ATTN_ERROR_ARGUMENT;
  ctx->error[0] = 0;
  if (!tensor)
    return attn_rt_ctx_fail(ctx, ATTN_ERROR_ARGUMENT,
                            "expected the name of an input or output, got a "
                            "null pointer");
  int32_t number = find_tensor(ctx->model->descriptor, tensor);
  if (number < 0)
    return attn_rt_ctx_fail(ctx, ATTN_ERROR_ARGUMENT,
                            "expected the name of an input or output of %s, "
                            "got '%s'",
                            ctx->model->descriptor->name, tensor);
  if (!ctx->device)
    return attn_rt_ctx_fail(ctx, ATTN_ERROR_ARGUMENT,
                            "expected a model on a device to bind its memory, "
                            "got variant %s, which runs on the CPU",
                            ctx->model->variant->target);
  return ctx->model->variant->device->bind(ctx, number, memory);
}

const char *attn_model_last_error(const attn_ctx *ctx) {
  return ctx ? ctx->error : "expected a context, got a null pointer";
}
