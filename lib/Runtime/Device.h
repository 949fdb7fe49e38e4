/*===- Device.h - memory and calls of a device -------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* A variant for a device runs the same driver as one for a CPU, on the same
 * host addresses. The driver names a tensor by its root (an input, an output, a
 * weight or the workspace) and its address in the host's memory; it lies as far
 * behind the start of the root in the device's memory. The driver says when a
 * tensor goes from one to the other. Objects without such a variant hold
 * nothing of this: all goes through attn_variant.device.
 *
 * Halide's run-time does the work: its C interface is declared here as far as
 * it is used. */
#ifndef ATTN_RUNTIME_DEVICE_H
#define ATTN_RUNTIME_DEVICE_H

#include "Tensors.h"

/* halide_dimension_t and halide_buffer_t. */
typedef struct attn_rt_dim {
  int32_t min, extent, stride;
  uint32_t flags;
} attn_rt_dim;

typedef struct attn_rt_buffer {
  uint64_t device;
  const void *device_interface;
  unsigned char *host;
  uint64_t flags;
  uint8_t type_code, type_bits;
  uint16_t type_lanes;
  int32_t dimensions;
  attn_rt_dim *dim;
  void *padding;
} attn_rt_buffer;

enum { HOST_DIRTY = 1, DEVICE_DIRTY = 2 }; /* flags */

int halide_device_malloc(void *user_context, attn_rt_buffer *buffer,
                         const void *device_interface);
int halide_device_free(void *user_context, attn_rt_buffer *buffer);
int halide_device_wrap_native(void *user_context, attn_rt_buffer *buffer,
                              uint64_t handle, const void *device_interface);
int halide_device_detach_native(void *user_context, attn_rt_buffer *buffer);
int halide_device_crop(void *user_context, const attn_rt_buffer *from,
                       attn_rt_buffer *to);
int halide_device_release_crop(void *user_context, attn_rt_buffer *buffer);
int halide_copy_to_device(void *user_context, attn_rt_buffer *buffer,
                          const void *device_interface);
int halide_copy_to_host(void *user_context, attn_rt_buffer *buffer);
int halide_device_sync(void *user_context, attn_rt_buffer *buffer);
int halide_buffer_copy(void *user_context, attn_rt_buffer *from,
                       const void *device_interface, attn_rt_buffer *to);
void halide_device_release(void *user_context, const void *device_interface);

/* A part of a region as kernels take it. */
typedef struct attn_view {
  struct attn_view *next;
  uint64_t offset;
  attn_rt_buffer buffer;
  attn_rt_dim dims[2];
} attn_view;

/* Memory of a device for that of the host from `base` on. */
typedef struct attn_region {
  uintptr_t base;
  struct attn_region *same; /* of an output in the memory of an input: that */
  uint64_t capacity;        /* of the device's memory */
  attn_rt_buffer memory;    /* bytes, in rows of at most 1 GiB */
  attn_rt_dim dims[2];
  attn_view *views;
  bool bound; /* the memory is the caller's: */
  void *handle;
  void *addresses; /* of a bound one, that nobody else has */
  size_t address_bytes;
} attn_region;

/* A device with a model's weights, shared by contexts. */
typedef struct attn_device {
  struct attn_device *next;
  void *library;
  void *context;      /* cl_context, CUcontext */
  void *id;           /* cl_device_id, CUdevice */
  bool owned;         /* the context is not the caller's */
  uint64_t alignment; /* of the start of a tensor, at least 1 */
  char *name;         /* options.device, or NULL */
  int32_t users;
  attn_region *weights; /* one a weight of the variant */
} attn_device;

/* What was copied so that it starts where a device can read it. */
enum { MAX_DETOURS = 32 };
typedef struct attn_detour {
  attn_region region;
  attn_region *original; /* of an output */
  uint64_t offset, bytes;
} attn_detour;

/* A context's part. */
typedef struct attn_device_ctx {
  attn_device *shared;
  void *queue; /* cl_command_queue, CUstream */
  bool owns_queue;
  bool reads_host; /* the queue may still read the host's memory */
  attn_region workspace;
  attn_region *tensors; /* inputs, then outputs */
  int32_t num_tensors;
  int32_t num_detours; /* of the current call */
  attn_detour detours[MAX_DETOURS];
} attn_device_ctx;

/* One programming interface: what attn_variant.device points to. */
struct attn_device_api {
  /* Device.c */
  attn_status (*attach)(attn_ctx *ctx, const attn_options *options, char *error,
                        size_t error_size);
  void (*detach)(attn_ctx *ctx);
  attn_status (*bind)(attn_ctx *ctx, int32_t tensor, void *memory);
  /* The caller's tensors and the driver's workspace of a run. */
  attn_status (*begin)(attn_ctx *ctx, const attn_rt_tensor *tensors,
                       void **data, void *workspace, int64_t bytes);
  /* After the driver, also one that failed. */
  attn_status (*end)(attn_ctx *ctx);
  void *(*bound_address)(attn_ctx *ctx, int32_t tensor, uint64_t bytes);
  /* Whether a context could be created without options. */
  bool (*is_there)(const attn_device_api *api);
  /* The interface's own file. */
  const void *(*get_interface)(void);
  attn_status (*open)(attn_device *device, const attn_options *options,
                      char *error, size_t error_size);
  void (*close)(attn_device *device);
  attn_status (*open_queue)(attn_ctx *ctx, const attn_options *options,
                            char *error, size_t error_size);
  void (*close_queue)(attn_ctx *ctx);
};

