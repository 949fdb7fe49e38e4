/*===- Load.c - NAME_load, NAME_load_file, NAME_unload -----------*- C -*-===*\
|* Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                   *|
\*===----------------------------------------------------------------------===*/
/* Loading does everything that must happen once: it chooses the variant, checks
 * the weights and repacks those that the variant wants in another layout. What
 * it makes is never written again, so threads share it without locks. */
#define _POSIX_C_SOURCE 200809L
#include "Runtime.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

attn_status attn_model_load(const void *weights, size_t size,
                            const attn_options *options, attn_model **model);
attn_status attn_model_load_file(const char *path, const attn_options *options,
                                 attn_model **model);
void attn_model_unload(attn_model *model);
const char *attn_model_target(const attn_model *model);
const char *attn_model_info(void);

static bool is_repacked(const attn_variant_weight *weight) {
  return weight->from_panel != weight->to_panel;
}

static uint64_t align(uint64_t size) { return (size + 63) & ~(uint64_t)63; }

/* Fills model->weights. */
static attn_status place_weights(attn_model *model, char *error,
                                 size_t error_size) {
  const attn_descriptor *descriptor = model->descriptor;
  const attn_variant *variant = model->variant;
  uint64_t bytes = 0;
  for (int64_t i = 0; i < variant->num_weights; ++i)
    if (is_repacked(&variant->weights[i]))
      bytes += align(variant->weights[i].size);
  model->weights = attn_rt_allocate(
      &model->memory, (size_t)variant->num_weights * sizeof(void *));
  if (bytes)
    model->repacked = attn_rt_allocate(&model->memory, bytes);
  if (!model->weights || (bytes && !model->repacked))
    return attn_rt_fail(error, error_size, ATTN_ERROR_MEMORY,
                        "out of memory: repacking the weights of %s for %s "
                        "needs %" PRIu64 " bytes",
                        descriptor->name, variant->target, bytes);
  unsigned char *next = model->repacked;
  for (int64_t i = 0; i < variant->num_weights; ++i) {
    const attn_variant_weight *weight = &variant->weights[i];
    const unsigned char *stored =
        model->base + descriptor->stored[weight->stored].offset;
    model->weights[i] = stored;
    if (!is_repacked(weight))
      continue;
    attn_rt_repack(stored, weight->from_panel, next, weight->to_panel,
                   weight->n, weight->k, weight->element_size);
    model->weights[i] = next;
    next += align(weight->size);
  }
  return ATTN_OK;
}

/* `mapped`: the data are a mapping that belongs to the model from here on. */
static attn_status load(const void *weights, size_t size, bool mapped,
                        const attn_options *options, attn_model **result) {
  const attn_descriptor *descriptor = &attn_model_descriptor;
  char *error = options ? options->error : NULL;
  size_t error_size = options ? options->error_size : 0;
  attn_memory memory;
  attn_status status = ATTN_OK;
  attn_model *model = NULL;
  const attn_variant *variant = NULL;
  uint64_t wanted = 0;
  if (!attn_rt_memory(options, &memory)) {
    status = attn_rt_fail(error, error_size, ATTN_ERROR_ARGUMENT,
                          "expected options.allocate and options.deallocate "
                          "both or none, got one of them");
    goto failed;
  }
  if (descriptor->version != ATTN_DESCRIPTOR_VERSION) {
    status = attn_rt_fail(error, error_size, ATTN_ERROR_INTERNAL,
                          "expected descriptor version %d, got %d",
                          ATTN_DESCRIPTOR_VERSION, descriptor->version);
    goto failed;
  }
  for (int32_t i = 0; i < descriptor->num_variants; ++i)
    if (!options || !options->target ||
        !strcmp(options->target, descriptor->variants[i].target))
      wanted |= descriptor->variants[i].cpu_features;
  variant = attn_rt_choose_variant(descriptor, options ? options->target : NULL,
                                   attn_rt_cpu_features(wanted), error,
                                   error_size, &status);
  if (!variant)
    goto failed;
  if (!weights) {
    weights = descriptor->embedded;
    size = descriptor->file_size;
  }
  if (descriptor->num_stored) {
    if (!weights) {
      status = attn_rt_fail(error, error_size, ATTN_ERROR_ARGUMENT,
                            "expected the weights of %s (because they are not "
                            "embedded), got a null pointer",
                            descriptor->name);
      goto failed;
    }
    status =
        attn_rt_check_weights(descriptor, weights, size, error, error_size);
    if (status)
      goto failed;
  }
  model = attn_rt_allocate(&memory, sizeof *model);
  if (!model) {
    status =
        attn_rt_fail(error, error_size, ATTN_ERROR_MEMORY,
                     "out of memory: a model needs %zu bytes", sizeof *model);
    goto failed;
  }
  memset(model, 0, sizeof *model);
  model->descriptor = descriptor;
  model->variant = variant;
  model->memory = memory;
  model->base = weights;
  status = place_weights(model, error, error_size);
  if (status) {
    attn_model_unload(model);
    goto failed;
  }
  model->mapped = mapped ? size : 0;
  *result = model;
  return ATTN_OK;

failed:
  if (mapped)
    munmap((void *)(uintptr_t)weights, size);
  return status;
}

#define NEEDS_RESULT(result)                                                   \
  do {                                                                         \
    if (options && options->error && options->error_size)                      \
      options->error[0] = 0;                                                   \
    if (!(result))                                                             \
      return attn_rt_fail(options ? options->error : NULL,                     \
                          options ? options->error_size : 0,                   \
                          ATTN_ERROR_ARGUMENT,                                 \
                          "expected a place for the model, got a null "        \
                          "pointer");                                          \
    *(result) = NULL;                                                          \
  } while (0)

attn_status attn_model_load(const void *weights, size_t size,
                            const attn_options *options, attn_model **model) {
  NEEDS_RESULT(model);
  return load(weights, size, false, options, model);
}

attn_status attn_model_load_file(const char *path, const attn_options *options,
                                 attn_model **model) {
  NEEDS_RESULT(model);
  char *error = options ? options->error : NULL;
  size_t error_size = options ? options->error_size : 0;
  if (!path)
    return attn_rt_fail(error, error_size, ATTN_ERROR_ARGUMENT,
                        "expected the path of a weights file, got a null "
                        "pointer");
  char reason[128] = "";
  int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat info;
  void *data = MAP_FAILED;
  if (file < 0 || fstat(file, &info)) {
    strerror_r(errno, reason, sizeof reason);
  } else if (!S_ISREG(info.st_mode)) {
    strcpy(reason, "not a regular file");
  } else if (info.st_size == 0) {
    close(file);
    return attn_rt_check_weights(&attn_model_descriptor, "", 0, error,
                                 error_size);
  } else {
    data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED)
      strerror_r(errno, reason, sizeof reason);
  }
  if (file >= 0)
    close(file);
  if (data == MAP_FAILED)
    return attn_rt_fail(error, error_size, ATTN_ERROR_FILE,
                        "expected a weights file at '%s', got: %s", path,
                        reason);
  return load(data, (size_t)info.st_size, true, options, model);
}

void attn_model_unload(attn_model *model) {
  if (!model)
    return;
  attn_memory memory = model->memory;
  attn_rt_deallocate(&memory, model->repacked);
  attn_rt_deallocate(&memory, (void *)model->weights);
  if (model->mapped)
    munmap((void *)(uintptr_t)model->base, model->mapped);
  attn_rt_deallocate(&memory, model);
}

const char *attn_model_target(const attn_model *model) {
  return model ? model->variant->target : "";
}

const char *attn_model_info(void) { return attn_model_descriptor.info; }
