/*===- DeviceCuda.c - devices behind CUDA ------------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* As DeviceOpenCL.c: the driver library is loaded when a context is created,
 * and Halide's run-time is told which context and stream it uses. An own
 * context is the device's primary one, which other code of the process has as
 * well. */
#define _GNU_SOURCE
#include "Device.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Containers have the library under this name only. */
static const char library_name[] = "libcuda.so.1";

enum { NAME = 256 };

const void *halide_cuda_device_interface(void);

/* A function of the library, or NULL. */
static void *find(const attn_device *device, const char *name) {
  return dlsym(device->library, name);
}

#define CUDA_FUNCTION(device, variable, name, ...)                             \
  int32_t (*variable)(__VA_ARGS__) =                                           \
      (int32_t (*)(__VA_ARGS__))find(device, name)

/* CUdevice is a number; it is kept as a pointer that is one larger. */
static int32_t get_number(const attn_device *device) {
  return (int32_t)((intptr_t)device->id - 1);
}

/* The first device whose name holds `wanted`; all hold a null one. */
static bool choose(attn_device *device, const char *wanted, char *seen,
                   size_t size) {
  CUDA_FUNCTION(device, get_count, "cuDeviceGetCount", int32_t *);
  CUDA_FUNCTION(device, get, "cuDeviceGet", int32_t *, int32_t);
  CUDA_FUNCTION(device, get_name, "cuDeviceGetName", char *, int32_t, int32_t);
  int32_t count = 0;
  seen[0] = 0;
  if (!get_count || !get || !get_name || get_count(&count))
    return false;
  for (int32_t i = 0; i < count; ++i) {
    char name[NAME] = "";
    int32_t number = 0;
    if (get(&number, i))
      continue;
    get_name(name, NAME, number);
    device->id = (void *)(intptr_t)(number + 1);
    if (!wanted || strstr(name, wanted))
      return true;
    size_t used = strlen(seen);
    snprintf(seen + used, size - used, "%s%s", used ? ", " : "", name);
  }
  return false;
}

static void close_device(attn_device *device) {
  CUDA_FUNCTION(device, release, "cuDevicePrimaryCtxRelease_v2", int32_t);
  if (device->owned && device->context && release)
    release(get_number(device));
  dlclose(device->library);
}

static attn_status open_device(attn_device *device, const attn_options *options,
                               char *error, size_t error_size) {
  const char *wanted = options ? options->device : NULL;
  attn_status status = attn_rt_open_library(
      device, library_name, "the CUDA driver", error, error_size);
  if (status)
    return status;
  CUDA_FUNCTION(device, init, "cuInit", uint32_t);
  CUDA_FUNCTION(device, retain, "cuDevicePrimaryCtxRetain", void **, int32_t);
  char seen[ATTN_ERROR_TEXT / 2];
  int32_t code = init ? init(0) : -1;
  if (code) {
    status = attn_rt_fail(error, error_size, ATTN_ERROR_DEVICE,
                          "expected a CUDA driver with a device, got code %d "
                          "from cuInit",
                          code);
  } else if (!device->owned) {
    device->context = options->device_context;
  } else if (!choose(device, wanted, seen, sizeof seen)) {
    status =
        attn_rt_fail(error, error_size, ATTN_ERROR_DEVICE,
                     "expected a CUDA device%s%s%s, got %s",
                     wanted ? " whose name holds '" : "", wanted ? wanted : "",
                     wanted ? "'" : "", seen[0] ? seen : "no device");
  } else {
    code = retain ? retain(&device->context, get_number(device)) : -1;
    if (code)
      status = attn_rt_fail(error, error_size, ATTN_ERROR_DEVICE,
                            "expected a context of the CUDA device, got code "
                            "%d",
                            code);
  }
  if (status) {
    device->context = NULL;
    close_device(device);
  }
  return status;
}

/* Calls a function of a stream with the device's context current. */
static int32_t in_context(const attn_device *device, const char *name,
                          void *argument, uint32_t flags) {
  CUDA_FUNCTION(device, push, "cuCtxPushCurrent_v2", void *);
  CUDA_FUNCTION(device, pop, "cuCtxPopCurrent_v2", void **);
  CUDA_FUNCTION(device, function, name, void *, uint32_t);
  void *old = NULL;
  if (!push || !pop || !function)
    return -1;
  int32_t code = push(device->context);
  if (code)
    return code;
  code = function(argument, flags);
  pop(&old);
  return code;
}

