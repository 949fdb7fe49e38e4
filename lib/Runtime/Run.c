/*===- Run.c - checks of a run's arguments, and the run ----------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* Everything is checked before anything is computed: kernels do not check. A
 * tensor whose strides the driver does not take gets a dense copy. */
#include "FloatState.h"
#include "Runtime.h"
#include <inttypes.h>
#include <string.h>

enum { MAX_TENSORS = 64 }; /* the compiler refuses more */

/* halide_error_code_out_of_memory; the object writer makes kernels return it
 * where their scratch is not there. */
enum { KERNEL_OUT_OF_MEMORY = -11 };

static int64_t element_size(int32_t type) {
  switch ((attn_type)type) {
  case ATTN_F64:
  case ATTN_I64:
    return 8;
  case ATTN_F32:
  case ATTN_I32:
    return 4;
  case ATTN_F16:
  case ATTN_BF16:
  case ATTN_I16:
    return 2;
  case ATTN_I8:
  case ATTN_BOOL:
  case ATTN_F8E4M3FN:
  case ATTN_F8E4M3FNUZ:
  case ATTN_F8E5M2:
  case ATTN_F8E5M2FNUZ:
  case ATTN_F4E2M1FN:
    return 1;
  }
  return 1;
}

/* A tensor of a run. */
typedef struct tensor {
  const attn_tensor_info *info;
  const char *side; /* "input" or "output" */
  int64_t sizes[ATTN_MAX_RANK];
  int64_t dense[ATTN_MAX_RANK];   /* strides of a dense tensor */
  int64_t strides[ATTN_MAX_RANK]; /* the caller's */
  int64_t bytes;                  /* of a dense copy */
  bool empty;
  bool copied;
} tensor;

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

static attn_status too_large(attn_ctx *ctx, const char *what) {
  return attn_rt_ctx_fail(ctx, ATTN_ERROR_SHAPE,
                          "expected dimensions whose tensors can be addressed, "
                          "got sizes that overflow for %s",
                          what);
}

/* Sizes and dense strides. */
static attn_status measure(attn_ctx *ctx, const int64_t *dims, tensor *t) {
  const attn_tensor_info *info = t->info;
  int64_t run = 1;
  t->empty = false;
  t->copied = false;
  for (int d = info->rank - 1; d >= 0; --d) {
    int64_t size = info->sizes[d];
    t->sizes[d] = size < 0 ? dims[-1 - size] : size;
    t->empty |= t->sizes[d] == 0;
    t->dense[d] = run;
    /* an empty tensor has strides all the same */
    if (__builtin_mul_overflow(run, t->sizes[d] ? t->sizes[d] : 1, &run))
      return too_large(ctx, info->name);
  }
  if (__builtin_mul_overflow(run, element_size(info->type), &t->bytes) ||
      t->bytes > INT64_MAX - 63)
    return too_large(ctx, info->name);
  t->bytes = (t->bytes + 63) & ~(int64_t)63;
  return ATTN_OK;
}

/* Does the driver take the caller's strides as they are? */
static bool is_taken(const tensor *t) {
  int rank = t->info->rank;
  bool dense = true, wide = true;
  for (int d = 0; d < rank; ++d)
    if (t->sizes[d] > 1) { /* the stride of a single entry is never used */
      dense &= t->strides[d] == t->dense[d];
      wide &= t->strides[d] <= INT32_MAX;
    }
  if (dense)
    return true;
  return t->info->strided && wide &&
         (rank == 0 || t->sizes[rank - 1] <= 1 || t->strides[rank - 1] == 1);
}

/* An output must not write an element twice: sorted by stride, each dimension
 * must step over all smaller ones. */
static bool overlaps(const tensor *t) {
  int order[ATTN_MAX_RANK], count = 0;
  for (int d = 0; d < t->info->rank; ++d) {
    if (t->sizes[d] <= 1)
      continue;
    int at = count++;
    for (; at > 0 && t->strides[order[at - 1]] > t->strides[d]; --at)
      order[at] = order[at - 1];
    order[at] = d;
  }
  int64_t reach = 0; /* the largest offset of the smaller dimensions */
  for (int i = 0; i < count; ++i) {
    int64_t stride = t->strides[order[i]], span;
    if (stride <= reach ||
        __builtin_mul_overflow(stride, t->sizes[order[i]] - 1, &span) ||
        __builtin_add_overflow(reach, span, &reach))
      return true;
  }
  return false;
}

