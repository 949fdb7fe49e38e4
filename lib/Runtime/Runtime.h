/*===- Runtime.h - the inside of a compiled model's run-time -----*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* The run-time is C99 over libc, libm and pthread. It is compiled to bitcode
 * for each target triple, merged into each model's object, and made internal
 * there but for the functions named attn_model_*, which get the model's name.
 * It has no mutable globals: everything hangs off a model or a context. */
#ifndef ATTN_RUNTIME_RUNTIME_H
#define ATTN_RUNTIME_RUNTIME_H

#include "attn-c/descriptor.h"
#include "attn-c/model.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { ATTN_ERROR_TEXT = 512 };

/* Emitted by the object writer. */
extern const attn_descriptor attn_model_descriptor;

/* Memory hooks, with malloc and free in place of null ones. */
typedef struct attn_memory {
  void *(*allocate)(void *user, size_t size, size_t alignment);
  void (*deallocate)(void *user, void *pointer);
  void *user;
} attn_memory;

struct attn_model {
  const attn_descriptor *descriptor;
  const attn_variant *variant;
  attn_memory memory;
  const unsigned char *base;   /* the weights file's bytes, or NULL */
  size_t mapped;               /* bytes to unmap, 0 if the caller owns them */
  const void **weights;        /* as the variant's driver wants them */
  void *repacked;              /* one block for all repacked weights, or NULL */
  struct attn_device *devices; /* in use by contexts (Device.c) */
};

typedef struct attn_pool attn_pool;
typedef struct attn_scratch attn_scratch;

struct attn_ctx {
  const attn_model *model;
  attn_memory memory;
  int (*parallel_for)(void *user, int (*task)(void *, int), void *, int);
  void *user;
  attn_pool *pool; /* NULL: serial */
  void *workspace; /* grown by runs without a caller's workspace */
  size_t workspace_size;
  pthread_mutex_t lock; /* of what follows: kernels run on any thread */
  attn_scratch *scratch;
  struct attn_device_ctx *device; /* NULL: the CPU */
  char error[ATTN_ERROR_TEXT];
};

/* Error.c: formats into a buffer, cut to its size, and returns the status. */
attn_status attn_rt_fail(char *buffer, size_t size, attn_status status,
                         const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same into a context, from any thread; the first text of a run stays. */
attn_status attn_rt_ctx_fail(attn_ctx *ctx, attn_status status,
                             const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Memory.c */
bool attn_rt_memory(const attn_options *options, attn_memory *memory);
void *attn_rt_allocate(const attn_memory *memory, size_t size);
void attn_rt_deallocate(const attn_memory *memory, void *pointer);

/* Cpu.c: bits of cpu.h that this CPU and the operating system offer. Bits that
 * the process must ask for are among them only if they are `wanted`. */
uint64_t attn_rt_cpu_features(uint64_t wanted);
/* Writes the names of the set bits, separated by commas. */
void attn_rt_cpu_names(uint64_t features, char *buffer, size_t size);
/* The variant called `target`, or the one that needs the most of what the CPU
 * has; NULL with a text. */
const attn_variant *attn_rt_choose_variant(const attn_descriptor *descriptor,
                                           const char *target,
                                           uint64_t features, char *error,
                                           size_t error_size,
                                           attn_status *status);

/* Matrix.c: what a thread does after the work of a kernel of that variant:
 * tiles that nobody uses are not saved when it is interrupted. */
void attn_rt_matrix_release(const attn_variant *variant);

/* WeightsFile.c: compares a weights file in memory with the descriptor. */
attn_status attn_rt_check_weights(const attn_descriptor *descriptor,
                                  const void *data, uint64_t size, char *error,
                                  size_t error_size);
/* Repack.c: the (n, k) matrix from panels of one width to another; 0 is not
 * packed. Columns past n are zero. */
void attn_rt_repack(const void *from, int64_t from_panel, void *to,
                    int64_t to_panel, int64_t n, int64_t k,
                    int64_t element_size);

/* Pool.c */
attn_status attn_rt_pool_create(const attn_memory *memory, int32_t threads,
                                attn_pool **pool);
void attn_rt_pool_destroy(const attn_memory *memory, attn_pool *pool);
/* Runs task(argument, i) for all i; nested calls run on the calling thread. */
int attn_rt_pool_run(attn_pool *pool, int (*task)(void *, int), void *argument,
                     int count);

/* Scratch.c: all blocks are free again; no kernel runs. */
void attn_rt_scratch_reset(attn_ctx *ctx);
void attn_rt_scratch_destroy(attn_ctx *ctx);

/* Run.c: checks dims, pointers and strides, then runs the variant's driver. A
 * null workspace: the context's own, which it keeps. */
attn_status attn_rt_run(attn_ctx *ctx, const int64_t *dims,
                        const void *const *inputs,
                        const int64_t *const *input_strides,
                        void *const *outputs,
                        const int64_t *const *output_strides, void *workspace,
                        size_t workspace_size);
/* Bytes that a run with these dims needs, or -1 with a text. */
int64_t attn_rt_workspace_size(attn_ctx *ctx, const int64_t *dims);

/* Copy.c: elements in row-major order of `sizes`; strides in elements. */
void attn_rt_copy(void *to, const int64_t *to_strides, const void *from,
                  const int64_t *from_strides, const int64_t *sizes, int rank,
                  size_t element_size);

/* Checks.c: called by generated drivers. `sizes` has `rank` entries. */
int32_t attn_rt_check_ids(void *ctx, const void *ids, int32_t is64,
                          int64_t limit, const char *name, int32_t rank,
                          const int64_t *sizes);
int32_t attn_rt_too_large(void *ctx, const char *kernel);

#endif /* ATTN_RUNTIME_RUNTIME_H */
