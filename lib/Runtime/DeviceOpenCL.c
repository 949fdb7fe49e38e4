/*===- DeviceOpenCL.c - devices behind OpenCL --------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* The library is loaded when a context is created, so that an object links with
 * nothing and runs on machines without it. Halide's run-time compiles and
 * starts kernels; which context and queue it uses is answered here. */
#define _GNU_SOURCE
#include "Device.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char library_name[] = "libOpenCL.so.1";

/* As CL/cl.h of OpenCL 1.2 has them. */
enum {
  CL_DEVICE_NOT_FOUND = -1,
  CL_CONTEXT_DEVICES = 0x1081,
  CL_CONTEXT_NUM_DEVICES = 0x1083,
  CL_DEVICE_MEM_BASE_ADDR_ALIGN = 0x1019,
  CL_DEVICE_NAME = 0x102B,
  CL_PLATFORM_NAME = 0x0902,
  CL_PROGRAM_BUILD_LOG = 0x1183
};
#define CL_DEVICE_TYPE_ALL 0xFFFFFFFFu

enum { MAX_PLATFORMS = 16, MAX_DEVICES = 16, NAME = 256 };

const void *halide_opencl_device_interface(void);

/* A function of the library, or NULL. */
static void *find(const attn_device *device, const char *name) {
  return dlsym(device->library, name);
}

#define CL_FUNCTION(device, result, name, ...)                                 \
  result (*name)(__VA_ARGS__) = (result (*)(__VA_ARGS__))find(device, #name)

/* The first device whose name, or whose platform's name, holds `wanted`; all
 * hold a null one. Appends the names that it passes to `seen`. */
static void *choose(const attn_device *device, const char *wanted, char *seen,
                    size_t size) {
  CL_FUNCTION(device, int32_t, clGetPlatformIDs, uint32_t, void **, uint32_t *);
  CL_FUNCTION(device, int32_t, clGetPlatformInfo, void *, uint32_t, size_t,
              void *, size_t *);
  CL_FUNCTION(device, int32_t, clGetDeviceIDs, void *, uint64_t, uint32_t,
              void **, uint32_t *);
  CL_FUNCTION(device, int32_t, clGetDeviceInfo, void *, uint32_t, size_t,
              void *, size_t *);
  void *platforms[MAX_PLATFORMS], *ids[MAX_DEVICES];
  uint32_t num_platforms = 0;
  seen[0] = 0;
  if (!clGetPlatformIDs || !clGetPlatformInfo || !clGetDeviceIDs ||
      !clGetDeviceInfo ||
      clGetPlatformIDs(MAX_PLATFORMS, platforms, &num_platforms))
    return NULL;
  if (num_platforms > MAX_PLATFORMS)
    num_platforms = MAX_PLATFORMS;
  for (uint32_t p = 0; p < num_platforms; ++p) {
    char platform[NAME] = "";
    clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, NAME, platform, NULL);
    uint32_t num_devices = 0;
    if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_DEVICES, ids,
                       &num_devices))
      continue;
    if (num_devices > MAX_DEVICES)
      num_devices = MAX_DEVICES;
    for (uint32_t d = 0; d < num_devices; ++d) {
      char name[NAME] = "";
      clGetDeviceInfo(ids[d], CL_DEVICE_NAME, NAME, name, NULL);
      if (!wanted || strstr(name, wanted) || strstr(platform, wanted))
        return ids[d];
      size_t used = strlen(seen);
      snprintf(seen + used, size - used, "%s%s of %s", used ? ", " : "", name,
               platform);
    }
  }
  return NULL;
}

/* The only device of a caller's context. */
static void *device_of(const attn_device *device, void *context) {
  CL_FUNCTION(device, int32_t, clGetContextInfo, void *, uint32_t, size_t,
              void *, size_t *);
  uint32_t count = 0;
  void *id = NULL;
  if (!clGetContextInfo ||
      clGetContextInfo(context, CL_CONTEXT_NUM_DEVICES, sizeof count, &count,
                       NULL) ||
      count != 1 ||
      clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof id, &id, NULL))
    return NULL;
  return id;
}

static void close_device(attn_device *device) {
  CL_FUNCTION(device, int32_t, clReleaseContext, void *);
  if (device->owned && device->context && clReleaseContext)
    clReleaseContext(device->context);
  dlclose(device->library);
}