static attn_status check(attn_ctx *ctx, tensor *t, const void *data,
                         const int64_t *strides, bool output) {
  const attn_tensor_info *info = t->info;
  bool all_zero = true;
  for (int d = 0; strides && d < info->rank; ++d)
    all_zero &= strides[d] == 0;
  if (!data && !t->empty)
    return attn_rt_ctx_fail(ctx, ATTN_ERROR_ARGUMENT,
                            "expected data for %s %s, got a null pointer",
                            t->side, info->name);
  if ((uintptr_t)data % (uint64_t)element_size(info->type))
    return attn_rt_ctx_fail(
        ctx, ATTN_ERROR_ARGUMENT,
        "expected %s %s aligned to its elements of %" PRId64
        " bytes, got an address with remainder %d",
        t->side, info->name, element_size(info->type),
        (int)((uintptr_t)data % (uint64_t)element_size(info->type)));
  int64_t reach = 0;
  for (int d = 0; d < info->rank; ++d) {
    t->strides[d] = all_zero ? t->dense[d] : strides[d];
    int64_t span;
    if (t->strides[d] < 0)
      return attn_rt_ctx_fail(ctx, ATTN_ERROR_ARGUMENT,
                              "expected strides of at least 0 for %s %s, got "
                              "%" PRId64 " for dimension %d",
                              t->side, info->name, t->strides[d], d);
    if (!t->empty &&
        (__builtin_mul_overflow(t->strides[d], t->sizes[d] - 1, &span) ||
         __builtin_add_overflow(reach, span, &reach) || reach > INT64_MAX / 16))
      return too_large(ctx, info->name);
  }
  if (output && !t->empty && !all_zero && overlaps(t))
    return attn_rt_ctx_fail(ctx, ATTN_ERROR_ARGUMENT,
                            "expected strides that give each element of "
                            "output %s a place of its own, got overlapping "
                            "ones",
                            info->name);
  t->copied = !is_taken(t);
  return ATTN_OK;
}

/* The driver's part of the workspace, a multiple of 64, or -1 with a text. */
static int64_t driver_workspace(attn_ctx *ctx, const int64_t *dims) {
  int64_t size = ctx->model->variant->workspace(dims);
  if (size < 0 || size > INT64_MAX / 4) {
    too_large(ctx, "the workspace");
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
  int32_t num_inputs = descriptor->num_inputs;
  int32_t count = num_inputs + descriptor->num_outputs;
  tensor tensors[2 * MAX_TENSORS];
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
    tensor *t = &tensors[i];
    t->info = output ? &descriptor->outputs[at] : &descriptor->inputs[at];
    t->side = output ? "output" : "input";
    data[i] = output ? outputs[at] : (void *)(uintptr_t)inputs[at];
    status = measure(ctx, dims, t);
    if (!status)
      status = check(ctx, t, data[i], all ? all[at] : NULL, output);
    if (status)
      return status;
    all_empty &= !output || t->empty;
  }
  if (all_empty)
    return ATTN_OK; /* nothing to compute */

  int64_t driver_bytes = driver_workspace(ctx, dims), copied_bytes = 0;
  if (driver_bytes < 0)
    return ATTN_ERROR_SHAPE;
  for (int32_t i = 0; i < count; ++i)
    if (tensors[i].copied &&
        __builtin_add_overflow(copied_bytes, tensors[i].bytes, &copied_bytes))
      return too_large(ctx, "the workspace");
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
    return too_large(ctx, "the workspace");
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
    tensor *t = &tensors[i];
    strides[i] = t->strides;
    if (!t->copied)
      continue;
    if (i < num_inputs)
      attn_rt_copy(copies, t->dense, data[i], t->strides, t->sizes,
                   t->info->rank, (size_t)element_size(t->info->type));
    data[i] = copies;
    strides[i] = t->dense;
    copies += t->bytes;
  }

  uint64_t mode = attn_rt_float_enter();
  int32_t result = model->variant->driver(
      ctx, base, dims, data, strides, data + num_inputs, strides + num_inputs,
      (const void *const *)model->weights);
  attn_rt_float_leave(mode);
  attn_rt_scratch_reset(ctx);
  if (result == KERNEL_OUT_OF_MEMORY)
    return ATTN_ERROR_MEMORY; /* halide_malloc has set the text */
  if (result < 0)
    return attn_rt_ctx_fail(ctx, ATTN_ERROR_INTERNAL,
                            "a kernel failed with code %d", result);
  if (result)
    return (attn_status)result;

  for (int32_t i = num_inputs; i < count; ++i) {
    tensor *t = &tensors[i];
    if (t->copied)
      attn_rt_copy(outputs[i - num_inputs], t->strides, data[i], t->dense,
                   t->sizes, t->info->rank,
                   (size_t)element_size(t->info->type));
  }
  return ATTN_OK;
}
