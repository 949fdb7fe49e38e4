//===- Encoder.h - encoders as modules at graph level ----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// First everything that the folder says is resolved into an EncoderModel and
// checked; then a module is built from it, which cannot fail.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_IMPORT_HUGGINGFACE_ENCODER_H
#define ATTN_LIB_IMPORT_HUGGINGFACE_ENCODER_H

#include "Architectures.h"
#include "Config.h"
#include "Weights.h"
#include "attn/Dialect/IR/Attn.h"
#include "attn/Import/HuggingFace.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

namespace attn::hf {

/// `sentence_embedding`.
struct SentenceOutput {
  PoolKind pool;
  bool normalize;
};

/// All that is needed to build the module.
struct EncoderModel {
  const EncoderArchitecture *architecture;
  int64_t vocabulary, hidden, intermediate, layers, heads, positions,
      tokenTypes;
  double normEpsilon;
  /// GELU of that form, or ReLU.
  std::optional<GeluForm> gelu;
  bool hasPooler = false;
  std::optional<SentenceOutput> sentence;
  /// Names of the results of the function, in order.
  std::vector<std::string> outputs;
  /// Tensors by their name in the architecture's table, `.weight` or `.bias`
  /// included and {i} replaced.
  llvm::StringMap<SafetensorsModel::Entry> tensors;
};

/// Reads the numbers; what is wrong is added to `config.problems`.
EncoderModel readEncoderConfig(const EncoderArchitecture &architecture,
                               Config &config);

/// Finds all tensors of the model; what is wrong is added to
/// `weights.problems`.
void takeEncoderWeights(EncoderModel &model, Weights &weights);

/// Builds the module. `folder` is put before the file names of the weights.
mlir::OwningOpRef<mlir::ModuleOp> buildEncoder(const EncoderModel &model,
                                               llvm::StringRef folder,
                                               mlir::MLIRContext *context);

/// The name of a tensor of layer `layer`: {i} replaced.
std::string layerTensor(llvm::StringRef name, int64_t layer);

} // namespace attn::hf

#endif // ATTN_LIB_IMPORT_HUGGINGFACE_ENCODER_H
