//===- Safetensors.cpp - reader of one safetensors file -------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Three steps: the header's extent, each tensor on its own, and all tensors
// together (they must cover the data once: no overlap, no hole, no rest).
// Problems are collected, so that one look at the message is enough.
//
//===----------------------------------------------------------------------===//

#include "attn/Import/Safetensors.h"

#include "attn/Support/Json.h"
#include "attn/Support/Problems.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"

#include <tuple>

using namespace llvm;

namespace attn {

/// The format's own limit on the header.
static constexpr uint64_t maxHeaderBytes = 100'000'000;

//===----------------------------------------------------------------------===//
// One tensor
//===----------------------------------------------------------------------===//

/// a * b, none if it does not fit.
static std::optional<uint64_t> multiply(uint64_t a, uint64_t b) {
  uint64_t product;
  if (__builtin_mul_overflow(a, b, &product))
    return std::nullopt;
  return product;
}

/// An array of non-negative integers, none if it is anything else.
static std::optional<SmallVector<int64_t, 4>>
readSizes(const json::Value *value) {
  const json::Array *array = value ? value->getAsArray() : nullptr;
  if (!array)
    return std::nullopt;
  SmallVector<int64_t, 4> sizes;
  for (const json::Value &element : *array) {
    std::optional<int64_t> size = element.getAsInteger();
    if (!size || *size < 0)
      return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

static std::string got(const json::Value *value) {
  return value ? printJson(*value) : "nothing";
}

/// Reads what the header says about one tensor. Adds to `problems` and returns
/// none if that is not possible.
static std::optional<SafetensorsTensor> readTensor(StringRef name,
                                                   const json::Value &value,
                                                   uint64_t dataBytes,
                                                   Problems &problems) {
  std::string who = "tensor " + quoteName(name);
  const json::Object *object = value.getAsObject();
  if (!object) {
    problems.add(who +
                 ": expected an object with dtype, shape and "
                 "data_offsets, got " +
                 printJson(value));
    return std::nullopt;
  }

  SafetensorsTensor tensor;
  tensor.name = name.str();
  bool valid = true;

  std::optional<StringRef> typeName = object->getString("dtype");
  std::optional<SafetensorsType> type =
      typeName ? safetensorsTypeNamed(*typeName) : std::nullopt;
  if (type) {
    tensor.type = *type;
  } else {
    valid = false;
    problems.add(who + ": expected a dtype of " + safetensorsTypeNames() +
                 ", got " + got(object->get("dtype")));
  }

  std::optional<SmallVector<int64_t, 4>> shape =
      readSizes(object->get("shape"));
  if (shape) {
    tensor.shape = std::move(*shape);
  } else {
    valid = false;
    problems.add(who + ": expected a shape of non-negative integers, got " +
                 got(object->get("shape")));
  }

  std::optional<SmallVector<int64_t, 4>> offsets =
      readSizes(object->get("data_offsets"));
  if (!offsets || offsets->size() != 2 || (*offsets)[0] > (*offsets)[1]) {
    problems.add(who +
                 ": expected data_offsets [begin, end] with begin <= "
                 "end, got " +
                 got(object->get("data_offsets")));
    return std::nullopt;
  }
  tensor.begin = (*offsets)[0];
  tensor.end = (*offsets)[1];
  if (tensor.end > dataBytes) {
    valid = false;
    problems.add(who + ": expected data_offsets of at most " +
                 Twine(dataBytes) + " (because the file has " +
                 Twine(dataBytes) + " bytes of data), got [" +
                 Twine(tensor.begin) + ", " + Twine(tensor.end) + "]");
  }
  if (!valid)
    return std::nullopt;

  std::optional<uint64_t> bytes = safetensorsTypeBytes(tensor.type);
  // A size of zero makes any other size harmless.
  if (is_contained(tensor.shape, 0))
    bytes = 0;
  else
    for (int64_t size : tensor.shape)
      bytes = bytes ? multiply(*bytes, size) : std::nullopt;
  if (!bytes || *bytes != tensor.end - tensor.begin) {
    problems.add(who + ": expected " +
                 (bytes ? Twine(*bytes) : Twine("more than 2^64")) +
                 " bytes (because it is " + describe(tensor) + "), got " +
                 Twine(tensor.end - tensor.begin) + " in data_offsets [" +
                 Twine(tensor.begin) + ", " + Twine(tensor.end) + "]");
    return std::nullopt;
  }
  return tensor;
}

//===----------------------------------------------------------------------===//
// All tensors together
//===----------------------------------------------------------------------===//

/// Checks that the tensors, in the order of their data, cover it once.
static void checkCoverage(ArrayRef<SafetensorsTensor> tensors,
                          uint64_t dataBytes, Problems &problems) {
  uint64_t covered = 0;
  StringRef last;
  for (const SafetensorsTensor &tensor : tensors) {
    if (tensor.begin < covered && tensor.begin != tensor.end)
      problems.add("tensor " + quoteName(tensor.name) +
                   ": expected data that begin at byte " + Twine(covered) +
                   " or later (because tensor " + quoteName(last) +
                   " ends there), got " + Twine(tensor.begin));
    else if (tensor.begin > covered)
      problems.add("expected a tensor for bytes [" + Twine(covered) + ", " +
                   Twine(tensor.begin) +
                   ") of the data (because tensors leave no holes), got none "
                   "before tensor " +
                   quoteName(tensor.name));
    if (tensor.end > covered) {
      covered = tensor.end;
      last = tensor.name;
    }
  }
  if (covered < dataBytes)
    problems.add("expected the tensors to end with the file at byte " +
                 Twine(dataBytes) + " of the data, got an end at byte " +
                 Twine(covered));
}

/// `__metadata__` is free text from the writer; only its form is checked.
static void checkMetadata(const json::Value &value, Problems &problems) {
  const json::Object *object = value.getAsObject();
  if (!object || !all_of(*object, [](const auto &entry) {
        return entry.second.kind() == json::Value::String;
      }))
    problems.add("expected __metadata__ to map strings to strings, got " +
                 printJson(value));
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

SafetensorsFile::SafetensorsFile(SafetensorsFile &&) = default;
SafetensorsFile &SafetensorsFile::operator=(SafetensorsFile &&) = default;
SafetensorsFile::~SafetensorsFile() = default;

Expected<SafetensorsFile> SafetensorsFile::open(StringRef path) {
  // Large regular files are mapped, not read.
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile(path, /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError(
        inconvertibleErrorCode(),
        Twine(path) + ": cannot read the file: " + buffer.getError().message());
  return parse(std::move(*buffer));
}

Expected<SafetensorsFile>
SafetensorsFile::parse(std::unique_ptr<MemoryBuffer> buffer) {
  std::string path = buffer->getBufferIdentifier().str();
  StringRef bytes = buffer->getBuffer();
  Problems problems(path + ": ");

  if (bytes.size() < 8) {
    problems.add("expected a safetensors file, which begins with an 8 byte "
                 "header size, got " +
                 Twine(bytes.size()) + " bytes in all");
    return problems.take();
  }
  uint64_t headerBytes = support::endian::read64le(bytes.data());
  uint64_t available = bytes.size() - 8;
  if (headerBytes > available) {
    problems.add("expected a header of at most " + Twine(available) +
                 " bytes (because the file has " + Twine(bytes.size()) +
                 "), got a header size of " + Twine(headerBytes) +
                 ": the file is cut off or is not a safetensors file");
    return problems.take();
  }
  if (headerBytes > maxHeaderBytes) {
    problems.add("expected a header of at most " + Twine(maxHeaderBytes) +
                 " bytes (because the format limits it), got " +
                 Twine(headerBytes));
    return problems.take();
  }

  Expected<json::Object> header =
      parseJsonObject(bytes.substr(8, headerBytes), path + ": header");
  if (!header)
    return header.takeError();

  SafetensorsFile file;
  file.dataBegin = 8 + headerBytes;
  uint64_t dataBytes = bytes.size() - file.dataBegin;
  // json::Object has no order; messages must not depend on its hashing.
  SmallVector<StringRef> names;
  for (const auto &entry : *header)
    names.push_back(entry.first);
  llvm::sort(names);
  for (StringRef name : names) {
    const json::Value &value = *header->get(name);
    if (name == "__metadata__")
      checkMetadata(value, problems);
    else if (std::optional<SafetensorsTensor> tensor =
                 readTensor(name, value, dataBytes, problems))
      file.list.push_back(std::move(*tensor));
  }
  llvm::sort(file.list, [](const SafetensorsTensor &a,
                           const SafetensorsTensor &b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  // With a tensor missing from the list a hole would be reported in its place.
  if (problems.empty())
    checkCoverage(file.list, dataBytes, problems);
  if (!problems.empty())
    return problems.take();

  for (auto [position, tensor] : enumerate(file.list))
    file.index[tensor.name] = position;
  file.buffer = std::move(buffer);
  return file;
}

StringRef SafetensorsFile::path() const {
  return buffer->getBufferIdentifier();
}

const SafetensorsTensor *SafetensorsFile::lookup(StringRef name) const {
  auto found = index.find(name);
  return found == index.end() ? nullptr : &list[found->second];
}

ArrayRef<uint8_t> SafetensorsFile::data(const SafetensorsTensor &tensor) const {
  StringRef bytes = buffer->getBuffer().substr(dataBegin + tensor.begin,
                                               tensor.end - tensor.begin);
  return arrayRefFromStringRef(bytes);
}

} // namespace attn
