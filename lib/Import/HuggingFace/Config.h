//===- Config.h - fields of config.json ------------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Typed access to a JSON object whose problems are collected: a field of the
// wrong kind is reported and its fallback used, so that reading can go on.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_IMPORT_HUGGINGFACE_CONFIG_H
#define ATTN_LIB_IMPORT_HUGGINGFACE_CONFIG_H

#include "attn/Support/Problems.h"
#include "llvm/Support/JSON.h"

namespace attn::hf {

class Config {
public:
  /// Problems get the prefix `path: `. Reports and stays empty if the file is
  /// not a JSON object.
  Config(llvm::StringRef path);

  /// The field's value; null where it is absent or JSON's null, which
  /// transformers treats alike.
  const llvm::json::Value *get(llvm::StringRef field) const;

  /// An integer of [min, max].
  int64_t integer(llvm::StringRef field, int64_t fallback, int64_t min,
                  int64_t max);
  double number(llvm::StringRef field, double fallback);
  bool boolean(llvm::StringRef field, bool fallback);
  std::string string(llvm::StringRef field, llvm::StringRef fallback);

  /// Reports `expected FIELD EXPECTED, got VALUE`.
  void expected(llvm::StringRef field, const llvm::Twine &expected);

  Problems problems;

private:
  llvm::json::Object object;
};

} // namespace attn::hf

#endif // ATTN_LIB_IMPORT_HUGGINGFACE_CONFIG_H
