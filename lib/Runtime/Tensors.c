/*===- Tensors.c - checks of a run's tensors ---------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* Sizes from the dims, the caller's addresses and strides, and whether two
 * tensors meet where an output may take the memory of an input. */
#include "Tensors.h"
#include <inttypes.h>

int64_t attn_rt_element_size(int32_t type) {
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

attn_status attn_rt_overflow(attn_ctx *ctx, const char *what) {
  return attn_rt_ctx_fail(ctx, ATTN_ERROR_SHAPE,
                          "expected dimensions whose tensors can be addressed, "
                          "got sizes that overflow for %s",
                          what);
}

attn_status attn_rt_measure(attn_ctx *ctx, const int64_t *dims,
                            attn_rt_tensor *t) {
  const attn_tensor_info *info = t->info;
  int64_t run = 1;
  t->empty = false;
  t->copied = false;
  t->shared = 0;
  for (int d = info->rank - 1; d >= 0; --d) {
    int64_t size = info->sizes[d];
    t->sizes[d] = size < 0 ? dims[-1 - size] : size;
    t->empty |= t->sizes[d] == 0;
    t->dense[d] = run;
    /* an empty tensor has strides all the same */
    if (__builtin_mul_overflow(run, t->sizes[d] ? t->sizes[d] : 1, &run))
      return attn_rt_overflow(ctx, info->name);
  }
  if (__builtin_mul_overflow(run, attn_rt_element_size(info->type),
                             &t->bytes) ||
      t->bytes > INT64_MAX - 63)
    return attn_rt_overflow(ctx, info->name);
  t->bytes = (t->bytes + 63) & ~(int64_t)63;
  return ATTN_OK;
}

/* Does the driver take the caller's strides as they are? */
static bool is_taken(const attn_rt_tensor *t, bool on_device) {
  int rank = t->info->rank;
  bool dense = true, wide = true;
  for (int d = 0; d < rank; ++d)
    if (t->sizes[d] > 1) { /* the stride of a single entry is never used */
      dense &= t->strides[d] == t->dense[d];
      wide &= t->strides[d] <= INT32_MAX;
    }
  if (dense || on_device) /* a device's tensors are dense */
    return dense;
  return t->info->strided && wide &&
         (rank == 0 || t->sizes[rank - 1] <= 1 || t->strides[rank - 1] == 1);
}

/* Dimensions of more than one entry by increasing stride; how many there are.
 */
static int sort_by_stride(const attn_rt_tensor *t, int order[ATTN_MAX_RANK]) {
  int count = 0;
  for (int d = 0; d < t->info->rank; ++d) {
    if (t->sizes[d] <= 1)
      continue;
    int at = count++;
    for (; at > 0 && t->strides[order[at - 1]] > t->strides[d]; --at)
      order[at] = order[at - 1];
    order[at] = d;
  }
  return count;
}

/* An output must not write an element twice: sorted by stride, each dimension
 * must step over all smaller ones. */
static bool overlaps(const attn_rt_tensor *t) {
  int order[ATTN_MAX_RANK], count = sort_by_stride(t, order);
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

attn_status attn_rt_check_tensor(attn_ctx *ctx, attn_rt_tensor *t,
                                 const void *data, const int64_t *strides,
                                 bool output) {
  const attn_tensor_info *info = t->info;
  bool all_zero = true;
  for (int d = 0; strides && d < info->rank; ++d)
    all_zero &= strides[d] == 0;
  if (!data && !t->empty)
    return attn_rt_ctx_fail(ctx, ATTN_ERROR_ARGUMENT,
                            "expected data for %s %s, got a null pointer",
                            t->side, info->name);
  if ((uintptr_t)data % (uint64_t)attn_rt_element_size(info->type))
    return attn_rt_ctx_fail(
        ctx, ATTN_ERROR_ARGUMENT,
        "expected %s %s aligned to its elements of %" PRId64
        " bytes, got an address with remainder %d",
        t->side, info->name, attn_rt_element_size(info->type),
        (int)((uintptr_t)data % (uint64_t)attn_rt_element_size(info->type)));
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
      return attn_rt_overflow(ctx, info->name);
  }
  if (output && !t->empty && !all_zero && overlaps(t))
    return attn_rt_ctx_fail(ctx, ATTN_ERROR_ARGUMENT,
                            "expected strides that give each element of "
                            "output %s a place of its own, got overlapping "
                            "ones",
                            info->name);
  t->address = (uintptr_t)data;
  t->reach = reach;
  t->copied = !is_taken(t, ctx->device != NULL);
  return ATTN_OK;
}

/* Do two elements of a tensor whose positions differ in the `count` dimensions
 * of `order` alone lie `gap` elements apart? Each of these dimensions steps
 * over all smaller ones, so that the largest has two candidates. */
static bool has_distance(const attn_rt_tensor *t, const int *order, int count,
                         int64_t gap) {
  if (count == 0)
    return gap == 0;
  int d = order[count - 1];
  int64_t stride = t->strides[d], largest = t->sizes[d] - 1;
  int64_t steps = gap / stride - (gap % stride < 0); /* rounded down */
  for (int i = 0; i < 2; ++i, ++steps)
    if (steps >= -largest && steps <= largest &&
        has_distance(t, order, count - 1, gap - steps * stride))
      return true;
  return false;
}

/* The first dimension in which two tensors of the same sizes step differently,
 * -1 if there is none. */
static int other_stride(const attn_rt_tensor *a, const attn_rt_tensor *b) {
  for (int d = 0; d < a->info->rank; ++d)
    if (a->sizes[d] > 1 && a->strides[d] != b->strides[d])
      return d;
  return -1;
}

/* Do an input and an output of the same sizes have an element in common? With
 * different strides the answer is yes where the memory between their first and
 * last elements meets. */
static bool meets(const attn_rt_tensor *input, const attn_rt_tensor *output) {
  uint64_t size = (uint64_t)attn_rt_element_size(output->info->type);
  uintptr_t from = input->address, to = output->address;
  if (to >= from + ((uint64_t)input->reach + 1) * size ||
      from >= to + ((uint64_t)output->reach + 1) * size)
    return false;
  if (other_stride(input, output) >= 0)
    return true;
  int order[ATTN_MAX_RANK], count = sort_by_stride(output, order);
  return has_distance(output, order, count,
                      (int64_t)(to - from) / (int64_t)size);
}

attn_status attn_rt_check_in_place(attn_ctx *ctx, const attn_rt_tensor *input,
                                   const attn_rt_tensor *output) {
  const char *from = input->info->name, *to = output->info->name;
  if (output->empty)
    return ATTN_OK;
  if (input->address == output->address) {
    int d = other_stride(input, output);
    if (d < 0)
      return ATTN_OK;
    return attn_rt_ctx_fail(ctx, ATTN_ERROR_ARGUMENT,
                            "expected output %s with the strides of input %s "
                            "(because it has the same address), got %" PRId64
                            " instead of %" PRId64 " for dimension %d",
                            to, from, output->strides[d], input->strides[d], d);
  }
  if (!meets(input, output))
    return ATTN_OK;
  bool behind = output->address > input->address;
  return attn_rt_ctx_fail(
      ctx, ATTN_ERROR_ARGUMENT,
      "expected output %s at the address of input %s or in memory that does "
      "not meet it, got an address %" PRIu64 " bytes %s it",
      to, from,
      (uint64_t)(behind ? output->address - input->address
                        : input->address - output->address),
      behind ? "behind" : "before");
}
