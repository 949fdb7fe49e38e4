//===- Weights.h - a model's tensors, each accounted for -------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The importer asks for every tensor that the architecture has, with its shape
// in terms of config fields. What it asked for and did not find, and what it
// found and did not ask for, are problems.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_IMPORT_HUGGINGFACE_WEIGHTS_H
#define ATTN_LIB_IMPORT_HUGGINGFACE_WEIGHTS_H

#include "attn/Import/Safetensors.h"
#include "attn/Support/Problems.h"
#include "llvm/ADT/StringSet.h"

namespace attn::hf {

/// A size and the config field that it comes from.
struct Size {
  llvm::StringRef field;
  int64_t value;
};

class Weights {
public:
  /// Names are tried with and without `prefix`.
  Weights(const SafetensorsModel &model, llvm::StringRef directory,
          llvm::StringRef prefix)
      : model(model), problems(directory + ": "), prefix(prefix) {}

  /// The tensor `name` of that shape, of a floating-point type. Reports a
  /// problem and returns null if there is none.
  const SafetensorsModel::Entry *take(llvm::StringRef name,
                                      llvm::ArrayRef<Size> shape);

  /// Whether any tensor's name, without the prefix, starts with `start`.
  bool hasAny(llvm::StringRef start) const;

  /// Marks a tensor as known although it is not used.
  void ignore(llvm::StringRef name);

  /// Reports the tensors that nothing asked for; with `prefixOnly` only those
  /// that start with the prefix, if the model uses it.
  void checkAllUsed(llvm::StringRef className, bool prefixOnly);

private:
  const SafetensorsModel::Entry *find(llvm::StringRef name) const;

  const SafetensorsModel &model;

public:
  Problems problems;

private:
  llvm::StringRef prefix;
  llvm::StringSet<> used;
};

} // namespace attn::hf

#endif // ATTN_LIB_IMPORT_HUGGINGFACE_WEIGHTS_H
