//===- WeightResolver.cpp - the data behind an attn.weight ------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "attn/Target/Host/WeightResolver.h"
#include "ModelInterface.h"
#include "WeightResolverImpl.h"
#include "attn/Support/Problems.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace attn;

/// Elements that pass through memory at a time.
static constexpr int64_t chunkElements = 1 << 16;

int64_t attn::getWeightBytes(WeightOp weight) {
  int64_t bytes = getElementBytes(getTensorType(weight).getElementType());
  for (int64_t size : getTensorType(weight).getShape())
    if (llvm::MulOverflow(bytes, size, bytes))
      return -1;
  return bytes;
}

/// `F32 (384, 384)`, as the reader of files writes it.
static std::string describe(SafetensorsType type, ArrayRef<int64_t> shape) {
  std::string text = safetensorsTypeName(type).str() + " (";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(shape, os);
  os << ")";
  return text;
}

static std::optional<SafetensorsType> getFileType(Type type) {
  return llvm::TypeSwitch<Type, std::optional<SafetensorsType>>(type)
      .Case([](Float32Type) { return SafetensorsType::F32; })
      .Case([](Float64Type) { return SafetensorsType::F64; })
      .Case([](Float16Type) { return SafetensorsType::F16; })
      .Case([](BFloat16Type) { return SafetensorsType::BF16; })
      .Case([](IntegerType integer) -> std::optional<SafetensorsType> {
        switch (integer.getWidth()) {
        case 1:
          return SafetensorsType::Bool;
        case 8:
          return SafetensorsType::I8;
        case 16:
          return SafetensorsType::I16;
        case 32:
          return SafetensorsType::I32;
        case 64:
          return SafetensorsType::I64;
        default:
          return std::nullopt;
        }
      })
      .Default([](Type) { return std::nullopt; });
}

SmallString<128> WeightResolver::Impl::getPath(StringRef file) const {
  SmallString<128> path(file);
  if (!llvm::sys::path::is_absolute(path)) {
    path = sourceDir;
    llvm::sys::path::append(path, file);
  }
  return path;
}

/// The file, which the check has opened. `reported` tells that it cannot be.
SafetensorsFile *WeightResolver::Impl::open(WeightOp weight, StringRef file,
                                            bool &reported) {
  reported = false;
  SmallString<128> path = getPath(file);
  auto [it, isNew] = files.try_emplace(path);
  if (!isNew) {
    reported = !it->second;
    return it->second.get();
  }
  llvm::Expected<SafetensorsFile> opened = SafetensorsFile::open(path);
  if (!opened) {
    forEachProblem(opened.takeError(),
                   [&](const auto &problem) { weight.emitError() << problem; });
    reported = true;
    return nullptr;
  }
  it->second = std::make_unique<SafetensorsFile>(std::move(*opened));
  return it->second.get();
}

/// Null for one that cannot be read, which is reported.
llvm::MemoryBuffer *WeightResolver::Impl::open(WeightOp weight,
                                               BytesAttr bytes) {
  SmallString<128> path = getPath(bytes.getFile());
  std::unique_ptr<llvm::MemoryBuffer> &buffer = buffers[path];
  if (buffer)
    return buffer.get();
  // Large files are mapped, not read.
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> opened =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                  /*RequiresNullTerminator=*/false);
  if (!opened) {
    weight.emitError("cannot read '")
        << path << "': " << opened.getError().message();
    return nullptr;
  }
  buffer = std::move(*opened);
  return buffer.get();
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Shapes and names of parts are what the verifier of attn.weight checks; here
/// is checked what lies outside of the module.
LogicalResult WeightResolver::Impl::check(WeightOp weight) {
  if (getWeightBytes(weight) < 0)
    return weight.emitError("expected a weight whose size fits into 64 bits, "
                            "got ")
           << weight.getType();
  return llvm::TypeSwitch<Attribute, LogicalResult>(weight.getRecipe())
      .Case<SourceAttr, BytesAttr, ValueAttr>(
          [&](auto recipe) { return check(weight, recipe); })
      .Case([&](ConcatAttr concat) {
        bool failed = false;
        for (FlatSymbolRefAttr name : concat.getWeights())
          failed |= mlir::failed(check(lookup(name)));
        return failure(failed);
      })
      .Case([&](PackAttr pack) { return check(lookup(pack.getWeight())); });
}

