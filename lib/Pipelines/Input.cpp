//===- Input.cpp - reads a model of any kind -------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The kind of a model is found from what is there: a folder with a
// config.json, an .onnx file, or MLIR as text or bytecode. Everything else is
// named in the message, with what would have been accepted.
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Driver.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace attn;

static constexpr StringRef kAccepted =
    "expected a .mlir file, an .onnx file or a folder with a config.json (a "
    "Hugging Face model), got ";

/// Whether a file that is not called .mlir may still be MLIR: bytecode by its
/// magic number, or text.
static bool looksLikeMLIR(StringRef path, const llvm::MemoryBuffer &buffer) {
  if (isBytecode(buffer.getMemBufferRef()) || path == "-" ||
      path.ends_with(".mlir"))
    return true;
  StringRef start = buffer.getBuffer().take_front(4096);
  return !start.contains('\0') &&
         (start.contains("func.func") || start.contains("attn."));
}

OwningOpRef<ModuleOp>
attn::readModel(StringRef path, const ImportOptions &import,
                MLIRContext *context, llvm::SourceMgr &sources,
                llvm::function_ref<void(const Twine &)> report) {
  if (llvm::sys::fs::is_directory(path)) {
    if (isHuggingFaceFolder(path))
      return importHuggingFace(
          path, context, [&](StringRef problem) { report(problem); },
          import.huggingFace);
    report(kAccepted + "the folder '" + path + "', which has none");
    return nullptr;
  }

  if (path.ends_with(".onnx"))
    return importOnnx(
        path, context, [&](StringRef problem) { report(problem); },
        import.onnx);

  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer) {
    report(kAccepted + "'" + path + "': " + buffer.getError().message());
    return nullptr;
  }
  if (!looksLikeMLIR(path, **buffer)) {
    report(kAccepted + "the file '" + path + "', which is neither");
    return nullptr;
  }
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  return parseSourceFile<ModuleOp>(sources, context);
}

void attn::registerImportFlags() {
  registerHuggingFaceFlags();
  registerOnnxFlags();
}

ImportOptions attn::importOptionsFromFlags() {
  return {huggingFaceOptionsFromFlags(), onnxOptionsFromFlags()};
}

std::string attn::modelFolder(StringRef path) {
  if (llvm::sys::fs::is_directory(path))
    return path.str();
  StringRef parent = llvm::sys::path::parent_path(path);
  return parent.empty() ? "." : parent.str();
}
