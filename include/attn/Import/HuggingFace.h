//===- HuggingFace.h - import of Hugging Face model folders ----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A folder holds weights and numbers (`config.json`), no graph: the graph comes
// from the tables in lib/Import/HuggingFace/Architectures.cpp. Every number and
// every tensor of the folder is checked against them; a tensor that is
// missing, left over or of another shape is an error, never a guess.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_IMPORT_HUGGINGFACE_H
#define ATTN_IMPORT_HUGGINGFACE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>
#include <vector>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace attn {

struct HuggingFaceOptions {
  enum class Pooling {
    FromFolder, // What modules.json says, else none.
    None,       // No sentence_embedding.
    Mean,       // Mean over the positions that attention_mask keeps.
    Cls         // Position 0.
  };
  /// How the hidden states of a sentence become the output sentence_embedding.
  Pooling pooling = Pooling::FromFolder;
  /// With Mean or Cls: divides the sentence embedding by its Euclidean norm.
  bool normalize = false;
  /// Imports the encoder of a model that has a task head (BertForMaskedLM),
  /// whose tensors are ignored. Otherwise such a model is an error.
  bool dropHead = false;
  /// Names of the outputs to keep, in this order; all if empty.
  std::vector<std::string> outputs;
};

/// Imports the model in `directory` as a module at graph level: one public
/// function named after the model type, its weights as #attn.source recipes
/// relative to the folder, and the dims `batch` and `sequence`. Calls `report`
/// for every problem, with the text of an error message; returns null if there
/// was any. The context must have the attn, arith, math, tensor and func
/// dialects loaded or registered.
///
/// Example: a folder with `"model_type": "bert"` gives
/// ```mlir
/// attn.dim @batch range(1, 2147483647)
/// attn.dim @sequence range(1, 512)
/// attn.weight @embeddings.LayerNorm.weight #attn.source<...> : tensor<384xf32>
/// func.func @bert(%arg0: tensor<?x?xi64> {attn.name = "input_ids", ...}, ...)
/// ```
mlir::OwningOpRef<mlir::ModuleOp>
importHuggingFace(llvm::StringRef directory, mlir::MLIRContext *context,
                  llvm::function_ref<void(llvm::StringRef)> report,
                  const HuggingFaceOptions &options = {});

/// Whether `path` is a folder with a `config.json`.
bool isHuggingFaceFolder(llvm::StringRef path);

/// Adds the command line options of the importer to a tool: --pooling,
/// --normalize, --drop-head, --outputs.
void registerHuggingFaceFlags();
/// What the command line said.
HuggingFaceOptions huggingFaceOptionsFromFlags();

} // namespace attn

#endif // ATTN_IMPORT_HUGGINGFACE_H
