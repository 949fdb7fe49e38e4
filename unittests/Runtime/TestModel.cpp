//===- TestModel.cpp - a model without a compiler ---------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TestModel.h"
#include "attn-c/cpu.h"

thread_local DriverBehaviour behaviour;

static int32_t runDriver(void *ctx, uint8_t *workspace, const int64_t *dims,
                         void *const *inputs,
                         const int64_t *const *inputStrides,
                         void *const *outputs,
                         const int64_t *const *outputStrides,
                         const void *const *weights) {
  ++behaviour.calls;
  memcpy(behaviour.strides, inputStrides[0], sizeof behaviour.strides);
  behaviour.inPlace = inputs[0] == outputs[0];
  if (behaviour.before)
    if (int32_t status = behaviour.before(ctx))
      return status;
  memset(workspace, 0xff, 64 * dims[0]);
  auto *x = static_cast<const float *>(inputs[0]);
  auto *y = static_cast<float *>(outputs[0]);
  auto *w = static_cast<const float *>(weights[0]);
  for (int64_t b = 0; b < dims[0]; ++b)
    for (int64_t i = 0; i < 3; ++i)
      y[b * outputStrides[0][0] + i] = x[b * inputStrides[0][0] + i] + w[i];
  return behaviour.result;
}

static int64_t getWorkspace(const int64_t *dims) {
  return dims[0] == 7 ? -1 : 64 * dims[0];
}

static const int64_t sizes[] = {-1, 3};
static const attn_dim_info dims[] = {{"batch", 0, 7}};
static const attn_tensor_info inputs[] = {{"x", ATTN_F32, 2, sizes, 1, 0}};
static const attn_tensor_info outputs[] = {{"y", ATTN_F32, 2, sizes, 0, 1}};
static const attn_stored_weight stored[] = {{"w", 192, 12}};
static const attn_variant_weight weights[] = {{0, 4, 0, 0, 0, 0, 12}};
static const attn_variant variants[] = {
    {"plain", 0, runDriver, getWorkspace, weights, 1, nullptr},
    {"impossible", ~uint64_t(0), runDriver, getWorkspace, weights, 1, nullptr}};

extern "C" const attn_descriptor attn_model_descriptor = {
    ATTN_DESCRIPTOR_VERSION,
    1,
    1,
    1,
    1,
    2,
    "test",
    "{}",
    dims,
    inputs,
    outputs,
    stored,
    variants,
    204,
    nullptr,
    {1, 2, 3}};

WeightsFile::WeightsFile() {
  memset(bytes, 0, sizeof bytes);
  memcpy(header().magic, ATTN_WEIGHTS_MAGIC, 8);
  header().version = ATTN_WEIGHTS_VERSION;
  header().header_size = sizeof(attn_weights_header);
  header().file_size = size();
  header().count = 1;
  header().table = sizeof(attn_weights_header);
  memcpy(header().layout, attn_model_descriptor.layout, 32);
  strcpy(header().model, "test");
  entry() = {192, 12};
  const float data[3] = {10, 20, 30};
  memcpy(bytes + 192, data, sizeof data);
}

size_t WeightsFile::size() const { return 204; }
