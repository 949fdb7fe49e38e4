//===- CHeader.cpp - the C header of a compiled model -----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The declarations of attn-c/model.h under the model's own prefix, and the
// typed structs of its inputs and outputs. The run-time walks those structs as
// 8-byte words (lib/Runtime/Context.c): int64_t dims, then a pointer and its
// strides a tensor.
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attn;

static StringRef getCType(attn_type type) {
  switch (type) {
  case ATTN_F32:
    return "float";
  case ATTN_F64:
    return "double";
  case ATTN_F16:
  case ATTN_BF16:
    return "uint16_t";
  case ATTN_I8:
    return "int8_t";
  case ATTN_I16:
    return "int16_t";
  case ATTN_I32:
    return "int32_t";
  case ATTN_I64:
    return "int64_t";
  case ATTN_BOOL:
    return "uint8_t";
  }
  llvm_unreachable("all types have a C type");
}

/// `[batch][sequence][384]`.
static std::string getShape(const ModelInterface &interface,
                            const ModelTensor &tensor) {
  std::string text;
  for (int64_t size : tensor.sizes)
    text += "[" +
            (size < 0 ? interface.dims[-1 - size].name : std::to_string(size)) +
            "]";
  if (tensor.type == ATTN_F16 || tensor.type == ATTN_BF16)
    text += tensor.type == ATTN_F16 ? ", bits of f16" : ", bits of bf16";
  if (tensor.type == ATTN_BOOL)
    text += ", 0 or 1";
  return text;
}

/// Replaces $ by the model's name and @ by that in capitals.
static std::string substitute(StringRef text, const ModelInterface &interface) {
  std::string result, capitals = StringRef(interface.name).upper();
  for (char c : text) {
    if (c == '$')
      result += interface.name;
    else if (c == '@')
      result += capitals;
    else
      result += c;
  }
  return result;
}

static void writeTensors(const ModelInterface &interface,
                         ArrayRef<ModelTensor> tensors, StringRef constness,
                         raw_ostream &os) {
  for (const ModelTensor &tensor : tensors) {
    os << "  struct {\n    " << constness << getCType(tensor.type)
       << " *data; /* " << getShape(interface, tensor) << " */\n";
    if (!tensor.sizes.empty())
      os << "    int64_t stride[" << tensor.sizes.size() << "];\n";
    os << "  } " << makeIdentifier(tensor.name) << ";\n";
  }
}

static void writeInputs(const ModelInterface &interface, raw_ostream &os) {
  os << substitute(
      "/* What a run reads. Strides count elements; all zero means dense in\n"
      " * row-major order. */\n"
      "typedef struct $_inputs {\n",
      interface);
  for (const ModelDim &dim : interface.dims)
    os << "  int64_t " << makeIdentifier(dim.name) << "; /* " << dim.min
       << " to " << dim.max << " */\n";
  writeTensors(interface, interface.inputs, "const ", os);
  if (interface.dims.empty() && interface.inputs.empty())
    os << "  int64_t unused;\n";
  os << substitute("} $_inputs;\n\n", interface);
}

static void writeOutputs(const ModelInterface &interface, raw_ostream &os) {
  os << substitute("/* What a run writes, into memory of the caller that "
                   "overlaps no input.\n"
                   " */\n"
                   "typedef struct $_outputs {\n",
                   interface);
  writeTensors(interface, interface.outputs, "", os);
  os << substitute("} $_outputs;\n\n", interface);
}

static constexpr llvm::StringLiteral prologue =
    R"(#ifndef @_H
#define @_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Answers of the functions below; the text is in $_last_error, or for load and
 * create in options.error. */
