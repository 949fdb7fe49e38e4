//===- HuggingFace.cpp - import of Hugging Face model folders -------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The order of the work: modules.json says where the transformer is,
// config.json says what it is, its row of the architecture table says how to
// read the rest. Problems of one step do not hide those of the others unless
// the step is what the others need.
//
//===----------------------------------------------------------------------===//

#include "attn/Import/HuggingFace.h"

#include "Architectures.h"
#include "Config.h"
#include "Encoder.h"
#include "SentenceTransformers.h"
#include "Weights.h"
#include "attn/Dialect/IR/Attn.h"
#include "attn/Support/Json.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace attn::hf;

namespace attn {

using Pooling = HuggingFaceOptions::Pooling;

static std::string inFolder(StringRef directory, StringRef name) {
  SmallString<256> path(directory);
  sys::path::append(path, name);
  return path.str().str();
}

bool isHuggingFaceFolder(StringRef path) {
  return sys::fs::is_directory(path) &&
         sys::fs::exists(inFolder(path, "config.json"));
}

/// The class in `architectures` must be the one without a task head, or the
/// user must have said that the head can go.
static void checkArchitectures(const EncoderArchitecture &row, bool dropHead,
                               Config &config) {
  const json::Value *value = config.get("architectures");
  const json::Array *list = value ? value->getAsArray() : nullptr;
  if (!list || list->empty() || dropHead)
    return;
  std::optional<StringRef> name = list->front().getAsString();
  if (!name || *name != row.className)
    config.expected("architectures", "to be [\"" + row.className +
                                         "\"] (because task heads are not "
                                         "imported; --drop-head imports the "
                                         "encoder alone)");
}

/// Fills in the outputs: those the model has, or those the user wants.
static void chooseOutputs(EncoderModel &model,
                          const std::vector<std::string> &wanted,
                          Problems &problems) {
  model.outputs = {"last_hidden_state"};
  if (model.hasPooler)
    model.outputs.push_back("pooler_output");
  if (model.sentence)
    model.outputs.push_back("sentence_embedding");
  if (wanted.empty())
    return;
  for (const std::string &name : wanted)
    if (!is_contained(model.outputs, name))
      problems.add("expected --outputs of " + llvm::join(model.outputs, ", ") +
                   " (because that is what this model has), got " + name);
    else if (llvm::count(wanted, name) > 1)
      problems.add("expected each output once in --outputs, got " + name +
                   " twice");
  model.outputs = wanted;
}

/// What the command line says about sentence embeddings goes before what
/// modules.json says.
static std::optional<SentenceOutput>
chooseSentence(const SentenceModules &modules,
               const HuggingFaceOptions &options) {
  bool fromFolder = options.pooling == Pooling::FromFolder;
  Pooling pooling = fromFolder ? modules.pooling : options.pooling;
  if (pooling != Pooling::Mean && pooling != Pooling::Cls)
    return std::nullopt;
  return SentenceOutput{pooling == Pooling::Mean ? PoolKind::Mean
                                                 : PoolKind::Cls,
                        options.normalize || (fromFolder && modules.normalize)};
}

static mlir::OwningOpRef<mlir::ModuleOp>
import(StringRef directory, mlir::MLIRContext *context,
       const HuggingFaceOptions &options, Problems &problems) {
  Problems moduleProblems;
  SentenceModules modules = readSentenceModules(directory, moduleProblems);
  // Who asks for another pooling, or none, need not care about the folder's.
  if (options.pooling == Pooling::FromFolder)
    problems.add(moduleProblems.take());
  else
    consumeError(moduleProblems.take());

  std::string folder = modules.transformer.empty()
                           ? directory.str()
                           : inFolder(directory, modules.transformer);
  Config config(inFolder(folder, "config.json"));
  std::string modelType = config.string("model_type", "");
  const EncoderArchitecture *row = lookupEncoder(modelType);
  if (!row) {
    if (config.problems.empty())
      config.expected("model_type", "to be one of " + knownModelTypes());
    problems.add(config.problems.take());
    return nullptr;
  }
  EncoderModel model = readEncoderConfig(*row, config);
  checkArchitectures(*row, options.dropHead, config);
  if (options.pooling == Pooling::FromFolder && modules.hidden &&
      *modules.hidden != model.hidden)
    config.problems.add("expected " + row->hidden.name + " to be " +
                        Twine(*modules.hidden) + " (because " +
                        modules.poolingFile +
                        " pools vectors of that size), "
                        "got " +
                        Twine(model.hidden));
  // Shapes that follow from wrong numbers would be noise.
  bool numbersValid = config.problems.empty();
  problems.add(config.problems.take());

  Expected<SafetensorsModel> tensors = SafetensorsModel::open(folder);
  if (!tensors) {
    problems.add(tensors.takeError());
    return nullptr;
  }
  if (!numbersValid)
    return nullptr;
  Weights weights(*tensors, folder, row->prefix);
  takeEncoderWeights(model, weights);
  weights.checkAllUsed(row->className, options.dropHead);
  problems.add(weights.problems.take());
  model.sentence = chooseSentence(modules, options);
  chooseOutputs(model, options.outputs, problems);
  if (!problems.empty())
    return nullptr;

  std::string inside = modules.transformer;
  if (!inside.empty() && inside.back() != '/')
    inside += '/';
  return buildEncoder(model, inside, context);
}

mlir::OwningOpRef<mlir::ModuleOp>
importHuggingFace(StringRef directory, mlir::MLIRContext *context,
                  function_ref<void(StringRef)> report,
                  const HuggingFaceOptions &options) {
  context->loadDialect<AttnDialect, mlir::arith::ArithDialect,
                       mlir::func::FuncDialect, mlir::math::MathDialect,
                       mlir::tensor::TensorDialect>();
  Problems problems;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      import(directory, context, options, problems);
  forEachProblem(problems.take(), report);
  return module;
}

} // namespace attn
