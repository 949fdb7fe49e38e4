/*===- Device.c - a context's device -----------------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* Contexts of a model that name the same device share it and the weights on it:
 * those are uploaded by the first context and freed with the last. Everything
 * else that is on a device belongs to one context. */
#define _DEFAULT_SOURCE
#include "Device.h"
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>

/* Contexts come and go in several threads, also of models that were loaded
 * twice: what Halide's run-time prepares is global. */
static pthread_mutex_t device_lock = PTHREAD_MUTEX_INITIALIZER;

/* All else of a model is constant. */
static attn_model *mutable_model(attn_ctx *ctx) {
  return (attn_model *)(uintptr_t)ctx->model;
}

static bool is_same(const char *a, const char *b) {
  return a && b ? !strcmp(a, b) : a == b;
}

static void release_weights(attn_ctx *ctx, attn_device *device) {
  if (device->weights)
    for (int64_t i = 0; i < ctx->model->variant->num_weights; ++i)
      attn_rt_region_release(ctx, &device->weights[i]);
  attn_rt_deallocate(&ctx->model->memory, device->weights);
  device->weights = NULL;
}

/* All of them or none. */
static attn_status upload_weights(attn_ctx *ctx, attn_device *device) {
  const attn_model *model = ctx->model;
  int64_t count = model->variant->num_weights;
  device->weights =
      attn_rt_allocate(&model->memory, (size_t)count * sizeof(attn_region));
  if (!device->weights)
    return attn_rt_ctx_fail(ctx, ATTN_ERROR_MEMORY,
                            "out of memory: a table of weights needs %zu bytes",
                            (size_t)count * sizeof(attn_region));
  memset(device->weights, 0, (size_t)count * sizeof(attn_region));
  for (int64_t i = 0; i < count; ++i) {
    attn_region *region = &device->weights[i];
    region->base = (uintptr_t)model->weights[i];
    uint64_t bytes = model->variant->weights[i].size;
    attn_status status = attn_rt_region_reserve(ctx, region, bytes, "weights");
    if (!status)
      status = attn_rt_region_copy(ctx, region, 0, bytes,
                                   (void *)(uintptr_t)model->weights[i], true);
    if (status) {
      release_weights(ctx, device);
      return status;
    }
  }
  /* Other contexts have other queues. */
  attn_status status = attn_rt_device_wait(ctx);
  if (status)
    release_weights(ctx, device);
  return status;
}

/* Called by the last of its users, with the model locked. The queue is still
 * open: Halide's run-time waits for it. */
static void release_device(attn_ctx *ctx, attn_device *device) {
  attn_model *model = mutable_model(ctx);
  const attn_device_api *api = model->variant->device;
  for (attn_device **link = &model->devices; *link; link = &(*link)->next)
    if (*link == device) {
      *link = device->next;
      break;
    }
  release_weights(ctx, device);
  if (device->context)
    halide_device_release(ctx, api->get_interface());
  attn_rt_deallocate(&model->memory, device->name);
}

/* The device that the options name, opened if no other context has it. */
static attn_device *find_device(attn_ctx *ctx, const attn_options *options,
                                attn_status *status) {
  attn_model *model = mutable_model(ctx);
  const char *name = options ? options->device : NULL;
  void *context = options ? options->device_context : NULL;
  for (attn_device *device = model->devices; device; device = device->next)
    if (context ? !device->owned && device->context == context
                : device->owned && is_same(device->name, name))
      return device;
  attn_device *device = attn_rt_allocate(&model->memory, sizeof *device);
  char *copy = name ? attn_rt_allocate(&model->memory, strlen(name) + 1) : NULL;
  if (!device || (name && !copy)) {
    attn_rt_deallocate(&model->memory, device);
    attn_rt_deallocate(&model->memory, copy);
    *status = attn_rt_ctx_fail(ctx, ATTN_ERROR_MEMORY,
                               "out of memory: a device needs %zu bytes",
                               sizeof *device + (name ? strlen(name) + 1 : 0));
    return NULL;
  }
  memset(device, 0, sizeof *device);
  device->alignment = 1;
  device->owned = !context;
  device->name = name ? strcpy(copy, name) : NULL;
  *status = model->variant->device->open(device, options, ctx->error,
                                         sizeof ctx->error);
  if (*status) {
    attn_rt_deallocate(&model->memory, device->name);
    attn_rt_deallocate(&model->memory, device);
    return NULL;
  }
  device->next = model->devices;
  model->devices = device;
  return device;
}

attn_status attn_rt_open_library(attn_device *device, const char *name,
                                 const char *what, char *error,
                                 size_t error_size) {
  device->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (device->library)
    return ATTN_OK;
  return attn_rt_fail(error, error_size, ATTN_ERROR_DEVICE,
                      "expected %s (because this variant of the model runs on "
                      "a device), got: %s",
                      what, dlerror());
}

void *attn_rt_get_symbol(const char *library, const char *name) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  return handle ? dlsym(handle, name) : NULL;
}

/* The object writer makes this of the constructors of Halide's run-time. */
void attn_rt_run_constructors(void);