static attn_status open_device(attn_device *device, const attn_options *options,
                               char *error, size_t error_size) {
  const char *wanted = options ? options->device : NULL;
  attn_status status = attn_rt_open_library(
      device, library_name, "an OpenCL library", error, error_size);
  if (status)
    return status;
  CL_FUNCTION(device, void *, clCreateContext, const void *, uint32_t,
              void *const *, void *, void *, int32_t *);
  CL_FUNCTION(device, int32_t, clGetDeviceInfo, void *, uint32_t, size_t,
              void *, size_t *);
  char seen[ATTN_ERROR_TEXT / 2];
  int32_t code = 0;
  if (!device->owned) {
    device->context = options->device_context;
    device->id = device_of(device, device->context);
    if (!device->id)
      status = attn_rt_fail(error, error_size, ATTN_ERROR_DEVICE,
                            "expected a cl_context of one device in "
                            "options.device_context, got another one");
  } else {
    device->id = choose(device, wanted, seen, sizeof seen);
    if (!device->id)
      status = attn_rt_fail(error, error_size, ATTN_ERROR_DEVICE,
                            "expected an OpenCL device%s%s%s, got %s",
                            wanted ? " whose name holds '" : "",
                            wanted ? wanted : "", wanted ? "'" : "",
                            seen[0] ? seen : "no device of any platform");
    else if (!clCreateContext ||
             !(device->context =
                   clCreateContext(NULL, 1, &device->id, NULL, NULL, &code)))
      status = attn_rt_fail(error, error_size, ATTN_ERROR_DEVICE,
                            "expected a context of the OpenCL device, got "
                            "code %d",
                            code);
  }
  if (status) {
    close_device(device);
    return status;
  }
  uint32_t bits = 0;
  if (clGetDeviceInfo &&
      !clGetDeviceInfo(device->id, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits,
                       &bits, NULL))
    device->alignment = bits > 8 ? bits / 8 : 1;
  return ATTN_OK;
}

static attn_status open_queue(attn_ctx *ctx, const attn_options *options,
                              char *error, size_t error_size) {
  attn_device_ctx *own = ctx->device;
  if (options && options->device_queue) {
    own->queue = options->device_queue;
    return ATTN_OK;
  }
  CL_FUNCTION(own->shared, void *, clCreateCommandQueue, void *, void *,
              uint64_t, int32_t *);
  int32_t code = 0;
  if (clCreateCommandQueue)
    own->queue =
        clCreateCommandQueue(own->shared->context, own->shared->id, 0, &code);
  own->owns_queue = own->queue != NULL;
  if (!own->queue)
    return attn_rt_fail(error, error_size, ATTN_ERROR_DEVICE,
                        "expected a queue of the OpenCL device, got code %d",
                        code);
  return ATTN_OK;
}

static void close_queue(attn_ctx *ctx) {
  attn_device_ctx *own = ctx->device;
  CL_FUNCTION(own->shared, int32_t, clReleaseCommandQueue, void *);
  if (own->owns_queue && clReleaseCommandQueue)
    clReleaseCommandQueue(own->queue);
}

ATTN_DEVICE_API(attn_rt_opencl, halide_opencl_device_interface);

/* What Halide's run-time asks. */

int halide_acquire_cl_context(void *user_context, void **context, void **queue,
                              bool create);
int halide_acquire_cl_context(void *user_context, void **context, void **queue,
                              bool create) {
  attn_ctx *ctx = user_context;
  (void)create;
  if (!ctx || !ctx->device || !ctx->device->shared)
    return CL_DEVICE_NOT_FOUND;
  *context = ctx->device->shared->context;
  *queue = ctx->device->queue;
  return 0;
}

int halide_release_cl_context(void *user_context);
int halide_release_cl_context(void *user_context) {
  (void)user_context;
  return 0;
}

/* Asked under a lock before each call of clBuildProgram: whose it is. */
static attn_ctx *builder;
const char *halide_opencl_get_build_options(void *user_context);
const char *halide_opencl_get_build_options(void *user_context) {
  builder = user_context;
  return "";
}

/* Halide's run-time aborts where kernels do not compile: it gives up a program
 * that it never kept. So it is told that all went well: then no kernel of the
 * program can be had, which is an error. The text of this one comes first. */
static int32_t build_program(void *program, uint32_t num_devices,
                             void *const *devices, const char *options,
                             void *notify, void *user_data) {
  int32_t (*build)(void *, uint32_t, void *const *, const char *, void *,
                   void *) =
      (int32_t (*)(void *, uint32_t, void *const *, const char *, void *,
                   void *))attn_rt_get_symbol(library_name, "clBuildProgram");
  int32_t (*get_info)(void *, void *, uint32_t, size_t, void *, size_t *) =
      (int32_t (*)(void *, void *, uint32_t, size_t, void *, size_t *))
          attn_rt_get_symbol(library_name, "clGetProgramBuildInfo");
  char log[ATTN_ERROR_TEXT / 2] = "";
  int32_t code =
      build(program, num_devices, devices, options, notify, user_data);
  if (!code)
    return code;
  size_t size = 0;
  if (get_info &&
      !get_info(program, devices[0], CL_PROGRAM_BUILD_LOG, 0, NULL, &size)) {
    char *all = attn_rt_allocate(&builder->memory, size + 1);
    if (all &&
        !get_info(program, devices[0], CL_PROGRAM_BUILD_LOG, size, all, NULL)) {
      all[size] = 0;
      strncpy(log, all, sizeof log - 1);
    }
    attn_rt_deallocate(&builder->memory, all);
  }
  attn_rt_ctx_fail(builder, ATTN_ERROR_DEVICE,
                   "expected an OpenCL device that compiles the model's "
                   "kernels, got code %d: %s",
                   code, log);
  return 0;
}

void *halide_opencl_get_symbol(void *user_context, const char *name);
void *halide_opencl_get_symbol(void *user_context, const char *name) {
  (void)user_context;
  void *found = attn_rt_get_symbol(library_name, name);
  return found && !strcmp(name, "clBuildProgram") ? (void *)build_program
                                                  : found;
}
