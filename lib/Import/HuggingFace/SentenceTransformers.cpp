//===- SentenceTransformers.cpp - modules.json and what it names ----------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A module's type is a Python path whose last part names the class; packages
// moved over the years, classes did not.
//
//===----------------------------------------------------------------------===//

#include "SentenceTransformers.h"

#include "Config.h"
#include "attn/Support/Json.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace attn::hf {

using Pooling = HuggingFaceOptions::Pooling;

static std::string inFolder(StringRef directory, StringRef relative) {
  SmallString<256> path(directory);
  sys::path::append(path, relative);
  return path.str().str();
}

/// A relative path that stays inside its folder.
static bool staysInside(StringRef path) {
  if (sys::path::is_absolute(path) || path.contains('\\') ||
      path.contains('\0'))
    return false;
  return std::find(sys::path::begin(path), sys::path::end(path), "..") ==
         sys::path::end(path);
}

/// The ways of pooling that sentence-transformers has, in its order.
static constexpr StringLiteral poolingModes[] = {
    "cls_token",           "mean_tokens", "max_tokens", "mean_sqrt_len_tokens",
    "weightedmean_tokens", "lasttoken"};

static void readPooling(StringRef path, SentenceModules &modules,
                        Problems &problems) {
  Config config(path);
  modules.poolingFile = path.str();
  std::vector<std::string> modes;
  for (StringRef mode : poolingModes)
    if (config.boolean(("pooling_mode_" + mode).str(), false))
      modes.push_back(mode.str());
  // Newer versions write one string.
  if (std::string mode = config.string("pooling_mode", ""); !mode.empty())
    modes.push_back(mode);
  if (modes.size() == 1 && (modes[0] == "mean_tokens" || modes[0] == "mean"))
    modules.pooling = Pooling::Mean;
  else if (modes.size() == 1 && (modes[0] == "cls_token" || modes[0] == "cls"))
    modules.pooling = Pooling::Cls;
  else if (config.problems.empty())
    config.problems.add(
        "expected one pooling mode, mean_tokens or cls_token, got " +
        (modes.empty() ? std::string("none") : llvm::join(modes, ", ")) +
        ": pass --pooling=none to import the transformer alone");
  for (StringRef field : {"word_embedding_dimension", "embedding_dimension"})
    if (config.get(field))
      modules.hidden = config.integer(field, 0, 1, INT32_MAX);
  problems.add(config.problems.take());
}

SentenceModules readSentenceModules(StringRef directory, Problems &problems) {
  SentenceModules modules;
  std::string path = inFolder(directory, "modules.json");
  if (!sys::fs::exists(path))
    return modules;
  Expected<json::Value> value = readJsonFile(path);
  if (!value) {
    problems.add(value.takeError());
    return modules;
  }
  Problems own(path + ": ");
  const json::Array *list = value->getAsArray();
  if (!list)
    own.add("expected an array of modules, got " + describeJson(*value));
  for (const json::Value &entry : list ? *list : json::Array()) {
    const json::Object *module = entry.getAsObject();
    std::optional<StringRef> type =
        module ? module->getString("type") : std::nullopt;
    StringRef folder =
        module ? module->getString("path").value_or("") : StringRef();
    if (!type || !staysInside(folder)) {
      own.add("expected a module with a type and a path inside the folder, "
              "got " +
              printJson(entry));
      continue;
    }
    StringRef kind = type->rsplit('.').second;
    if (kind == "Transformer")
      modules.transformer = folder.str();
    else if (kind == "Pooling")
      readPooling(inFolder(directory, (folder + "/config.json").str()), modules,
                  problems);
    else if (kind == "Normalize")
      modules.normalize = true;
    else
      own.add("expected modules of type Transformer, Pooling or Normalize, "
              "got " +
              quoteName(*type) +
              ": pass --pooling=none to import the transformer alone");
  }
  if (modules.normalize && modules.pooling == Pooling::None && own.empty() &&
      modules.poolingFile.empty())
    own.add("expected a module of type Pooling before Normalize (because what "
            "is normalized is the pooled vector), got none");
  problems.add(own.take());
  return modules;
}

} // namespace attn::hf
