//===- SentenceTransformers.h - modules.json and what it names -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The sentence-transformers package stores a model as a list of modules: a
// transformer, a pooling, perhaps a normalization.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_IMPORT_HUGGINGFACE_SENTENCETRANSFORMERS_H
#define ATTN_LIB_IMPORT_HUGGINGFACE_SENTENCETRANSFORMERS_H

#include "attn/Import/HuggingFace.h"
#include "attn/Support/Problems.h"

#include <optional>

namespace attn::hf {

struct SentenceModules {
  /// The folder of the transformer, relative to the model's; usually "".
  std::string transformer;
  HuggingFaceOptions::Pooling pooling = HuggingFaceOptions::Pooling::None;
  bool normalize = false;
  /// What the pooling expects the hidden size to be, if it says so.
  std::optional<int64_t> hidden;
  /// The file that says so.
  std::string poolingFile;
};

/// Reads `directory`/modules.json if there is one; adds to `problems` what
/// the importer does not know.
SentenceModules readSentenceModules(llvm::StringRef directory,
                                    Problems &problems);

} // namespace attn::hf

#endif // ATTN_LIB_IMPORT_HUGGINGFACE_SENTENCETRANSFORMERS_H
