/*===- DeviceVulkan.c - devices behind Vulkan --------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* Halide's run-time has one Vulkan context a program, with an allocator of its
 * own, so a device is neither chosen nor given here. It aborts where there is
 * no driver, and takes a context that it could not open for an open one the
 * next time: whether there is a device is looked at before. */
#define _GNU_SOURCE
#include "Device.h"
#include <dlfcn.h>

/* As vulkan/vulkan_core.h has them. */
typedef struct application_info {
  int32_t type;
  const void *next;
  const char *name;
  uint32_t version;
  const char *engine;
  uint32_t engine_version, api_version;
} application_info;

typedef struct instance_info {
  int32_t type;
  const void *next;
  uint32_t flags;
  const application_info *application;
  uint32_t num_layers;
  const char *const *layers;
  uint32_t num_extensions;
  const char *const *extensions;
} instance_info;

enum { APPLICATION_INFO = 0, INSTANCE_CREATE_INFO = 1, INCOMPLETE = 5 };

const void *halide_vulkan_device_interface(void);
int halide_vulkan_acquire_context(void *user_context, void **allocator,
                                  void **instance, void **device,
                                  void **physical_device, void **queue,
                                  uint32_t *queue_family, void **messenger,
                                  bool create);
int halide_vulkan_release_context(void *user_context, void *instance,
                                  void *device, void *queue, void *messenger);

static void close_device(attn_device *device) { dlclose(device->library); }

/* How many devices there are for what Halide asks of an instance, or the code
 * of what failed, which is below 0. */
static int32_t count_devices(const attn_device *device) {
  int32_t (*create)(const instance_info *, const void *, void **) =
      (int32_t (*)(const instance_info *, const void *, void **))dlsym(
          device->library, "vkCreateInstance");
  int32_t (*enumerate)(void *, uint32_t *, void **) =
      (int32_t (*)(void *, uint32_t *, void **))dlsym(
          device->library, "vkEnumeratePhysicalDevices");
  void (*destroy)(void *, const void *) = (void (*)(void *, const void *))dlsym(
      device->library, "vkDestroyInstance");
  if (!create || !enumerate || !destroy)
    return -1;
  static const char *const extensions[] = {
      "VK_KHR_get_physical_device_properties2"};
  application_info application = {APPLICATION_INFO,
                                  NULL,
                                  "model",
                                  0,
                                  NULL,
                                  0,
                                  (uint32_t)1 << 22 | 3u << 12}; /* 1.3 */
  instance_info info = {
      INSTANCE_CREATE_INFO, NULL, 0, &application, 0, NULL, 1, extensions};
  void *instance = NULL;
  int32_t code = create(&info, NULL, &instance);
  if (code)
    return code < 0 ? code : -1;
  uint32_t count = 0;
  code = enumerate(instance, &count, NULL);
  destroy(instance, NULL);
  return code && code != INCOMPLETE ? -1 : (int32_t)count;
}

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
  int32_t count = count_devices(device);
  if (count <= 0) {
    close_device(device);
    return count == 0
               ? attn_rt_fail(error, error_size, ATTN_ERROR_DEVICE,
                              "expected a Vulkan device, got drivers without "
                              "any")
               : attn_rt_fail(error, error_size, ATTN_ERROR_DEVICE,
                              "expected a Vulkan driver with "
                              "VK_KHR_get_physical_device_properties2, got "
                              "code %d",
                              count);
  }
  device->context = device; /* Halide's, to be released */
  return ATTN_OK;
}

/* Halide's allocator tells errors to itself in place of a context: only these
 * are ones. A context that is open is linked by its `queue`. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static attn_ctx *contexts;

void halide_error(void *user_context, const char *message);
/* What the object writer makes of halide_error in Halide's run-time. */
void halide_vulkan_error(void *user_context, const char *message);
void halide_vulkan_error(void *user_context, const char *message) {
  pthread_mutex_lock(&lock);
  attn_ctx *ctx = contexts;
  while (ctx && ctx != user_context)
    ctx = ctx->device->queue;
  pthread_mutex_unlock(&lock);
  if (ctx)
    halide_error(ctx, message);
}

static void close_queue(attn_ctx *ctx) {
  pthread_mutex_lock(&lock);
  attn_ctx **link = &contexts;
  while (*link && *link != ctx)
    link = (attn_ctx **)&(*link)->device->queue;
  if (*link)
    *link = ctx->device->queue;
  pthread_mutex_unlock(&lock);
}

static attn_status open_queue(attn_ctx *ctx, const attn_options *options,
                              char *error, size_t error_size) {
  static bool failed = false; /* devices are opened one at a time */
  void *allocator, *instance, *device, *physical_device, *queue, *messenger;
  uint32_t family;
  (void)options;
  pthread_mutex_lock(&lock);
  ctx->device->queue = contexts;
  contexts = ctx;
  pthread_mutex_unlock(&lock);
  int code = -1;
  if (!failed) {
    code = halide_vulkan_acquire_context(ctx, &allocator, &instance, &device,
                                         &physical_device, &queue, &family,
                                         &messenger, true);
    if (!code)
      halide_vulkan_release_context(ctx, instance, device, queue, messenger);
  }
  failed = code != 0;
  /* Halide's text, if it has one, comes first. */
  if (failed && !ctx->error[0])
    attn_rt_fail(error, error_size, ATTN_ERROR_DEVICE,
                 "expected a Vulkan device with compute queues and 8-bit "
                 "storage, got one that was not opened before");
  return failed ? ATTN_ERROR_DEVICE : ATTN_OK;
}

ATTN_DEVICE_API(attn_rt_vulkan, halide_vulkan_device_interface);

/* What a device of Vulkan does that is given more is not defined. */
ATTN_CHECK_LAUNCHES(vulkan, ATTN_MAX_BLOCKS,
                    "a device of Vulkan may take no more")
