/*===- DeviceCalls.c - what drivers of a device call -------------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
#include "Device.h"
#include <string.h>

attn_status attn_rt_check_blocks(attn_ctx *ctx, int max_x, int x, int y, int z,
                                 const char *reason) {
  if (x <= max_x && y <= ATTN_MAX_BLOCKS && z <= ATTN_MAX_BLOCKS)
    return ATTN_OK;
  return attn_rt_ctx_fail(ctx, ATTN_ERROR_DEVICE,
                          "expected at most %d x %d x %d blocks of threads "
                          "(because %s), got %d x %d x %d: run smaller batches",
                          max_x, ATTN_MAX_BLOCKS, ATTN_MAX_BLOCKS, reason, x, y,
                          z);
}

/* The memory of a tensor of the model, of the workspace or of a weight. */
static attn_region *get_region(attn_ctx *ctx, int32_t root) {
  attn_device_ctx *own = ctx->device;
  if (root == WORKSPACE)
    return &own->workspace;
  if (root >= own->num_tensors)
    return &own->shared->weights[root - own->num_tensors];
  attn_region *region = &own->tensors[root];
  return region->same ? region->same : region;
}

int32_t attn_rt_transfer(void *context, int32_t root, void *address,
                         int64_t bytes, int32_t to_device, int32_t when) {
  attn_ctx *ctx = context;
  attn_region *region = get_region(ctx, root);
  if (bytes <= 0)
    return ATTN_OK;
  if (when != ALWAYS && region->bound != (when == IF_BOUND))
    return ATTN_OK;
  return (int32_t)attn_rt_region_copy(ctx, region,
                                      (uintptr_t)address - region->base,
                                      (uint64_t)bytes, address, to_device != 0);
}

/* Bytes from the first element to the last one, 0 if there is none. */
static uint64_t span(const attn_rt_buffer *buffer) {
  uint64_t last = 0;
  for (int32_t i = 0; i < buffer->dimensions; ++i) {
    if (buffer->dim[i].extent == 0)
      return 0;
    last +=
        (uint64_t)(buffer->dim[i].extent - 1) * (uint64_t)buffer->dim[i].stride;
  }
  return (last + 1) * (buffer->type_bits / 8u);
}

static void place(attn_rt_buffer *buffer, const attn_view *view) {
  buffer->device = view->buffer.device;
  buffer->device_interface = view->buffer.device_interface;
  buffer->host = NULL;
}

/* Copies a tensor that starts where the device cannot read it to where it can.
 */
static int32_t take_detour(attn_ctx *ctx, attn_rt_buffer *buffer,
                           attn_region *region, uint64_t offset,
                           bool is_output) {
  attn_device_ctx *own = ctx->device;
  if (own->num_detours == MAX_DETOURS)
    return (int32_t)attn_rt_ctx_fail(
        ctx, ATTN_ERROR_INTERNAL,
        "a kernel has more tensors off the device's alignment than %d",
        MAX_DETOURS);
  attn_detour *detour = &own->detours[own->num_detours++];
  uint64_t bytes = span(buffer);
  detour->original = is_output ? region : NULL;
  detour->offset = offset;
  detour->bytes = bytes;
  attn_status status =
      attn_rt_region_reserve(ctx, &detour->region, bytes, "an aligned copy");
  /* An output's as well: what lies between its rows stays as it is. */
  if (!status)
    status =
        attn_rt_region_move(ctx, region, offset, &detour->region, 0, bytes);
  attn_view *view =
      status ? NULL : attn_rt_region_view(ctx, &detour->region, 0, &status);
  if (!view)
    return (int32_t)status;
  place(buffer, view);
  return ATTN_OK;
}

/* A tensor without elements needs a place all the same. */
static int32_t place_empty(attn_ctx *ctx, attn_rt_buffer *buffer) {
  attn_region *region = &ctx->device->workspace;
  attn_status status = attn_rt_region_reserve(ctx, region, 1, "workspace");
  attn_view *view =
      status ? NULL : attn_rt_region_view(ctx, region, 0, &status);
  if (!view)
    return (int32_t)status;
  place(buffer, view);
  return ATTN_OK;
}

int32_t attn_rt_device_operand(void *context, int32_t root, void *operand,
                               int32_t is_output) {
  attn_ctx *ctx = context;
  attn_rt_buffer *buffer = operand;
  if (!span(buffer))
    return place_empty(ctx, buffer);
  attn_region *region = get_region(ctx, root);
  uint64_t offset = (uintptr_t)buffer->host - region->base;
  if (offset % ctx->device->shared->alignment)
    return take_detour(ctx, buffer, region, offset, is_output != 0);
  attn_status status;
  attn_view *view = attn_rt_region_view(ctx, region, offset, &status);
  if (!view)
    return (int32_t)status;
  place(buffer, view);
  return ATTN_OK;
}

int32_t attn_rt_device_done(void *context) {
  attn_ctx *ctx = context;
  attn_device_ctx *own = ctx->device;
  /* Kernels that Halide compiles without assertions drop the codes of launches
   * that fail; the text is left. */
  attn_status status = ctx->error[0] ? ATTN_ERROR_DEVICE : ATTN_OK;
  for (int32_t i = 0; i < own->num_detours && !status; ++i) {
    attn_detour *detour = &own->detours[i];
    if (detour->original)
      status = attn_rt_region_move(ctx, &detour->region, 0, detour->original,
                                   detour->offset, detour->bytes);
  }
  own->num_detours = 0;
  return (int32_t)status;
}

/* The place of a tensor, aligned or not: for copies. */
static attn_status place_at(attn_ctx *ctx, int32_t root,
                            attn_rt_buffer *buffer) {
  attn_region *region = get_region(ctx, root);
  attn_status status;
  attn_view *view = attn_rt_region_view(
      ctx, region, (uintptr_t)buffer->host - region->base, &status);
  if (!view)
    return status;
  place(buffer, view);
  return ATTN_OK;
}

int32_t attn_rt_device_copy(void *context, int32_t from_root, void *from,
                            int32_t to_root, void *to) {
  attn_ctx *ctx = context;
  attn_rt_buffer *source = from, *target = to;
  if (!span(source))
    return ATTN_OK;
  attn_status status = place_at(ctx, from_root, source);
  if (!status)
    status = place_at(ctx, to_root, target);
  if (status)
    return (int32_t)status;
  source->flags = DEVICE_DIRTY;
  int code = halide_buffer_copy(
      ctx, source, ctx->model->variant->device->get_interface(), target);
  source->flags = target->flags = 0;
  return code ? ATTN_ERROR_DEVICE : ATTN_OK;
}