static attn_status open_queue(attn_ctx *ctx, const attn_options *options,
                              char *error, size_t error_size) {
  attn_device_ctx *own = ctx->device;
  if (options && options->device_queue) {
    own->queue = options->device_queue;
    return ATTN_OK;
  }
  int32_t code = in_context(own->shared, "cuStreamCreate", &own->queue, 0);
  own->owns_queue = code == 0;
  if (code)
    return attn_rt_fail(error, error_size, ATTN_ERROR_DEVICE,
                        "expected a stream of the CUDA device, got code %d",
                        code);
  return ATTN_OK;
}

static void close_queue(attn_ctx *ctx) {
  attn_device_ctx *own = ctx->device;
  if (own->owns_queue)
    in_context(own->shared, "cuStreamDestroy_v2", own->queue, 0);
}

ATTN_DEVICE_API(attn_rt_cuda, halide_cuda_device_interface);

/* What Halide's run-time asks. */

int halide_cuda_acquire_context(void *user_context, void **context,
                                bool create);
int halide_cuda_acquire_context(void *user_context, void **context,
                                bool create) {
  attn_ctx *ctx = user_context;
  (void)create;
  *context = ctx && ctx->device && ctx->device->shared
                 ? ctx->device->shared->context
                 : NULL;
  return *context ? 0 : -1;
}

int halide_cuda_release_context(void *user_context);
int halide_cuda_release_context(void *user_context) {
  (void)user_context;
  return 0;
}

int halide_cuda_get_stream(void *user_context, void *context, void **stream);
int halide_cuda_get_stream(void *user_context, void *context, void **stream) {
  attn_ctx *ctx = user_context;
  (void)context;
  *stream = ctx && ctx->device ? ctx->device->queue : NULL;
  return 0;
}

/* Halide's run-time aborts where PTX does not load: it gives up a module that
 * it never kept. So it gets a module, whose functions are not found, with the
 * code of the failure: it is how far the module is behind the first one. */
static char not_loaded[1000];

static bool is_loaded(const char *module) {
  return module < not_loaded || module >= not_loaded + sizeof not_loaded;
}

/* The driver's own, once Halide has asked for them. */
enum { LOAD, UNLOAD, GET_FUNCTION, NUM_REPLACED };
static void *replaced[NUM_REPLACED];

/* Halide asks for at most 64 registers a thread, which makes kernels spill. 128
 * are what each thread of the largest block, 512, can have. */
static int32_t load_module(void **module, const void *image,
                           uint32_t num_options, const int32_t *options,
                           void **values) {
  int32_t (*load)(void **, const void *, uint32_t, const int32_t *, void **) =
      (int32_t (*)(void **, const void *, uint32_t, const int32_t *,
                   void **))replaced[LOAD];
  static const int32_t max_registers = 0; /* CU_JIT_MAX_REGISTERS */
  void *most = (void *)(uintptr_t)128;
  (void)num_options;
  (void)options;
  (void)values;
  int32_t code = load(module, image, 1, &max_registers, &most);
  bool is_known = code > 0 && code < (int32_t)sizeof not_loaded;
  if (code)
    *module = &not_loaded[is_known ? code : 0];
  return 0;
}

static int32_t unload_module(void *module) {
  int32_t (*unload)(void *) = (int32_t (*)(void *))replaced[UNLOAD];
  return is_loaded(module) ? unload(module) : 0;
}

static int32_t get_function(void **function, void *module, const char *name) {
  enum { UNKNOWN = 999 };
  int32_t (*get)(void **, void *, const char *) =
      (int32_t (*)(void **, void *, const char *))replaced[GET_FUNCTION];
  if (is_loaded(module))
    return get(function, module, name);
  int32_t code = (int32_t)((char *)module - not_loaded);
  return code ? code : UNKNOWN;
}

void *halide_cuda_get_symbol(void *user_context, const char *name);
void *halide_cuda_get_symbol(void *user_context, const char *name) {
  static const struct {
    const char *name;
    void *function;
  } own[NUM_REPLACED] = {{"cuModuleLoadDataEx", (void *)load_module},
                         {"cuModuleUnload", (void *)unload_module},
                         {"cuModuleGetFunction", (void *)get_function}};
  (void)user_context;
  void *found = attn_rt_get_symbol(library_name, name);
  for (int i = 0; found && i < NUM_REPLACED; ++i)
    if (!strcmp(name, own[i].name)) {
      replaced[i] = found;
      return own[i].function;
    }
  return found;
}

/* The driver would say that an argument is not allowed, and not which. */
ATTN_CHECK_LAUNCHES(cuda, INT32_MAX, "a device of CUDA takes no more")
