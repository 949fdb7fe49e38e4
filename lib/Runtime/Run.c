/*===- Run.c - checks of a run's arguments, and the run ----------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* Everything is checked before anything is computed: kernels do not check. A
 * tensor whose strides the driver does not take gets a dense copy. */
#include "Device.h"
#include "FloatState.h"
#include <inttypes.h>
#include <string.h>

enum { MAX_TENSORS = 64 }; /* the compiler refuses more */

/* halide_error_code_out_of_memory; the object writer makes kernels return it
 * where their scratch is not there. */
enum { KERNEL_OUT_OF_MEMORY = -11 };

static attn_status check_dims(attn_ctx *ctx, const int64_t *dims) {
  const attn_descriptor *descriptor = ctx->model->descriptor;
  for (int32_t i = 0; i < descriptor->num_dims; ++i) {
    const attn_dim_info *dim = &descriptor->dims[i];
    if (dims[i] < dim->min || dims[i] > dim->max)
      return attn_rt_ctx_fail(ctx, ATTN_ERROR_SHAPE,
                              "expected %" PRId64 " <= %s <= %" PRId64
                              ", got %" PRId64,
                              dim->min, dim->name, dim->max, dims[i]);
  }
  return ATTN_OK;
}

/* The driver's part of the workspace, a multiple of 64, or -1 with a text. */
static int64_t driver_workspace(attn_ctx *ctx, const int64_t *dims) {
  int64_t size = ctx->model->variant->workspace(dims);
  if (size < 0 || size > INT64_MAX / 4) {
    attn_rt_overflow(ctx, "the workspace");
    return -1;
  }
  return (size + 63) & ~(int64_t)63;
}

int64_t attn_rt_workspace_size(attn_ctx *ctx, const int64_t *dims) {
  return check_dims(ctx, dims) ? -1 : driver_workspace(ctx, dims);
}

/* The context's own workspace, at least `size` bytes; NULL with a text. */
static void *own_workspace(attn_ctx *ctx, int64_t size) {
  if (!ctx->workspace || (uint64_t)size > ctx->workspace_size) {
    attn_rt_deallocate(&ctx->memory, ctx->workspace);
    ctx->workspace_size = 0;
    ctx->workspace = attn_rt_allocate(&ctx->memory, (size_t)size);
    if (!ctx->workspace) {
      attn_rt_ctx_fail(
          ctx, ATTN_ERROR_MEMORY,
          "out of memory: this run needs %" PRId64 " bytes of workspace", size);
      return NULL;
    }
    ctx->workspace_size = (size_t)size;
  }
  return ctx->workspace;
}