typedef enum $_status {
  @_OK = 0,
  @_ERROR_ARGUMENT = 1,  /* a null pointer or a stride that is not allowed */
  @_ERROR_SHAPE = 2,     /* a dimension outside its range */
  @_ERROR_WORKSPACE = 3, /* the caller's workspace is too small */
  @_ERROR_FILE = 4,      /* the weights file cannot be opened or mapped */
  @_ERROR_WEIGHTS = 5,   /* not the weights of this model, or damaged */
  @_ERROR_CPU = 6,       /* no compiled variant runs on this CPU */
  @_ERROR_MEMORY = 7,    /* an allocation failed */
  @_ERROR_THREADS = 8,   /* a thread could not be started */
  @_ERROR_VALUE = 9,     /* an input holds a value outside its range */
  @_ERROR_INTERNAL = 10  /* a kernel failed: a fault of the compiler */
} $_status;

typedef struct $_model $_model; /* immutable, shared by threads */
typedef struct $_ctx $_ctx;     /* one run at a time */

/* Options of load and create; all zero, or a null pointer, is the default. */
typedef struct $_options {
  /* create: threads that work on a run, the caller's among them; 0 and 1: the
   * caller's alone. They belong to the context and end with it. */
  int32_t num_threads;
  int32_t reserved; /* 0 */
  /* create: runs task(argument, i) for 0 <= i < count on any threads, and
   * returns 0, or what a task that failed returned; instead of num_threads. */
  int (*parallel_for)(void *user, int (*task)(void *argument, int index),
                      void *argument, int count);
  /* load, create: memory in place of malloc and free; both or none. */
  void *(*allocate)(void *user, size_t size, size_t alignment);
  void (*deallocate)(void *user, void *pointer);
  void *user; /* passed to the three functions above */
  /* load: the variant to use instead of the best one for this CPU. */
  const char *target;
  /* load, create: where the text of a failure goes. */
  char *error;
  size_t error_size;
} $_options;

)";

static constexpr llvm::StringLiteral epilogue =
    R"($_status $_load(const void *weights, size_t size, const $_options *options,
    $_model **model);
/* Maps a weights file. */
$_status $_load_file(const char *path, const $_options *options,
    $_model **model);
/* After all contexts of the model were destroyed. */
void $_unload($_model *model);

$_status $_create(const $_model *model, const $_options *options, $_ctx **ctx);
void $_destroy($_ctx *ctx);

/* Bytes of workspace that a run with these inputs' dims needs, or -1. */
int64_t $_workspace_size($_ctx *ctx, const $_inputs *inputs);
/* Runs the model. `workspace` is aligned to 64 bytes; a null pointer: the context
 * allocates one and keeps it. */
$_status $_run($_ctx *ctx, const $_inputs *inputs, const $_outputs *outputs,
    void *workspace, size_t workspace_size);

/* The same without types, for tools: dims, tensors and their strides in the
 * order of $_info. */
$_status $_run_generic($_ctx *ctx, const int64_t *dims,
    const void *const *inputs, const int64_t *const *input_strides,
    void *const *outputs, const int64_t *const *output_strides);
int64_t $_workspace_size_generic($_ctx *ctx, const int64_t *dims);

/* The text of the last failure of a context, or "". */
const char *$_last_error(const $_ctx *ctx);
/* What a status means. */
const char *$_status_string($_status status);
/* The variant that load has chosen. */
const char *$_target(const $_model *model);
/* Names, types and sizes as JSON. */
const char *$_info(void);

#ifdef __cplusplus
}
#endif
#endif /* @_H */
)";

void attn::writeHeader(const ModelInterface &interface,
                       const WeightLayout &layout, bool embedded,
                       raw_ostream &os) {
  os << "/* " << interface.name
     << ".h - C API of a compiled model, written by attn-opt. */\n";
  os << substitute(prologue, interface);
  writeInputs(interface, os);
  writeOutputs(interface, os);
  if (layout.stored.empty())
    os << "/* This model has no weights: pass a null pointer and 0. */\n";
  else if (embedded)
    os << "/* The weights are embedded: pass a null pointer and 0. */\n";
  else
    os << "/* Weights in memory: the bytes of " << interface.name
       << ".weights, aligned to 64\n"
          " * bytes, which stay in place until unload. */\n";
  os << substitute(epilogue, interface);
}
