//===- TestModel.h - a model without a compiler -----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A descriptor as the object writer would emit it, for the model
// y[batch, 3] = x[batch, 3] + w[3], and the weights file that goes with it. y
// may be the memory of x. The driver is C++, so that a test sees what the
// run-time hands to it.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_UNITTESTS_RUNTIME_TESTMODEL_H
#define ATTN_UNITTESTS_RUNTIME_TESTMODEL_H

#include "attn-c/weights.h"
#include <cstring>
#include <string>
#include <vector>

extern "C" {
#include "Runtime.h"
attn_status attn_model_load(const void *weights, size_t size,
                            const attn_options *options, attn_model **model);
attn_status attn_model_load_file(const char *path, const attn_options *options,
                                 attn_model **model);
void attn_model_unload(attn_model *model);
attn_status attn_model_create(const attn_model *model,
                              const attn_options *options, attn_ctx **ctx);
void attn_model_destroy(attn_ctx *ctx);
attn_status attn_model_run(attn_ctx *ctx, const void *inputs,
                           const void *outputs, void *workspace,
                           size_t workspace_size);
attn_status attn_model_run_generic(attn_ctx *ctx, const int64_t *dims,
                                   const void *const *inputs,
                                   const int64_t *const *input_strides,
                                   void *const *outputs,
                                   const int64_t *const *output_strides);
int64_t attn_model_workspace_size(attn_ctx *ctx, const void *inputs);
int64_t attn_model_workspace_size_generic(attn_ctx *ctx, const int64_t *dims);
const char *attn_model_last_error(const attn_ctx *ctx);
const char *attn_model_target(const attn_model *model);
const char *attn_model_status_string(attn_status status);
void *halide_malloc(void *ctx, size_t size);
void halide_free(void *ctx, void *pointer);
int halide_do_par_for(void *ctx, int (*body)(void *, int, uint8_t *), int min,
                      int size, uint8_t *closure);
}

/// What the driver should do besides its work.
struct DriverBehaviour {
  int32_t result = 0;
  /// Called with the context before the work.
  int32_t (*before)(void *ctx) = nullptr;
  /// Strides that the driver got for x.
  int64_t strides[2] = {0, 0};
  /// Whether x and y were the same memory.
  bool inPlace = false;
  int calls = 0;
};
extern thread_local DriverBehaviour behaviour;

/// A weights file in memory whose first byte is aligned.
class WeightsFile {
public:
  WeightsFile();
  char *data() { return bytes; }
  size_t size() const;
  attn_weights_header &header() {
    return *reinterpret_cast<attn_weights_header *>(bytes);
  }
  attn_weights_entry &entry() {
    return *reinterpret_cast<attn_weights_entry *>(bytes +
                                                   sizeof(attn_weights_header));
  }

private:
  alignas(64) char bytes[256];
};

/// The typed structs that a header would declare.
struct Inputs {
  int64_t batch;
  struct {
    const float *data;
    int64_t stride[2];
  } x;
};
struct Outputs {
  struct {
    float *data;
    int64_t stride[2];
  } y;
};

#endif // ATTN_UNITTESTS_RUNTIME_TESTMODEL_H