attn_status attn_rt_run(attn_ctx *ctx, const int64_t *dims,
                        const void *const *inputs,
                        const int64_t *const *input_strides,
                        void *const *outputs,
                        const int64_t *const *output_strides, void *workspace,
                        size_t workspace_size) {
  const attn_model *model = ctx->model;
  const attn_descriptor *descriptor = model->descriptor;
  const attn_device_api *device = model->variant->device;
  int32_t num_inputs = descriptor->num_inputs;
  int32_t count = num_inputs + descriptor->num_outputs;
  attn_rt_tensor tensors[2 * MAX_TENSORS];
  void *data[2 * MAX_TENSORS];
  const int64_t *strides[2 * MAX_TENSORS];

  attn_status status = check_dims(ctx, dims);
  if (status)
    return status;
  bool all_empty = true;
  for (int32_t i = 0; i < count; ++i) {
    bool output = i >= num_inputs;
    int32_t at = output ? i - num_inputs : i;
    const int64_t *const *all = output ? output_strides : input_strides;
    attn_rt_tensor *t = &tensors[i];
    t->info = output ? &descriptor->outputs[at] : &descriptor->inputs[at];
    t->side = output ? "output" : "input";
    data[i] = output ? outputs[at] : (void *)(uintptr_t)inputs[at];
    status = attn_rt_measure(ctx, dims, t);
    const int64_t *given = all ? all[at] : NULL;
    if (!status && ctx->device && ctx->device->tensors[i].bound) {
      given = NULL; /* dense, on the device */
      data[i] = device->bound_address(ctx, i, (uint64_t)t->bytes);
    }
    if (!status)
      status = attn_rt_check_tensor(ctx, t, data[i], given, output);
    const attn_rt_tensor *input =
        output && t->info->in_place ? &tensors[t->info->in_place - 1] : NULL;
    if (!status && input)
      status = attn_rt_check_in_place(ctx, input, t);
    if (status)
      return status;
    if (input && t->address == input->address && t->copied && input->copied)
      t->shared = t->info->in_place;
    all_empty &= !output || t->empty;
  }
  if (all_empty)
    return ATTN_OK; /* nothing to compute */

  int64_t driver_bytes = driver_workspace(ctx, dims), copied_bytes = 0;
  if (driver_bytes < 0)
    return ATTN_ERROR_SHAPE;
  for (int32_t i = 0; i < count; ++i)
    if (tensors[i].copied && !tensors[i].shared &&
        __builtin_add_overflow(copied_bytes, tensors[i].bytes, &copied_bytes))
      return attn_rt_overflow(ctx, "the workspace");
  if (workspace && (uintptr_t)workspace % 64)
    return attn_rt_ctx_fail(ctx, ATTN_ERROR_WORKSPACE,
                            "expected a workspace aligned to 64 bytes, got an "
                            "address with remainder %d",
                            (int)((uintptr_t)workspace % 64));
  if (workspace && workspace_size < (uint64_t)driver_bytes)
    return attn_rt_ctx_fail(ctx, ATTN_ERROR_WORKSPACE,
                            "expected a workspace of at least %" PRId64
                            " bytes, got %zu",
                            driver_bytes, workspace_size);
  /* Dense copies lie in the context's memory, behind the driver's part if that
   * is there too. */
  int64_t own_bytes = workspace ? 0 : driver_bytes;
  if (__builtin_add_overflow(own_bytes, copied_bytes, &own_bytes))
    return attn_rt_overflow(ctx, "the workspace");
  unsigned char *base = workspace, *copies = NULL;
  if (!workspace || own_bytes) {
    copies = own_workspace(ctx, own_bytes);
    if (!copies)
      return ATTN_ERROR_MEMORY;
  }
  if (!workspace) {
    base = copies;
    copies += driver_bytes;
  }
  for (int32_t i = 0; i < count; ++i) {
    attn_rt_tensor *t = &tensors[i];
    strides[i] = t->strides;
    if (!t->copied)
      continue;
    if (t->shared) {
      data[i] = data[t->shared - 1];
      strides[i] = t->dense;
      continue;
    }
    if (i < num_inputs)
      attn_rt_copy(copies, t->dense, data[i], t->strides, t->sizes,
                   t->info->rank, (size_t)attn_rt_element_size(t->info->type));
    data[i] = copies;
    strides[i] = t->dense;
    copies += t->bytes;
  }

  if (device) {
    status = device->begin(ctx, tensors, data, base, driver_bytes);
    if (status)
      return status;
  }
  uint64_t mode = attn_rt_float_enter();
  int32_t result = model->variant->driver(
      ctx, base, dims, data, strides, data + num_inputs, strides + num_inputs,
      (const void *const *)model->weights);
  attn_rt_float_leave(mode);
  attn_rt_scratch_reset(ctx);
  if (device) {
    status = device->end(ctx);
    if (!result)
      result = (int32_t)status;
  }
  if (result == KERNEL_OUT_OF_MEMORY)
    return ATTN_ERROR_MEMORY; /* halide_malloc has set the text */
  if (result < 0)
    return attn_rt_ctx_fail(ctx,
                            device ? ATTN_ERROR_DEVICE : ATTN_ERROR_INTERNAL,
                            "a kernel failed with code %d", result);
  if (result)
    return (attn_status)result;

  for (int32_t i = num_inputs; i < count; ++i) {
    attn_rt_tensor *t = &tensors[i];
    if (t->copied)
      attn_rt_copy(outputs[i - num_inputs], t->strides, data[i], t->dense,
                   t->sizes, t->info->rank,
                   (size_t)attn_rt_element_size(t->info->type));
  }
  return ATTN_OK;
}
