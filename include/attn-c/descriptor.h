/*===- descriptor.h - what a compiled model says about itself ----*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* The object writer emits one constant `attn_descriptor` a model; the run-time
 * is driven by it and by nothing else. Both live in one object, so this layout
 * may change with any release; ATTN_DESCRIPTOR_VERSION guards against a mix.
 * Every field is 8 bytes wide or a pair of 4 bytes, so that the writer needs no
 * padding rules. */
#ifndef ATTN_C_DESCRIPTOR_H
#define ATTN_C_DESCRIPTOR_H

#include <stdint.h>

#define ATTN_DESCRIPTOR_VERSION 2

enum { ATTN_MAX_RANK = 8 };

/* Element types; the values are part of the descriptor. */
typedef enum attn_type {
  ATTN_F32 = 0,
  ATTN_F64 = 1,
  ATTN_F16 = 2,
  ATTN_BF16 = 3,
  ATTN_I8 = 4,
  ATTN_I16 = 5,
  ATTN_I32 = 6,
  ATTN_I64 = 7,
  ATTN_BOOL = 8,
  /* Bits in a byte; of F4E2M1FN in the low half. */
  ATTN_F8E4M3FN = 9,
  ATTN_F8E4M3FNUZ = 10,
  ATTN_F8E5M2 = 11,
  ATTN_F8E5M2FNUZ = 12,
  ATTN_F4E2M1FN = 13
} attn_type;

/* A named size and its range, both ends inclusive. */
typedef struct attn_dim_info {
  const char *name;
  int64_t min, max;
} attn_dim_info;

/* An input or output. sizes[d] >= 0 is a static size, -1 - k is dim k. */
typedef struct attn_tensor_info {
  const char *name;
  int32_t type; /* attn_type */
  int32_t rank;
  const int64_t *sizes;
  int32_t strided;  /* 1: the driver takes any stride >= 0 of all dimensions but
                       the last, whose stride is 1; 0: only dense data */
  int32_t in_place; /* an output that may have address and strides of input k,
                       whose sizes and type it has: 1 + k; others: 0 */
} attn_tensor_info;

/* A weight as the weights file stores it. */
typedef struct attn_stored_weight {
  const char *name;
  uint64_t offset, size; /* bytes in the file */
} attn_stored_weight;

/* A weight as a variant wants it: stored weight `stored` as it is where
 * from_panel == to_panel, else the (n, k) matrix repacked from one panel width
 * to the other; width 0 means not packed, (n, k) in row-major order. */
typedef struct attn_variant_weight {
  int32_t stored;
  int32_t element_size; /* bytes */
  int32_t from_panel, to_panel;
  int64_t n, k;
  uint64_t size; /* bytes after repacking */
} attn_variant_weight;

/* Runs the model: all arguments were checked. 0, an attn_status whose text is
 * already set, or a negative code of a kernel. */
typedef int32_t (*attn_driver_fn)(void *ctx, uint8_t *workspace,
                                  const int64_t *dims, void *const *inputs,
                                  const int64_t *const *input_strides,
                                  void *const *outputs,
                                  const int64_t *const *output_strides,
                                  const void *const *weights);
/* Bytes of workspace, or -1 where the sizes overflow 64 bits. */
typedef int64_t (*attn_workspace_fn)(const int64_t *dims);

/* What runs the kernels of a variant if not the CPU (lib/Runtime/Device.h). */
typedef struct attn_device_api attn_device_api;

/* One compiled form of the model. */
typedef struct attn_variant {
  const char *target;    /* "x86-64-v3" */
  uint64_t cpu_features; /* bits of cpu.h */
  attn_driver_fn driver;
  attn_workspace_fn workspace;
  const attn_variant_weight *weights;
  int64_t num_weights;
  const attn_device_api *device; /* NULL: the CPU */
} attn_variant;

typedef struct attn_descriptor {
  int32_t version; /* ATTN_DESCRIPTOR_VERSION */
  int32_t num_dims;
  int32_t num_inputs, num_outputs;
  int32_t num_stored, num_variants;
  const char *name;
  const char *info; /* JSON */
  const attn_dim_info *dims;
  const attn_tensor_info *inputs, *outputs;
  const attn_stored_weight *stored;
  const attn_variant *variants; /* best first is not required: first named
                                   first, and the order of choice */
  uint64_t file_size;           /* of the weights file */
  const void *embedded;         /* the weights file, or NULL */
  uint8_t layout[32];
} attn_descriptor;

#endif /* ATTN_C_DESCRIPTOR_H */
