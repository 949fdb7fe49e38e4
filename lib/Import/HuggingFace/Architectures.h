//===- Architectures.h - what the importer knows of each model -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One row a model type: names of config fields, names of tensors, and the few
// knobs in which the members of a family differ. A new member of a family is
// a row in Architectures.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_IMPORT_HUGGINGFACE_ARCHITECTURES_H
#define ATTN_LIB_IMPORT_HUGGINGFACE_ARCHITECTURES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace attn::hf {

/// An integer field of config.json and what its absence means.
struct SizeField {
  llvm::StringLiteral name;
  int64_t fallback;
};

/// A field that must have one value, because the importer knows no other.
struct FixedField {
  llvm::StringLiteral name;
  /// As JSON: `"absolute"`, `false`. Also what the absence means.
  llvm::StringLiteral value;
  /// Completes `(because ...)`.
  llvm::StringLiteral reason;
};

/// Post-norm encoders in the manner of BERT: embeddings and a layer norm, then
/// layers of attention and feed-forward, each followed by a residual sum and a
/// layer norm.
struct EncoderArchitecture {
  llvm::StringLiteral modelType;
  /// The class without a task head, and what its tensors start with in models
  /// that have one.
  llvm::StringLiteral className;
  llvm::StringLiteral prefix;

  // Fields of config.json. An empty name: the fallback, always.
  SizeField vocabulary, hidden, intermediate, layers, heads, positions;
  SizeField tokenTypes;
  llvm::StringLiteral activation;
  llvm::StringLiteral normEpsilon;
  double normEpsilonFallback;
  llvm::ArrayRef<FixedField> fixedFields;

  // Tensors, each with `.weight` and, except for tables, `.bias`; `{i}` is the
  // number of a layer. An empty name: the model has no such part.
  llvm::StringLiteral wordTable, positionTable, tokenTypeTable, embeddingNorm;
  llvm::StringLiteral query, key, value, attentionOutput, attentionNorm;
  llvm::StringLiteral feedForward1, feedForward2, feedForwardNorm;
  /// A linear layer and tanh over position 0; left out if the weights are.
  llvm::StringLiteral pooler;
  /// Tensors that carry no weights.
  llvm::ArrayRef<llvm::StringLiteral> ignored;
};

/// The row of a model type, or null.
const EncoderArchitecture *lookupEncoder(llvm::StringRef modelType);

/// All model types, `bert, distilbert`, for messages.
std::string knownModelTypes();

} // namespace attn::hf

#endif // ATTN_LIB_IMPORT_HUGGINGFACE_ARCHITECTURES_H
