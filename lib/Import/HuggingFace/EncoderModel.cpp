//===- EncoderModel.cpp - numbers and tensors of an encoder ---------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reads config.json by the architecture's table, then asks for each tensor of
// the table with the shape that the numbers give it.
//
//===----------------------------------------------------------------------===//

#include "Encoder.h"

#include "attn/Support/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace attn::hf {

/// No real model is near; a number beyond is damage, and would make the list
/// of missing tensors endless.
static constexpr int64_t maxLayers = 1000;

static int64_t readSize(Config &config, SizeField field, int64_t max) {
  if (field.name.empty())
    return field.fallback;
  return config.integer(field.name, field.fallback, 1, max);
}

namespace {
struct Activation {
  StringLiteral name;
  std::optional<GeluForm> gelu;
};
} // namespace

static const Activation activations[] = {
    {"gelu", GeluForm::Erf},
    {"gelu_python", GeluForm::Erf},
    {"gelu_new", GeluForm::Tanh},
    {"gelu_fast", GeluForm::Tanh},
    {"gelu_pytorch_tanh", GeluForm::Tanh},
    {"gelu_python_tanh", GeluForm::Tanh},
    {"relu", std::nullopt},
};

static std::optional<GeluForm> readActivation(Config &config, StringRef field) {
  std::string name = config.string(field, "gelu");
  for (const Activation &activation : activations)
    if (activation.name == name)
      return activation.gelu;
  config.expected(field,
                  "to be one of " + join(map_range(activations,
                                                   [](const Activation &a) {
                                                     return a.name.str();
                                                   }),
                                         ", "));
  return GeluForm::Erf;
}

static void checkFixedFields(Config &config, ArrayRef<FixedField> fields) {
  for (const FixedField &field : fields) {
    const json::Value *value = config.get(field.name);
    if (value && printJson(*value) != field.value)
      config.expected(field.name, "to be " + field.value + " (because " +
                                      field.reason + ")");
  }
  if (const json::Value *heads = config.get("pruned_heads"))
    if (!heads->getAsObject() || !heads->getAsObject()->empty())
      config.expected("pruned_heads",
                      "to be empty (because all heads have one size)");
  if (config.get("quantization_config"))
    config.expected("quantization_config", "to be absent (because quantized "
                                           "weights are not imported)");
}

EncoderModel readEncoderConfig(const EncoderArchitecture &row, Config &config) {
  EncoderModel model;
  model.architecture = &row;
  model.vocabulary = readSize(config, row.vocabulary, INT32_MAX);
  model.hidden = readSize(config, row.hidden, INT32_MAX);
  model.intermediate = readSize(config, row.intermediate, INT32_MAX);
  model.layers = readSize(config, row.layers, maxLayers);
  model.heads = readSize(config, row.heads, INT32_MAX);
  model.positions = readSize(config, row.positions, INT32_MAX);
  model.tokenTypes = readSize(config, row.tokenTypes, INT32_MAX);
  model.gelu = readActivation(config, row.activation);
  model.normEpsilon = row.normEpsilonFallback;
  if (!row.normEpsilon.empty()) {
    model.normEpsilon = config.number(row.normEpsilon, model.normEpsilon);
    if (!(model.normEpsilon >= 0 && model.normEpsilon < 1))
      config.expected(row.normEpsilon, "to be at least 0 and less than 1");
  }
  checkFixedFields(config, row.fixedFields);
  if (model.hidden % model.heads != 0)
    config.problems.add("expected " + row.hidden.name +
                        " to be a multiple of " + row.heads.name +
                        " (because each head has the same size), got " +
                        Twine(model.hidden) + " and " + Twine(model.heads));
  return model;
}

std::string layerTensor(StringRef name, int64_t layer) {
  auto [before, after] = name.split("{i}");
  if (after.empty())
    return name.str();
  return (before + Twine(layer) + after).str();
}

void takeEncoderWeights(EncoderModel &model, Weights &weights) {
  const EncoderArchitecture &row = *model.architecture;
  Size vocabulary{row.vocabulary.name, model.vocabulary};
  Size hidden{row.hidden.name, model.hidden};
  Size intermediate{row.intermediate.name, model.intermediate};
  Size positions{row.positions.name, model.positions};
  Size tokenTypes{row.tokenTypes.name, model.tokenTypes};

  auto take = [&](const Twine &name, ArrayRef<Size> shape) {
    std::string text = name.str();
    if (const SafetensorsModel::Entry *entry = weights.take(text, shape))
      model.tensors.try_emplace(text, *entry);
  };
  auto takeLinear = [&](const Twine &name, Size outputs, Size inputs) {
    take(name + ".weight", {outputs, inputs});
    take(name + ".bias", {outputs});
  };
  auto takeNorm = [&](const Twine &name) {
    take(name + ".weight", {hidden});
    take(name + ".bias", {hidden});
  };

  take(row.wordTable + ".weight", {vocabulary, hidden});
  take(row.positionTable + ".weight", {positions, hidden});
  if (!row.tokenTypeTable.empty())
    take(row.tokenTypeTable + ".weight", {tokenTypes, hidden});
  takeNorm(row.embeddingNorm);
  for (int64_t i = 0; i < model.layers; ++i) {
    for (StringRef name : {row.query, row.key, row.value, row.attentionOutput})
      takeLinear(layerTensor(name, i), hidden, hidden);
    takeNorm(layerTensor(row.attentionNorm, i));
    takeLinear(layerTensor(row.feedForward1, i), intermediate, hidden);
    takeLinear(layerTensor(row.feedForward2, i), hidden, intermediate);
    takeNorm(layerTensor(row.feedForwardNorm, i));
  }
  if (!row.pooler.empty() && weights.hasAny((row.pooler + ".").str())) {
    model.hasPooler = true;
    takeLinear(row.pooler, hidden, hidden);
  }
  for (StringRef name : row.ignored)
    weights.ignore(name);
}

} // namespace attn::hf
