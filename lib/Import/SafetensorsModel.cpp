//===- SafetensorsModel.cpp - the safetensors files of a model folder -----===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A model is one file, or several with an index that maps each tensor to its
// file. The index is checked against the files both ways. Its file names come
// from outside and may only name files of the folder.
//
//===----------------------------------------------------------------------===//

#include "attn/Import/Safetensors.h"

#include "attn/Support/Json.h"
#include "attn/Support/Problems.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <map>

using namespace llvm;

namespace attn {

static constexpr StringLiteral singleFile = "model.safetensors";
static constexpr StringLiteral indexFile = "model.safetensors.index.json";

static std::string inFolder(StringRef directory, StringRef name) {
  SmallString<256> path(directory);
  sys::path::append(path, name);
  return path.str().str();
}

/// A plain file name: no way out of the folder.
static bool isPlainName(StringRef name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(StringRef("/\\\0", 3)) == StringRef::npos;
}

namespace {
/// File name to the tensors that the index puts there.
using WeightMap = std::map<std::string, std::vector<std::string>>;
} // namespace

static Expected<WeightMap> readIndex(StringRef path) {
  Expected<json::Value> index = readJsonFile(path);
  if (!index)
    return index.takeError();
  Problems problems(path + ": ");
  const json::Object *object = index->getAsObject();
  const json::Value *value = object ? object->get("weight_map") : nullptr;
  const json::Object *map = value ? value->getAsObject() : nullptr;
  if (!map) {
    problems.add("expected an object weight_map that maps tensors to files, "
                 "got " +
                 (value ? printJson(*value) : "none"));
    return problems.take();
  }
  WeightMap files;
  SmallVector<StringRef> names;
  for (const auto &entry : *map)
    names.push_back(entry.first);
  llvm::sort(names);
  for (StringRef name : names) {
    const json::Value &file = *map->get(name);
    std::optional<StringRef> text = file.getAsString();
    if (text && isPlainName(*text))
      files[text->str()].push_back(name.str());
    else
      problems.add("tensor " + quoteName(name) +
                   ": expected the name of a file of the same folder, got " +
                   printJson(file));
  }
  if (!problems.empty())
    return problems.take();
  return files;
}

void SafetensorsModel::addEntries(const Shard &shard) {
  for (const SafetensorsTensor &tensor : shard.file.tensors())
    sorted.push_back({shard.name, &shard.file, &tensor});
}

void SafetensorsModel::sortEntries() {
  llvm::sort(sorted, [](const Entry &a, const Entry &b) {
    return a.tensor->name < b.tensor->name;
  });
}

Expected<SafetensorsModel> SafetensorsModel::open(StringRef directory) {
  SafetensorsModel model;
  std::string single = inFolder(directory, singleFile);
  std::string index = inFolder(directory, indexFile);
  if (sys::fs::exists(single)) {
    Expected<SafetensorsFile> file = SafetensorsFile::open(single);
    if (!file)
      return file.takeError();
    model.shards.push_back(
        std::make_unique<Shard>(Shard{singleFile.str(), std::move(*file)}));
    model.addEntries(*model.shards.back());
    model.sortEntries();
    return model;
  }
  if (!sys::fs::exists(index))
    return createStringError(
        inconvertibleErrorCode(),
        Twine(directory) + ": expected " + singleFile + " or " + indexFile +
            " in the folder, got neither: convert other weight formats with "
            "the safetensors package");

  Expected<WeightMap> files = readIndex(index);
  if (!files)
    return files.takeError();
  Problems problems(index + ": ");
  for (const auto &[name, tensors] : *files) {
    Expected<SafetensorsFile> file =
        SafetensorsFile::open(inFolder(directory, name));
    if (!file) {
      problems.add(file.takeError());
      continue;
    }
    for (StringRef tensor : tensors)
      if (!file->lookup(tensor))
        problems.add("expected tensor " + quoteName(tensor) + " in " + name +
                     ", got a file without it");
    for (const SafetensorsTensor &tensor : file->tensors())
      if (!llvm::binary_search(tensors, tensor.name))
        problems.add("expected every tensor of " + name +
                     " to be listed for that file, got none for " +
                     quoteName(tensor.name));
    model.shards.push_back(
        std::make_unique<Shard>(Shard{name, std::move(*file)}));
    model.addEntries(*model.shards.back());
  }
  if (!problems.empty())
    return problems.take();
  model.sortEntries();
  return model;
}

const SafetensorsModel::Entry *SafetensorsModel::lookup(StringRef name) const {
  auto found =
      llvm::lower_bound(sorted, name, [](const Entry &entry, StringRef name) {
        return entry.tensor->name < name;
      });
  if (found == sorted.end() || found->tensor->name != name)
    return nullptr;
  return &*found;
}

} // namespace attn
