//===- Weights.cpp - a model's tensors, each accounted for ----------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Weights.h.
//
//===----------------------------------------------------------------------===//

#include "Weights.h"

#include "attn/Support/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace attn::hf {

/// `(2, 48) (because type_vocab_size is 2 and hidden_size is 48)`
static std::string shapeText(ArrayRef<Size> shape) {
  std::string text;
  raw_string_ostream stream(text);
  stream << '(';
  interleaveComma(shape, stream, [&](const Size &s) { stream << s.value; });
  stream << ") (because ";
  // A square matrix names its field once.
  SmallVector<StringRef> told;
  for (const Size &size : shape) {
    if (is_contained(told, size.field))
      continue;
    stream << (told.empty() ? "" : " and ") << size.field << " is "
           << size.value;
    told.push_back(size.field);
  }
  stream << ')';
  return text;
}

static bool isFloat(SafetensorsType type) {
  return type == SafetensorsType::F16 || type == SafetensorsType::BF16 ||
         type == SafetensorsType::F32 || type == SafetensorsType::F64;
}

/// The name that checkpoints converted from TensorFlow use for layer norms.
static std::string legacyName(StringRef name) {
  if (name.consume_back("LayerNorm.weight"))
    return (name + "LayerNorm.gamma").str();
  if (name.consume_back("LayerNorm.bias"))
    return (name + "LayerNorm.beta").str();
  return "";
}

const SafetensorsModel::Entry *Weights::find(StringRef name) const {
  std::string legacy = legacyName(name);
  for (StringRef start : {prefix, StringRef()})
    for (StringRef spelling : {name, StringRef(legacy)})
      if (!spelling.empty())
        if (const auto *entry = model.lookup((start + spelling).str()))
          return entry;
  return nullptr;
}

const SafetensorsModel::Entry *Weights::take(StringRef name,
                                             ArrayRef<Size> shape) {
  const SafetensorsModel::Entry *entry = find(name);
  if (!entry) {
    problems.add("expected a tensor " + quoteName(name) + " of shape " +
                 shapeText(shape) + ", got none");
    return nullptr;
  }
  used.insert(entry->tensor->name);
  bool sameShape =
      equal(shape, entry->tensor->shape,
            [](const Size &size, int64_t got) { return size.value == got; });
  if (sameShape && isFloat(entry->tensor->type))
    return entry;
  problems.add("expected tensor " + quoteName(entry->tensor->name) + " to be " +
               (sameShape ? std::string("F16, BF16, F32 or F64")
                          : "of shape " + shapeText(shape)) +
               ", got " + describe(*entry->tensor) + " in " + entry->fileName);
  return nullptr;
}

bool Weights::hasAny(StringRef start) const {
  return any_of(model.entries(), [&](const SafetensorsModel::Entry &entry) {
    StringRef name = entry.tensor->name;
    name.consume_front(prefix);
    return name.starts_with(start);
  });
}

void Weights::ignore(StringRef name) {
  used.insert(name);
  used.insert((prefix + name).str());
}

void Weights::checkAllUsed(StringRef className, bool prefixOnly) {
  prefixOnly &= any_of(model.entries(), [&](const auto &entry) {
    return StringRef(entry.tensor->name).starts_with(prefix);
  });
  SmallVector<std::string> unused;
  for (const SafetensorsModel::Entry &entry : model.entries()) {
    StringRef name = entry.tensor->name;
    if (!used.contains(name) && (!prefixOnly || name.starts_with(prefix)))
      unused.push_back(quoteName(name));
  }
  if (!unused.empty())
    problems.add("expected only tensors of a " + className + ", got " +
                 Twine(unused.size()) + " more (" + join(unused, ", ") +
                 "): leaving them out could give wrong results");
}

} // namespace attn::hf
