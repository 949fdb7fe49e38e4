//===- WeightResolver.cpp - the data behind an attn.weight ------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "attn/Target/Host/WeightResolver.h"
#include "ModelInterface.h"
#include "attn/Import/Safetensors.h"
#include "attn/Support/Problems.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace attn;

/// Elements that pass through memory at a time.
static constexpr int64_t chunkElements = 1 << 16;

static RankedTensorType getTensorType(WeightOp weight) {
  return cast<RankedTensorType>(weight.getType());
}

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
        }
        return std::nullopt;
      })
      .Default([](Type) { return std::nullopt; });
}

struct WeightResolver::Impl {
  ModuleOp module;
  std::string sourceDir;
  SymbolTable symbols;
  /// Open files by path; a null one failed and was reported.
  llvm::StringMap<std::unique_ptr<SafetensorsFile>> files;

  Impl(ModuleOp module, StringRef sourceDir)
      : module(module), sourceDir(sourceDir.str()), symbols(module) {}

  WeightOp lookup(FlatSymbolRefAttr name) {
    return symbols.lookup<WeightOp>(name.getAttr());
  }
  SafetensorsFile *open(WeightOp weight, StringRef file, bool &reported);

  LogicalResult check(WeightOp weight);
  LogicalResult check(WeightOp weight, SourceAttr source);
  LogicalResult check(WeightOp weight, ValueAttr value);

  /// Elements [first, first + count) of a checked weight, to `out`.
  LogicalResult read(WeightOp weight, int64_t first, int64_t count, char *out);
  LogicalResult read(WeightOp weight, SourceAttr source, int64_t first,
                     int64_t count, char *out);
  LogicalResult read(WeightOp weight, ValueAttr value, int64_t first,
                     int64_t count, char *out);
  LogicalResult read(WeightOp weight, ConcatAttr concat, int64_t first,
                     int64_t count, char *out);
  LogicalResult read(WeightOp weight, PackAttr pack, int64_t first,
                     int64_t count, char *out);
};

/// The file, which the check has opened. `reported` tells that it cannot be.
SafetensorsFile *WeightResolver::Impl::open(WeightOp weight, StringRef file,
                                            bool &reported) {
  reported = false;
  SmallString<128> path(file);
  if (!llvm::sys::path::is_absolute(path)) {
    path = sourceDir;
    llvm::sys::path::append(path, file);
  }
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
      .Case<SourceAttr, ValueAttr>(
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
// Data
//===----------------------------------------------------------------------===//

LogicalResult WeightResolver::Impl::read(WeightOp weight, int64_t first,
                                         int64_t count, char *out) {
  return llvm::TypeSwitch<Attribute, LogicalResult>(weight.getRecipe())
      .Case<SourceAttr, ValueAttr, ConcatAttr, PackAttr>(
          [&](auto recipe) { return read(weight, recipe, first, count, out); });
}

LogicalResult WeightResolver::Impl::read(WeightOp weight, SourceAttr source,
                                         int64_t first, int64_t count,
                                         char *out) {
  bool reported;
  SafetensorsFile *file = open(weight, source.getFile(), reported);
  const SafetensorsTensor *tensor =
      file ? file->lookup(source.getTensor()) : nullptr;
  if (!tensor)
    return weight.emitError("the weight was not checked");
  if (getTensorType(weight).getElementType().isF32()) {
    llvm::Error error = readFloats(
        *file, *tensor, first,
        llvm::MutableArrayRef<float>(reinterpret_cast<float *>(out), count));
    if (error)
      return weight.emitError() << llvm::toString(std::move(error));
    return success();
  }
  int64_t size = getElementBytes(getTensorType(weight).getElementType());
  memcpy(out, file->data(*tensor).data() + first * size, count * size);
  return success();
}

LogicalResult WeightResolver::Impl::read(WeightOp weight, ValueAttr value,
                                         int64_t first, int64_t count,
                                         char *out) {
  int64_t size = getElementBytes(getTensorType(weight).getElementType());
  if (auto resource =
          dyn_cast<DenseResourceElementsAttr>(value.getElements())) {
    ArrayRef<char> data = resource.getRawHandle().getBlob()->getData();
    memcpy(out, data.data() + first * size, count * size);
    return success();
  }
  auto dense = cast<DenseElementsAttr>(value.getElements());
  if (dense.getElementType().isInteger(1)) { // stored as bits
    auto values = dense.getValues<bool>();
    for (int64_t i = 0; i < count; ++i)
      out[i] = values[first + i];
    return success();
  }
  ArrayRef<char> data = dense.getRawData();
  if (!dense.isSplat()) {
    memcpy(out, data.data() + first * size, count * size);
    return success();
  }
  for (int64_t i = 0; i < count; ++i)
    memcpy(out + i * size, data.data(), size);
  return success();
}

/// Seen as (outer, axis, inner), a part is a run of axis * inner elements in
/// each outer index; the range is cut at the borders of those runs.
LogicalResult WeightResolver::Impl::read(WeightOp weight, ConcatAttr concat,
                                         int64_t first, int64_t count,
                                         char *out) {
  RankedTensorType type = getTensorType(weight);
  int64_t size = getElementBytes(type.getElementType()), inner = 1;
  for (int64_t d = concat.getAxis() + 1; d < type.getRank(); ++d)
    inner *= type.getDimSize(d);
  int64_t row = type.getDimSize(concat.getAxis()) * inner;
  while (count > 0) {
    int64_t outer = first / row, start = 0, at = first % row;
    for (FlatSymbolRefAttr name : concat.getWeights()) {
      WeightOp part = lookup(name);
      int64_t run = getTensorType(part).getDimSize(concat.getAxis()) * inner;
      if (at < start + run && count > 0) {
        int64_t offset = at - start;
        int64_t length = std::min(run - offset, count);
        if (failed(read(part, outer * run + offset, length, out)))
          return failure();
        at += length;
        first += length;
        count -= length;
        out += length * size;
      }
      start += run;
    }
  }
  return success();
}

/// A panel holds `panel` rows of the matrix with the columns outermost: those
/// rows are read once and transposed.
LogicalResult WeightResolver::Impl::read(WeightOp weight, PackAttr pack,
                                         int64_t first, int64_t count,
                                         char *out) {
  WeightOp part = lookup(pack.getWeight());
  RankedTensorType from = getTensorType(part);
  int64_t size = getElementBytes(from.getElementType());
  int64_t rows = from.getDimSize(0), columns = from.getDimSize(1);
  int64_t panel = pack.getPanel(), panelSize = panel * columns;
  std::vector<char> matrix(panelSize * size);
  while (count > 0) {
    int64_t number = first / panelSize, begin = first % panelSize;
    int64_t length = std::min(panelSize - begin, count);
    int64_t valid = std::min(panel, rows - number * panel);
    if (failed(read(part, number * panelSize, valid * columns, matrix.data())))
      return failure();
    for (int64_t i = begin; i < begin + length; ++i, out += size) {
      int64_t column = i / panel, r = i % panel;
      if (r < valid)
        memcpy(out, &matrix[(r * columns + column) * size], size);
      else
        memset(out, 0, size);
    }
    first += length;
    count -= length;
  }
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
