/*===- DeviceVulkan.c - devices behind Vulkan --------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* Halide's run-time has one Vulkan context a program, with an allocator of its
 * own, so a device is neither chosen nor given here. */
#define _GNU_SOURCE
#include "Device.h"
#include <dlfcn.h>

const void *halide_vulkan_device_interface(void);

static void close_device(attn_device *device) { dlclose(device->library); }

static attn_status open_device(attn_device *device, const attn_options *options,
                               char *error, size_t error_size) {
  if (options &&
      (options->device || options->device_context || options->device_queue))
    return attn_rt_fail(error, error_size, ATTN_ERROR_ARGUMENT,
                        "expected no options.device, device_context or "
                        "device_queue (because Vulkan's first device is used), "
                        "got one of them");
  attn_status status = attn_rt_open_library(
      device, "libvulkan.so.1", "a Vulkan library", error, error_size);
  if (status)
    return status;
  device->context = device; /* Halide's, to be released */
  return ATTN_OK;
}

static attn_status open_queue(attn_ctx *ctx, const attn_options *options,
                              char *error, size_t error_size) {
  (void)ctx;
  (void)options;
  (void)error;
  (void)error_size;
  return ATTN_OK;
}

static void close_queue(attn_ctx *ctx) { (void)ctx; }

ATTN_DEVICE_API(attn_rt_vulkan, halide_vulkan_device_interface);

/* What the object writer makes of halide_vulkan_run. */
int attn_rt_run_vulkan(void *user_context, void *state, const char *name,
                       int blocks_x, int blocks_y, int blocks_z, int threads_x,
                       int threads_y, int threads_z, int shared_bytes,
                       size_t *sizes, void **arguments, int8_t *are_buffers);

/* A device of Vulkan need not take more blocks than this in a dimension; what
 * one does that is given more is not defined. */
enum { MAX_BLOCKS = 65535 };

int halide_vulkan_run(void *user_context, void *state, const char *name,
                      int blocks_x, int blocks_y, int blocks_z, int threads_x,
                      int threads_y, int threads_z, int shared_bytes,
                      size_t *sizes, void **arguments, int8_t *are_buffers);
int halide_vulkan_run(void *user_context, void *state, const char *name,
                      int blocks_x, int blocks_y, int blocks_z, int threads_x,
                      int threads_y, int threads_z, int shared_bytes,
                      size_t *sizes, void **arguments, int8_t *are_buffers) {
  if (blocks_x > MAX_BLOCKS || blocks_y > MAX_BLOCKS || blocks_z > MAX_BLOCKS)
    return attn_rt_ctx_fail(
        user_context, ATTN_ERROR_DEVICE,
        "expected at most %d blocks of threads in a dimension (because not "
        "each device of Vulkan takes more), got %d x %d x %d: run fewer rows "
        "at a time",
        MAX_BLOCKS, blocks_x, blocks_y, blocks_z);
  return attn_rt_run_vulkan(user_context, state, name, blocks_x, blocks_y,
                            blocks_z, threads_x, threads_y, threads_z,
                            shared_bytes, sizes, arguments, are_buffers);
}
