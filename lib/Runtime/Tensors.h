/*===- Tensors.h - the tensors of a run --------------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
#ifndef ATTN_RUNTIME_TENSORS_H
#define ATTN_RUNTIME_TENSORS_H

#include "Runtime.h"

/* A tensor of a run. */
typedef struct attn_rt_tensor {
  const attn_tensor_info *info;
  const char *side;  /* "input" or "output" */
  uintptr_t address; /* the caller's, as are strides */
  int64_t sizes[ATTN_MAX_RANK];
  int64_t dense[ATTN_MAX_RANK]; /* strides of a dense tensor */
  int64_t strides[ATTN_MAX_RANK];
  int64_t reach; /* the largest offset of an element */
  int64_t bytes; /* of a dense copy */
  bool empty;
  bool copied;    /* the driver does not take the strides as they are */
  int32_t shared; /* of an output whose dense copy is that of an input: 1 + its
                     number; else 0 */
} attn_rt_tensor;

/* Bytes of an element of that attn_type. */
int64_t attn_rt_element_size(int32_t type);

/* Fills the sizes of a tensor whose `info` and `side` are set. */
attn_status attn_rt_measure(attn_ctx *ctx, const int64_t *dims,
                            attn_rt_tensor *t);
/* Then checks address and strides; `strides` may be null. */
attn_status attn_rt_check_tensor(attn_ctx *ctx, attn_rt_tensor *t,
                                 const void *data, const int64_t *strides,
                                 bool output);
/* An output that may take the memory of an input, both checked: they have one
 * address and equal strides, or no element of one meets one of the other. */
attn_status attn_rt_check_in_place(attn_ctx *ctx, const attn_rt_tensor *input,
                                   const attn_rt_tensor *output);

/* Says that the sizes of `what` pass 64 bits. */
attn_status attn_rt_overflow(attn_ctx *ctx, const char *what);

#endif /* ATTN_RUNTIME_TENSORS_H */
