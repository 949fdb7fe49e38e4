/*===- Regions.c - memory of a device ----------------------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* Halide counts elements of a dimension in 32 bits, so a region is rows of
 * bytes: an offset is a row and a column. */
#include "Device.h"
#include <inttypes.h>
#include <string.h>

static const uint64_t row_bytes = (uint64_t)1 << 30;

static const void *interface_of(attn_ctx *ctx) {
  return ctx->model->variant->device->get_interface();
}

/* Bytes in two dimensions, without memory. */
static void describe(attn_rt_buffer *buffer, attn_rt_dim dims[2],
                     uint64_t bytes) {
  memset(buffer, 0, sizeof *buffer);
  memset(dims, 0, 2 * sizeof *dims);
  buffer->type_code = 1; /* unsigned */
  buffer->type_bits = 8;
  buffer->type_lanes = 1;
  buffer->dimensions = 2;
  buffer->dim = dims;
  dims[0].extent = (int32_t)(bytes < row_bytes ? bytes : row_bytes);
  dims[0].stride = 1;
  dims[1].extent = (int32_t)((bytes + row_bytes - 1) / row_bytes);
  dims[1].stride = (int32_t)row_bytes;
}

/* Drops Halide's text, which does not say what the memory was for. */
static void drop_text(attn_ctx *ctx, char *text, size_t size) {
  pthread_mutex_lock(&ctx->lock);
  strncpy(text, ctx->error, size - 1);
  text[size - 1] = 0;
  ctx->error[0] = 0;
  pthread_mutex_unlock(&ctx->lock);
}

static void release_views(attn_ctx *ctx, attn_region *region) {
  while (region->views) {
    attn_view *view = region->views;
    region->views = view->next;
    halide_device_release_crop(ctx, &view->buffer);
    attn_rt_deallocate(&ctx->memory, view);
  }
}

void attn_rt_region_release(attn_ctx *ctx, attn_region *region) {
  release_views(ctx, region);
  if (region->memory.device) {
    if (region->bound)
      halide_device_detach_native(ctx, &region->memory);
    else
      halide_device_free(ctx, &region->memory);
  }
  region->memory.device = 0;
  region->capacity = 0;
  region->bound = false;
}

attn_status attn_rt_region_reserve(attn_ctx *ctx, attn_region *region,
                                   uint64_t bytes, const char *what) {
  if (region->memory.device && region->capacity >= bytes)
    return ATTN_OK;
  attn_rt_region_release(ctx, region);
  if (bytes == 0)
    bytes = 1;
  if (bytes > row_bytes)
    bytes = (bytes + row_bytes - 1) / row_bytes * row_bytes;
  describe(&region->memory, region->dims, bytes);
  int code =
      bytes / row_bytes > INT32_MAX
          ? -1
          : halide_device_malloc(ctx, &region->memory, interface_of(ctx));
  if (code) {
    char text[ATTN_ERROR_TEXT / 2];
    drop_text(ctx, text, sizeof text);
    region->memory.device = 0;
    return attn_rt_ctx_fail(ctx, ATTN_ERROR_MEMORY,
                            "the device has no %" PRIu64 " bytes for %s: %s",
                            bytes, what, text);
  }
  region->capacity = bytes;
  return ATTN_OK;
}

attn_status attn_rt_region_wrap(attn_ctx *ctx, attn_region *region,
                                void *handle) {
  describe(&region->memory, region->dims, 1);
  if (halide_device_wrap_native(ctx, &region->memory,
                                (uint64_t)(uintptr_t)handle, interface_of(ctx)))
    return ATTN_ERROR_DEVICE;
  region->bound = true;
  region->handle = handle;
  return ATTN_OK;
}

attn_view *attn_rt_region_view(attn_ctx *ctx, attn_region *region,
                               uint64_t offset, attn_status *status) {
  for (attn_view *view = region->views; view; view = view->next)
    if (view->offset == offset)
      return view;
  attn_view *view = attn_rt_allocate(&ctx->memory, sizeof *view);
  if (!view) {
    *status = attn_rt_ctx_fail(
        ctx, ATTN_ERROR_MEMORY,
        "out of memory: a view of a tensor needs %zu bytes", sizeof *view);
    return NULL;
  }
  describe(&view->buffer, view->dims, 1);
  view->offset = offset;
  view->dims[0].min = (int32_t)(offset % row_bytes);
  view->dims[1].min = (int32_t)(offset / row_bytes);
  view->dims[1].stride = (int32_t)row_bytes;
  if (halide_device_crop(ctx, &region->memory, &view->buffer)) {
    attn_rt_deallocate(&ctx->memory, view);
    *status = ATTN_ERROR_DEVICE;
    return NULL;
  }
  view->next = region->views;
  region->views = view;
  return view;
}

/* A row of `bytes` bytes of a region as a buffer of its own. */
static attn_status get_row(attn_ctx *ctx, attn_region *region, uint64_t offset,
                           uint64_t bytes, attn_rt_buffer *buffer,
                           attn_rt_dim *dim) {
  attn_status status;
  attn_view *view = attn_rt_region_view(ctx, region, offset, &status);
  if (!view)
    return status;
  *buffer = view->buffer;
  buffer->dimensions = 1;
  buffer->dim = dim;
  buffer->flags = 0;
  memset(dim, 0, sizeof *dim);
  dim->extent = (int32_t)bytes;
  dim->stride = 1;
  return ATTN_OK;
}

attn_status attn_rt_region_copy(attn_ctx *ctx, attn_region *region,
                                uint64_t offset, uint64_t bytes, void *host,
                                bool to_device) {
  for (uint64_t done = 0; done < bytes; done += row_bytes) {
    uint64_t part = bytes - done < row_bytes ? bytes - done : row_bytes;
    attn_rt_buffer buffer;
    attn_rt_dim dim;
    attn_status status =
        get_row(ctx, region, offset + done, part, &buffer, &dim);
    if (status)
      return status;
    buffer.host = (unsigned char *)host + done;
    buffer.flags = to_device ? HOST_DIRTY : DEVICE_DIRTY;
    if (to_device ? halide_copy_to_device(ctx, &buffer, interface_of(ctx))
                  : halide_copy_to_host(ctx, &buffer))
      return ATTN_ERROR_DEVICE;
  }
  /* Memory of the host that is pinned is copied when the queue comes to it. */
  if (!to_device)
    return attn_rt_device_wait(ctx);
  ctx->device->reads_host = true;
  return ATTN_OK;
}

attn_status attn_rt_device_wait(attn_ctx *ctx) {
  ctx->device->reads_host = false;
  return halide_device_sync(ctx, &ctx->device->workspace.memory)
             ? ATTN_ERROR_DEVICE
             : ATTN_OK;
}

attn_status attn_rt_region_move(attn_ctx *ctx, attn_region *from,
                                uint64_t from_offset, attn_region *to,
                                uint64_t to_offset, uint64_t bytes) {
  for (uint64_t done = 0; done < bytes; done += row_bytes) {
    uint64_t part = bytes - done < row_bytes ? bytes - done : row_bytes;
    attn_rt_buffer source, target;
    attn_rt_dim source_dim, target_dim;
    attn_status status =
        get_row(ctx, from, from_offset + done, part, &source, &source_dim);
    if (!status)
      status = get_row(ctx, to, to_offset + done, part, &target, &target_dim);
    if (status)
      return status;
    source.flags = DEVICE_DIRTY;
    if (halide_buffer_copy(ctx, &source, interface_of(ctx), &target))
      return ATTN_ERROR_DEVICE;
  }
  return ATTN_OK;
}
