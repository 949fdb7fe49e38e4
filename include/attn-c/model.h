/*===- model.h - the C API of any compiled model -----------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* Every compiled model NAME comes with a header NAME.h of its own, whose types
 * and functions carry its name; a program that links models includes those and
 * never this file. This file has the same API under the neutral prefix attn_,
 * for tools that look functions up by name (`NAME_load`, `NAME_run_generic`,
 * ...) and for the run-time itself. It is the source of the others: the header
 * writer takes all between the braces of extern "C", turns attn_, ATTN_ and
 * NAME_ into the model's name, and each type of a function, `typedef ...
 * (*attn_..._fn)`, into its declaration. A comment is read in both.
 *
 * A model (`attn_model`) is immutable after it was loaded and may be shared by
 * threads. A context (`attn_ctx`) runs one call at a time; contexts of one
 * model may run side by side. Nothing is global: two models in one program, or
 * two versions of one, do not know of each other. No function aborts. */
#ifndef ATTN_C_MODEL_H
#define ATTN_C_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a function answers. The text is in NAME_last_error, or for load and
 * create in options.error. */
typedef enum attn_status {
  ATTN_OK = 0,
  ATTN_ERROR_ARGUMENT = 1,  /* a null pointer or a stride that is not allowed */
  ATTN_ERROR_SHAPE = 2,     /* a dimension outside its range */
  ATTN_ERROR_WORKSPACE = 3, /* the caller's workspace is too small */
  ATTN_ERROR_FILE = 4,      /* the weights file cannot be opened or mapped */
  ATTN_ERROR_WEIGHTS = 5,   /* not the weights of this model, or damaged */
  ATTN_ERROR_CPU = 6,       /* no compiled variant runs on this CPU */
  ATTN_ERROR_MEMORY = 7,    /* an allocation failed */
  ATTN_ERROR_THREADS = 8,   /* a thread could not be started */
  ATTN_ERROR_VALUE = 9,     /* an input holds a value outside its range */
  ATTN_ERROR_INTERNAL = 10, /* a kernel failed: a fault of the compiler */
  ATTN_ERROR_DEVICE = 11    /* there is no such device, or it failed */
} attn_status;

typedef struct attn_model attn_model; /* immutable, shared by threads */
typedef struct attn_ctx attn_ctx;     /* one run at a time */

/* Options of load and create. All zero (or a null pointer) means the default.
 */
typedef struct attn_options {
  /* create: threads that work on a run, the caller's among them. 0 and 1: the
   * caller's alone. They belong to the context and end with it. */
  int32_t num_threads;
  int32_t reserved; /* 0 */
  /* create: runs task(argument, i) for 0 <= i < count, in any order and on any
   * threads, and returns 0, or what a task that failed returned. Takes the
   * place of num_threads. */
  int (*parallel_for)(void *user, int (*task)(void *argument, int index),
                      void *argument, int count);
  /* load and create: memory in place of malloc and free; both or none. The
   * alignment is a power of two. */
  void *(*allocate)(void *user, size_t size, size_t alignment);
  void (*deallocate)(void *user, void *pointer);
  void *user; /* passed to the three functions above */
  /* load: the variant to use, e.g. "x86-64-v2", instead of the first one that
   * this CPU can run. */
  const char *target;
  /* load and create: where the text of a failure goes; they have no handle to
   * ask afterwards. */
  char *error;
  size_t error_size;
  /* create, of a variant for a device: a part of the name of the device or of
   * its platform; the first one if it is null. */
  const char *device;
  /* create, of a variant for a device: a cl_context or CUcontext of the
   * caller's to use, and a cl_command_queue or CUstream in it; null for own
   * ones. They must outlive the context. */
  void *device_context;
  void *device_queue;
} attn_options;

/* NAME_load: weights in memory in the format of the weights file, aligned to
 * 64 bytes, which stay in place until unload; a null pointer for weights that
 * were embedded, or for a model without any. */
typedef attn_status (*attn_load_fn)(const void *weights, size_t size,
                                    const attn_options *options,
                                    attn_model **model);
/* NAME_load_file: the same from a file, which is mapped. */
typedef attn_status (*attn_load_file_fn)(const char *path,
                                         const attn_options *options,
                                         attn_model **model);
/* NAME_unload: after all of its contexts were destroyed. NULL is allowed. */
typedef void (*attn_unload_fn)(attn_model *model);
/* NAME_create, NAME_destroy. */
typedef attn_status (*attn_create_fn)(const attn_model *model,
                                      const attn_options *options,
                                      attn_ctx **ctx);
typedef void (*attn_destroy_fn)(attn_ctx *ctx);
/* NAME_run_generic: a run without types, for tools. `dims` in the order of
 * NAME_info; one pointer an input and an output. Strides count elements; a null
 * pointer, for all or for one, and strides that are all zero mean dense in
 * row-major order. The context allocates the workspace and keeps it. */
typedef attn_status (*attn_run_generic_fn)(
    attn_ctx *ctx, const int64_t *dims, const void *const *inputs,
    const int64_t *const *input_strides, void *const *outputs,
    const int64_t *const *output_strides);
/* NAME_workspace_size_generic: bytes that a run with these dims needs, or -1
 * with a text in NAME_last_error. */
typedef int64_t (*attn_workspace_size_generic_fn)(attn_ctx *ctx,
                                                  const int64_t *dims);
/* NAME_bind_device: from here on the input or output of that name is memory of
 * the caller's on the context's device, a cl_mem or CUdeviceptr with a dense
 * tensor, which is neither uploaded nor downloaded; its pointer in a run is
 * ignored and may be null. NULL for memory ends that. */
typedef attn_status (*attn_bind_device_fn)(attn_ctx *ctx, const char *tensor,
                                           void *memory);
/* NAME_last_error: the text of the last failure of this context, else "". */
typedef const char *(*attn_last_error_fn)(const attn_ctx *ctx);
/* NAME_status_string: what a status means, never NULL. */
typedef const char *(*attn_status_string_fn)(attn_status status);
/* NAME_target: the variant that was chosen at load, e.g. "x86-64-v3". */
typedef const char *(*attn_target_fn)(const attn_model *model);
/* NAME_info: names, types and sizes as JSON. */
typedef const char *(*attn_info_fn)(void);

#ifdef __cplusplus
}
#endif
#endif /* ATTN_C_MODEL_H */
