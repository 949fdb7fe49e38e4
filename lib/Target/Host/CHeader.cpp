//===- CHeader.cpp - the C header of a compiled model -----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The declarations of attn-c/model.h, whose text is part of this program, under
// the model's own prefix, and the typed structs of its inputs and outputs. The
// run-time walks those structs as
// 8-byte words (lib/Runtime/Context.c): int64_t dims, then a pointer and its
// strides a tensor.
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"
#include "ModelHeader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

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
  case ATTN_F8E4M3FN:
  case ATTN_F8E4M3FNUZ:
  case ATTN_F8E5M2:
  case ATTN_F8E5M2FNUZ:
  case ATTN_F4E2M1FN:
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
  if (tensor.type == ATTN_BOOL)
    text += ", 0 or 1";
  else if (getCType(tensor.type).starts_with("uint"))
    text += ", bits of " + getTypeName(tensor.type).str();
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
       << " *data; /* " << getShape(interface, tensor);
    if (tensor.inPlace)
      os << ", may be the memory of inputs."
         << makeIdentifier(interface.inputs[*tensor.inPlace].name);
    os << " */\n";
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
  bool shares = llvm::any_of(interface.outputs, [](const ModelTensor &output) {
    return output.inPlace.has_value();
  });
  os << "/* What a run writes, into memory of the caller that overlaps no "
        "input.";
  if (shares)
    os << " Only an\n * output that says so may be the memory of an input, at "
          "the same address with\n * the same strides; nothing but what "
          "changes is written then. */\n";
  else
    os << "\n */\n";
  os << substitute("typedef struct $_outputs {\n", interface);
  writeTensors(interface, interface.outputs, "", os);
  os << substitute("} $_outputs;\n\n", interface);
}

/// The declarations of attn-c/model.h.
static StringRef getNeutralApi() {
  StringRef text = modelHeader.split("extern \"C\" {\n#endif\n\n").second;
  return text.rsplit("\n#ifdef __cplusplus").first;
}

/// Turns types of functions into declarations, a line each:
///
///     typedef void (*attn_destroy_fn)(attn_ctx *ctx);
///     void attn_destroy(attn_ctx *ctx);
static std::string declareFunctions(StringRef text) {
  static const llvm::Regex start(
      "^typedef ([a-z0-9_ ]+[ *])\\(\\*(attn_[a-z_]+)_fn\\)\\(");
  std::string result;
  bool inside = false;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    SmallVector<StringRef> parts;
    if (start.match(line, &parts)) {
      result += (parts[1] + parts[2] + "(").str();
      line = line.drop_front(parts[0].size());
      inside = true;
    } else if (inside) {
      line = line.ltrim();
    }
    inside &= !line.ends_with(";");
    result += line;
    result += !inside ? "\n" : line.ends_with("(") || line.empty() ? "" : " ";
  }
  return result;
}

/// Replaces the neutral prefix by the model's name.
static std::string replacePrefix(StringRef text,
                                 const ModelInterface &interface) {
  std::string name = interface.name + "_";
  std::string capitals = StringRef(name).upper(), result;
  while (!text.empty()) {
    bool startsWord = result.empty() ||
                      !(llvm::isAlnum(result.back()) || result.back() == '_');
    if (startsWord &&
        (text.consume_front("attn_") || text.consume_front("NAME_"))) {
      result += name;
    } else if (startsWord && text.consume_front("ATTN_")) {
      result += capitals;
    } else {
      result += text.front();
      text = text.drop_front();
    }
  }
  return result;
}

/// Writes text, with long declarations of functions on several lines.
static void writeWrapped(StringRef text, raw_ostream &os) {
  constexpr size_t width = 80;
  for (StringRef line : llvm::split(text, '\n')) {
    while (line.size() > width && line.ends_with(");")) {
      size_t end = line.take_front(width).rfind(", ");
      if (end == StringRef::npos)
        break;
      os << line.take_front(end + 1) << "\n   ";
      line = line.drop_front(end + 1);
    }
    os << line << "\n";
  }
}

static constexpr llvm::StringLiteral prologue =
    R"(#ifndef @_H
#define @_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

)";

static constexpr llvm::StringLiteral epilogue =
    R"(/* Bytes of workspace that a run with these inputs' dims needs, or -1. */
int64_t $_workspace_size($_ctx *ctx, const $_inputs *inputs);
/* Runs the model. `workspace` is aligned to 64 bytes; a null pointer: the context
 * allocates one and keeps it. */
$_status $_run($_ctx *ctx, const $_inputs *inputs, const $_outputs *outputs, void *workspace, size_t workspace_size);

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
  if (layout.stored.empty())
    os << "/* This model has no weights: load takes a null pointer and 0. "
          "*/\n\n";
  else if (embedded)
    os << "/* The weights are embedded: load takes a null pointer and 0. "
          "*/\n\n";
  else
    os << "/* The weights are in " << interface.name << ".weights. */\n\n";
  writeWrapped(replacePrefix(declareFunctions(getNeutralApi()), interface), os);
  writeInputs(interface, os);
  writeOutputs(interface, os);
  writeWrapped(StringRef(substitute(epilogue, interface)).rtrim(), os);
}