LogicalResult WeightResolver::Impl::check(WeightOp weight, SourceAttr source) {
  bool reported;
  SafetensorsFile *file = open(weight, source.getFile(), reported);
  if (!file)
    return failure();
  const SafetensorsTensor *tensor = file->lookup(source.getTensor());
  if (!tensor)
    return weight.emitError("expected a tensor '")
           << source.getTensor() << "' in '" << file->path() << "', got "
           << file->tensors().size() << " other tensors";
  RankedTensorType type = getTensorType(weight);
  std::optional<SafetensorsType> wanted = getFileType(type.getElementType());
  bool converts =
      type.getElementType().isF32() && (tensor->type == SafetensorsType::F16 ||
                                        tensor->type == SafetensorsType::BF16);
  if (!wanted || (*wanted != tensor->type && !converts) ||
      !llvm::equal(tensor->shape, type.getShape())) {
    InFlightDiagnostic diag = weight.emitError("expected tensor '");
    diag << source.getTensor() << "' of '" << file->path() << "' to be ";
    if (wanted)
      diag << ::describe(*wanted, type.getShape());
    else
      diag << type;
    return diag << " (because @" << weight.getSymName() << " is), got "
                << describe(*tensor);
  }
  return success();
}

LogicalResult WeightResolver::Impl::check(WeightOp weight, BytesAttr bytes) {
  llvm::MemoryBuffer *buffer = open(weight, bytes);
  if (!buffer)
    return failure();
  uint64_t size = buffer->getBufferSize();
  auto offset = static_cast<uint64_t>(bytes.getOffset());
  auto wanted = static_cast<uint64_t>(getWeightBytes(weight));
  if (offset > size || wanted > size - offset)
    return weight.emitError("expected ")
           << wanted << " bytes at offset " << offset << " of '"
           << bytes.getFile() << "' (because @" << weight.getSymName() << " is "
           << weight.getType() << "), got a file of " << size;
  return success();
}

LogicalResult WeightResolver::Impl::check(WeightOp weight, ValueAttr value) {
  ElementsAttr elements = value.getElements();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob ||
        static_cast<int64_t>(blob->getData().size()) != getWeightBytes(weight))
      return weight.emitError("expected a resource of ")
             << getWeightBytes(weight) << " bytes, got "
             << (blob ? blob->getData().size() : 0);
    return success();
  }
  if (!isa<DenseElementsAttr>(elements))
    return weight.emitError("expected dense elements or a dense resource, got "
                            "another kind of constant");
  return success();
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

WeightResolver::WeightResolver(ModuleOp module, StringRef sourceDir)
    : impl(std::make_unique<Impl>(module, sourceDir)) {}
WeightResolver::~WeightResolver() = default;

LogicalResult WeightResolver::check(WeightOp weight) {
  return impl->check(weight);
}

LogicalResult
WeightResolver::stream(WeightOp weight,
                       function_ref<LogicalResult(ArrayRef<char>)> sink) {
  RankedTensorType type = getTensorType(weight);
  int64_t total = type.getNumElements();
  int64_t size = getElementBytes(type.getElementType());
  int64_t chunk = std::min(total, chunkElements);
  // Whole panels, or each would be read twice.
  if (auto pack = dyn_cast<PackAttr>(weight.getRecipe())) {
    int64_t panelSize = type.getDimSize(1) * type.getDimSize(2);
    if (panelSize > 0)
      chunk = std::max<int64_t>(1, chunkElements / panelSize) * panelSize;
  }
  std::vector<char> buffer(chunk * size);
  for (int64_t first = 0; first < total; first += chunk) {
    int64_t count = std::min(chunk, total - first);
    if (failed(impl->read(weight, first, count, buffer.data())) ||
        failed(sink(ArrayRef<char>(buffer).take_front(count * size))))
      return failure();
  }
  return success();
}

FailureOr<std::vector<char>> WeightResolver::materialize(WeightOp weight) {
  if (failed(check(weight)))
    return failure();
  std::vector<char> data;
  data.reserve(getWeightBytes(weight));
  auto append = [&](ArrayRef<char> chunk) {
    data.insert(data.end(), chunk.begin(), chunk.end());
    return success();
  };
  if (failed(stream(weight, append)))
    return failure();
  return data;
}