attn_status attn_rt_device_attach(attn_ctx *ctx, const attn_options *options,
                                  char *error, size_t error_size) {
  attn_model *model = mutable_model(ctx);
  const attn_descriptor *descriptor = model->descriptor;
  attn_status status = ATTN_OK;
  size_t count =
      (size_t)descriptor->num_inputs + (size_t)descriptor->num_outputs;
  attn_device_ctx *own = attn_rt_allocate(&ctx->memory, sizeof *own);
  attn_region *tensors =
      attn_rt_allocate(&ctx->memory, count * sizeof *tensors);
  if (!own || !tensors) {
    attn_rt_deallocate(&ctx->memory, own);
    attn_rt_deallocate(&ctx->memory, tensors);
    return attn_rt_fail(error, error_size, ATTN_ERROR_MEMORY,
                        "out of memory: a context of a device needs %zu bytes",
                        sizeof *own + count * sizeof *tensors);
  }
  memset(own, 0, sizeof *own);
  memset(tensors, 0, count * sizeof *tensors);
  own->tensors = tensors;
  own->num_tensors = (int32_t)count;
  ctx->device = own;
  static bool prepared = false;
  pthread_mutex_lock(&device_lock);
  if (!prepared)
    attn_rt_run_constructors();
  prepared = true;
  own->shared = find_device(ctx, options, &status);
  if (own->shared) {
    ++own->shared->users;
    status = model->variant->device->open_queue(ctx, options, ctx->error,
                                                sizeof ctx->error);
    /* Halide looks its functions up in the first call. */
    if (!status)
      status = attn_rt_region_reserve(ctx, &own->workspace, 1, "workspace");
    if (!status && !own->shared->weights)
      status = upload_weights(ctx, own->shared);
  }
  pthread_mutex_unlock(&device_lock);
  if (status)
    attn_rt_fail(error, error_size, status, "%s", ctx->error);
  return status;
}

void attn_rt_device_detach(attn_ctx *ctx) {
  attn_device_ctx *own = ctx->device;
  attn_model *model = mutable_model(ctx);
  if (!own)
    return;
  if (own->shared) {
    attn_rt_region_release(ctx, &own->workspace);
    for (int32_t i = 0; i < own->num_tensors; ++i) {
      attn_rt_region_release(ctx, &own->tensors[i]);
      if (own->tensors[i].addresses)
        munmap(own->tensors[i].addresses, own->tensors[i].address_bytes);
    }
    for (int32_t i = 0; i < MAX_DETOURS; ++i)
      attn_rt_region_release(ctx, &own->detours[i].region);
    pthread_mutex_lock(&device_lock);
    attn_device *last = --own->shared->users ? NULL : own->shared;
    if (last)
      release_device(ctx, last);
    model->variant->device->close_queue(ctx);
    if (last)
      model->variant->device->close(last);
    pthread_mutex_unlock(&device_lock);
    if (last)
      attn_rt_deallocate(&model->memory, last);
  }
  attn_rt_deallocate(&ctx->memory, own->tensors);
  attn_rt_deallocate(&ctx->memory, own);
  ctx->device = NULL;
}

bool attn_rt_device_is_there(const attn_device_api *api) {
  attn_device device;
  char error[ATTN_ERROR_TEXT];
  memset(&device, 0, sizeof device);
  device.owned = true;
  if (api->open(&device, NULL, error, sizeof error))
    return false;
  api->close(&device);
  return true;
}

attn_status attn_rt_device_bind(attn_ctx *ctx, int32_t tensor, void *memory) {
  attn_region *region = &ctx->device->tensors[tensor];
  attn_rt_region_release(ctx, region);
  return memory ? attn_rt_region_wrap(ctx, region, memory) : ATTN_OK;
}

void *attn_rt_bound_address(attn_ctx *ctx, int32_t tensor, uint64_t bytes) {
  attn_region *region = &ctx->device->tensors[tensor];
  const attn_descriptor *descriptor = ctx->model->descriptor;
  /* One memory has one address, by which a run sees that two tensors share it.
   */
  int32_t output = tensor - descriptor->num_inputs;
  int32_t input = output < 0 ? 0 : descriptor->outputs[output].in_place;
  if (input && ctx->device->tensors[input - 1].bound &&
      ctx->device->tensors[input - 1].handle == region->handle)
    return ctx->device->tensors[input - 1].addresses;
  if (region->addresses && region->address_bytes >= bytes)
    return region->addresses;
  if (region->addresses)
    munmap(region->addresses, region->address_bytes);
  region->address_bytes = bytes ? bytes : 1;
  region->addresses = mmap(NULL, region->address_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region->addresses == MAP_FAILED)
    region->addresses = NULL;
  return region->addresses;
}

attn_status attn_rt_device_begin(attn_ctx *ctx, const attn_rt_tensor *tensors,
                                 void **data, void *workspace, int64_t bytes) {
  attn_device_ctx *own = ctx->device;
  int32_t num_inputs = ctx->model->descriptor->num_inputs;
  attn_status status = attn_rt_region_reserve(ctx, &own->workspace,
                                              (uint64_t)bytes, "workspace");
  own->workspace.base = (uintptr_t)workspace;
  own->num_detours = 0;
  for (int32_t i = 0; i < own->num_tensors && !status; ++i) {
    const attn_rt_tensor *tensor = &tensors[i];
    attn_region *region = &own->tensors[i];
    region->base = (uintptr_t)data[i];
    region->same = NULL;
    if (i >= num_inputs && tensor->info->in_place &&
        data[i] == data[tensor->info->in_place - 1])
      region->same = &own->tensors[tensor->info->in_place - 1];
    else if (!region->bound && !tensor->empty)
      status = attn_rt_region_reserve(ctx, region, (uint64_t)tensor->bytes,
                                      tensor->info->name);
  }
  return status;
}

attn_status attn_rt_device_end(attn_ctx *ctx) {
  return ctx->device->reads_host ? attn_rt_device_wait(ctx) : ATTN_OK;
}