/* Defines an attn_device_api of Device.c's functions and those of a file. */
#define ATTN_DEVICE_API(symbol, get_interface)                                 \
  const attn_device_api symbol = {attn_rt_device_attach,                       \
                                  attn_rt_device_detach,                       \
                                  attn_rt_device_bind,                         \
                                  attn_rt_device_begin,                        \
                                  attn_rt_device_end,                          \
                                  attn_rt_bound_address,                       \
                                  attn_rt_device_is_there,                     \
                                  get_interface,                               \
                                  open_device,                                 \
                                  close_device,                                \
                                  open_queue,                                  \
                                  close_queue}

attn_status attn_rt_device_attach(attn_ctx *ctx, const attn_options *options,
                                  char *error, size_t error_size);
void attn_rt_device_detach(attn_ctx *ctx);
attn_status attn_rt_device_bind(attn_ctx *ctx, int32_t tensor, void *memory);
attn_status attn_rt_device_begin(attn_ctx *ctx, const attn_rt_tensor *tensors,
                                 void **data, void *workspace, int64_t bytes);
attn_status attn_rt_device_end(attn_ctx *ctx);
void *attn_rt_bound_address(attn_ctx *ctx, int32_t tensor, uint64_t bytes);
bool attn_rt_device_is_there(const attn_device_api *api);

/* Opens the library of an interface; where it is not there the text says that
 * `what` was expected, such as "an OpenCL library". */
attn_status attn_rt_open_library(attn_device *device, const char *name,
                                 const char *what, char *error,
                                 size_t error_size);
/* A function of a library that stays open: Halide keeps what it found. */
void *attn_rt_get_symbol(const char *library, const char *name);

enum { ATTN_MAX_BLOCKS = 65535 };
/* A text where a launch has more blocks than `max_x`, or in the other
 * dimensions than ATTN_MAX_BLOCKS. */
attn_status attn_rt_check_blocks(attn_ctx *ctx, int max_x, int x, int y, int z,
                                 const char *reason);

/* Halide's function that launches a kernel of an interface, with that check
 * before it: the object writer calls Halide's own attn_rt_run_<interface>. */
#define ATTN_LAUNCH                                                            \
  void *user_context, void *state, const char *name, int blocks_x,             \
      int blocks_y, int blocks_z, int threads_x, int threads_y, int threads_z, \
      int shared_bytes, size_t *sizes, void **arguments, int8_t *are_buffers
#define ATTN_CHECK_LAUNCHES(interface, max_x, reason)                          \
  int attn_rt_run_##interface(ATTN_LAUNCH);                                    \
  int halide_##interface##_run(ATTN_LAUNCH);                                   \
  int halide_##interface##_run(ATTN_LAUNCH) {                                  \
    attn_status status = attn_rt_check_blocks(user_context, max_x, blocks_x,   \
                                              blocks_y, blocks_z, reason);     \
    return status                                                              \
               ? (int)status                                                   \
               : attn_rt_run_##interface(user_context, state, name, blocks_x,  \
                                         blocks_y, blocks_z, threads_x,        \
                                         threads_y, threads_z, shared_bytes,   \
                                         sizes, arguments, are_buffers);       \
  }

/* Regions.c: all return 0 or an attn_status with a text in the context. */
attn_status attn_rt_region_reserve(attn_ctx *ctx, attn_region *region,
                                   uint64_t bytes, const char *what);
/* Takes memory of the caller's, by the interface's own handle. */
attn_status attn_rt_region_wrap(attn_ctx *ctx, attn_region *region,
                                void *handle);
void attn_rt_region_release(attn_ctx *ctx, attn_region *region);
/* The memory from `offset` on; NULL with a text. */
attn_view *attn_rt_region_view(attn_ctx *ctx, attn_region *region,
                               uint64_t offset, attn_status *status);
/* A copy to the host is complete; one to the device is on its way. */
attn_status attn_rt_region_copy(attn_ctx *ctx, attn_region *region,
                                uint64_t offset, uint64_t bytes, void *host,
                                bool to_device);
attn_status attn_rt_region_move(attn_ctx *ctx, attn_region *from,
                                uint64_t from_offset, attn_region *to,
                                uint64_t to_offset, uint64_t bytes);
/* Waits for all that the context gave to its queue. */
attn_status attn_rt_device_wait(attn_ctx *ctx);

/* DeviceCalls.c: called by generated drivers. A root is the number of an input,
 * behind them of an output, and behind those of a weight. */
enum { WORKSPACE = -1 };
enum { ALWAYS = 0, UNLESS_BOUND = 1, IF_BOUND = 2 }; /* when */
int32_t attn_rt_transfer(void *ctx, int32_t root, void *address, int64_t bytes,
                         int32_t to_device, int32_t when);
int32_t attn_rt_device_operand(void *ctx, int32_t root, void *buffer,
                               int32_t is_output);
int32_t attn_rt_device_done(void *ctx);
int32_t attn_rt_device_copy(void *ctx, int32_t from_root, void *from,
                            int32_t to_root, void *to);

#endif /* ATTN_RUNTIME_DEVICE_H */
