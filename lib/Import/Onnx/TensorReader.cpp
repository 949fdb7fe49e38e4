//===- TensorReader.cpp - TensorProto and where its data are --------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A tensor's data are raw bytes, a list of numbers in one of five fields, or a
// range of another file. The first and last stay where they are; of the lists
// only those that a file holds as bytes (packed floats) do.
//
//===----------------------------------------------------------------------===//

#include "TensorReader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <optional>

using namespace llvm;

namespace attn::onnx {

/// More would be no tensor that any operator takes, and makes messages long.
static constexpr size_t maxRank = 64;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

namespace {
struct TypeRow {
  ElementType type;
  StringLiteral name;
  unsigned bits;
  /// The field of TensorProto that lists its elements as numbers.
  uint32_t field;
};
enum : uint32_t {
  FloatData = 4,
  Int32Data = 5,
  StringData = 6,
  Int64Data = 7,
  DoubleData = 10,
  UInt64Data = 11
};
} // namespace

static constexpr TypeRow typeRows[] = {
    {ElementType::Undefined, "UNDEFINED", 0, 0},
    {ElementType::Float, "FLOAT", 32, FloatData},
    {ElementType::UInt8, "UINT8", 8, Int32Data},
    {ElementType::Int8, "INT8", 8, Int32Data},
    {ElementType::UInt16, "UINT16", 16, Int32Data},
    {ElementType::Int16, "INT16", 16, Int32Data},
    {ElementType::Int32, "INT32", 32, Int32Data},
    {ElementType::Int64, "INT64", 64, Int64Data},
    {ElementType::String, "STRING", 0, StringData},
    {ElementType::Bool, "BOOL", 8, Int32Data},
    {ElementType::Float16, "FLOAT16", 16, Int32Data},
    {ElementType::Double, "DOUBLE", 64, DoubleData},
    {ElementType::UInt32, "UINT32", 32, UInt64Data},
    {ElementType::UInt64, "UINT64", 64, UInt64Data},
    {ElementType::Complex64, "COMPLEX64", 64, FloatData},
    {ElementType::Complex128, "COMPLEX128", 128, DoubleData},
    {ElementType::BFloat16, "BFLOAT16", 16, Int32Data},
    {ElementType::Float8E4M3FN, "FLOAT8E4M3FN", 8, Int32Data},
    {ElementType::Float8E4M3FNUZ, "FLOAT8E4M3FNUZ", 8, Int32Data},
    {ElementType::Float8E5M2, "FLOAT8E5M2", 8, Int32Data},
    {ElementType::Float8E5M2FNUZ, "FLOAT8E5M2FNUZ", 8, Int32Data},
    {ElementType::UInt4, "UINT4", 4, Int32Data},
    {ElementType::Int4, "INT4", 4, Int32Data},
    {ElementType::Float4E2M1, "FLOAT4E2M1", 4, Int32Data},
};

static const TypeRow *lookupRow(ElementType type) {
  const auto *row =
      find_if(typeRows, [&](const TypeRow &row) { return row.type == type; });
  return row == std::end(typeRows) ? nullptr : row;
}

std::string elementTypeName(ElementType type) {
  if (const TypeRow *row = lookupRow(type))
    return row->name.str();
  return ("type " + Twine(static_cast<int32_t>(type))).str();
}

unsigned elementTypeBits(ElementType type) {
  const TypeRow *row = lookupRow(type);
  return row ? row->bits : 0;
}

std::string describe(ElementType type, ArrayRef<int64_t> shape) {
  std::string text = elementTypeName(type) + " (";
  raw_string_ostream stream(text);
  interleaveComma(shape, stream);
  stream << ")";
  return text;
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

/// StringStringEntryProto.
static Error readEntry(Span message, std::pair<StringRef, StringRef> &entry) {
  return forEachField(message, [&](const Field &field) -> Error {
    if (field.number == 1)
      return field.get(entry.first);
    if (field.number == 2)
      return field.get(entry.second);
    return Error::success();
  });
}

Error TensorReader::readFields(Span message, Tensor &tensor, Parts &parts) {
  std::vector<int64_t> shape;
  Error error = forEachField(message, [&](const Field &field) -> Error {
    auto isTyped = [&] {
      parts.hasOtherField |=
          parts.typedField && parts.typedField != field.number;
      parts.typedField = field.number;
    };
    int64_t number = 0;
    switch (field.number) {
    case 1:
      return field.append(shape);
    case 2:
      if (Error error = field.get(number))
        return error;
      tensor.type = isInt<32>(number) ? static_cast<ElementType>(number)
                                      : ElementType::Undefined;
      return Error::success();
    case 3:
      parts.hasSegment = true;
      return Error::success();
    case FloatData:
    case DoubleData:
      isTyped();
      if (field.wire == Field::Wire::Varint)
        return field.get(parts.raw); // Always an error.
      parts.packed.push_back(field.bytes);
      return Error::success();
    case Int32Data:
    case Int64Data:
    case UInt64Data:
      isTyped();
      return field.append(parts.integers);
    case StringData:
      isTyped();
      return Error::success();
    case 8:
      return field.get(tensor.name);
    case 9:
      parts.hasRaw = true;
      return field.get(parts.raw);
    case 13: {
      Span entry;
      if (Error error = field.get(entry))
        return error;
      parts.externalEntries.emplace_back();
      return readEntry(entry, parts.externalEntries.back());
    }
    case 14:
      if (Error error = field.get(number))
        return error;
      parts.isExternal = number == 1;
      return Error::success();
    default:
      return Error::success();
    }
  });
  tensor.shape.assign(shape.begin(), shape.end());
  return error;
}

/// Bytes of `shape` elements of `type`, none if that passes 63 bits.
static std::optional<uint64_t>
countBytes(ElementType type, ArrayRef<int64_t> shape, uint64_t &count) {
  count = 1;
  // A size of zero makes any other size harmless.
  if (is_contained(shape, 0)) {
    count = 0;
    return 0;
  }
  for (int64_t size : shape)
    if (size < 0 ||
        __builtin_mul_overflow(count, static_cast<uint64_t>(size), &count))
      return std::nullopt;
  uint64_t bits;
  if (__builtin_mul_overflow(count, elementTypeBits(type), &bits) ||
      bits > uint64_t(INT64_MAX))
    return std::nullopt;
  return divideCeil(bits, 8);
}

Error TensorReader::read(Span message, Tensor &tensor) {
  Parts parts;
  if (Error error = readFields(message, tensor, parts))
    return error;
  if (tensor.shape.size() > maxRank)
    return makeWireError("expected at most " + Twine(maxRank) +
                         " dimensions, got " + Twine(tensor.shape.size()));
  std::string what = describe(tensor.type, tensor.shape);
  if (elementTypeBits(tensor.type) == 0)
    return makeWireError("expected elements of numbers or BOOL, got " + what);
  if (any_of(tensor.shape, [](int64_t size) { return size < 0; }))
    return makeWireError("expected sizes of 0 or more, got " + what);
  uint64_t count = 0;
  std::optional<uint64_t> bytes = countBytes(tensor.type, tensor.shape, count);
  if (!bytes)
    return makeWireError("expected a size that fits into 63 bits, got " + what);
  if (parts.hasSegment)
    return makeWireError("expected a tensor in one piece, got a segment");
  if (parts.isExternal + parts.hasRaw + (parts.typedField != 0) > 1 ||
      parts.hasOtherField)
    return makeWireError(
        "expected data in one place (raw_data, one list of numbers, or another "
        "file), got several");
  if (parts.isExternal)
    return readExternal(tensor, parts, *bytes);
  if (!parts.hasRaw)
    return readTyped(tensor, parts, count);
  if (parts.raw.data.size() != *bytes)
    return makeWireError("expected " + Twine(*bytes) +
                         " bytes of raw_data (because it is " + what +
                         "), got " + Twine(parts.raw.data.size()));
  tensor.data = arrayRefFromStringRef(parts.raw.data);
  tensor.offset = parts.raw.offset;
  tensor.file = sys::path::filename(storage.buffer->getBufferIdentifier());
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Lists of numbers
//===----------------------------------------------------------------------===//

Error TensorReader::readTyped(Tensor &tensor, const Parts &parts,
                              uint64_t count) {
  const TypeRow &row = *lookupRow(tensor.type);
  std::string what = describe(tensor.type, tensor.shape);
  if (parts.typedField && parts.typedField != row.field)
    return makeWireError("expected the numbers of " + what + " in field " +
                         Twine(row.field) + " of the tensor, got field " +
                         Twine(parts.typedField));
  auto wrongCount = [&](uint64_t wanted, uint64_t got, StringRef unit) {
    return makeWireError("expected " + Twine(wanted) + " " + unit +
                         " (because it is " + what + "), got " + Twine(got));
  };
  if (row.field == FloatData || row.field == DoubleData) {
    uint64_t wanted = count * row.bits / 8, total = 0;
    for (const Span &part : parts.packed)
      total += part.data.size();
    if (total != wanted)
      return wrongCount(wanted, total, "bytes of numbers");
    if (parts.packed.size() == 1) {
      tensor.data = arrayRefFromStringRef(parts.packed.front().data);
      tensor.offset = parts.packed.front().offset;
      tensor.file = sys::path::filename(storage.buffer->getBufferIdentifier());
      return Error::success();
    }
    std::vector<uint8_t> &data = storage.converted.emplace_back();
    data.reserve(total);
    for (const Span &part : parts.packed)
      append_range(data, arrayRefFromStringRef(part.data));
    tensor.data = data;
    return Error::success();
  }
  // Two elements of 4 bits are one number.
  uint64_t wanted = row.bits == 4 ? divideCeil(count, 2) : count;
  if (parts.integers.size() != wanted)
    return wrongCount(wanted, parts.integers.size(), "numbers");
  unsigned size = row.bits == 4 ? 1 : row.bits / 8;
  std::vector<uint8_t> &data = storage.converted.emplace_back();
  data.reserve(wanted * size);
  for (int64_t number : parts.integers)
    for (unsigned i = 0; i < size; ++i)
      data.push_back(
          static_cast<uint8_t>(static_cast<uint64_t>(number) >> (8 * i)));
  tensor.data = data;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Other files
//===----------------------------------------------------------------------===//

Expected<MemoryBuffer *> TensorReader::openExternal(StringRef location) {
  auto [entry, isNew] = storage.external.try_emplace(location);
  if (!isNew && entry->second)
    return entry->second.get();
  auto refuse = [&](const Twine &reason) {
    return makeWireError("expected the name of a file in the model's folder "
                         "for external data, got '" +
                         location + "'" + reason);
  };
  // Names come from the file: nothing but parts that go down.
  if (location.empty() || location.contains('\0') ||
      sys::path::is_absolute(location) ||
      any_of(make_range(sys::path::begin(location), sys::path::end(location)),
             [](StringRef part) { return part == ".."; }))
    return refuse("");
  SmallString<256> path(folder.empty() ? "." : folder), realPath, realFolder;
  std::error_code code = sys::fs::real_path(path, realFolder);
  sys::path::append(path, location);
  if (!code)
    code = sys::fs::real_path(path, realPath);
  if (code)
    return refuse(": " + code.message());
  // A link could still lead out.
  if (!sys::path::is_separator(realFolder.back()))
    realFolder.push_back('/');
  if (!StringRef(realPath).starts_with(realFolder))
    return refuse(", which leads to '" + realPath +
                  "': copy the file into the folder");
  if (!sys::fs::is_regular_file(realPath))
    return refuse(", which is no file");
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile(path, /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return refuse(": " + buffer.getError().message());
  entry->second = std::move(*buffer);
  return entry->second.get();
}

Error TensorReader::readExternal(Tensor &tensor, const Parts &parts,
                                 uint64_t bytes) {
  StringRef location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
  for (auto [key, value] : parts.externalEntries) {
    uint64_t number = 0;
    if (key == "location") {
      location = value;
    } else if (key == "offset" || key == "length") {
      if (value.getAsInteger(10, number))
        return makeWireError("expected the " + key +
                             " of external data to be a number, got '" + value +
                             "'");
      if (key == "offset")
        offset = number;
      else
        length = number;
    }
  }
  Expected<MemoryBuffer *> buffer = openExternal(location);
  if (!buffer)
    return buffer.takeError();
  uint64_t size = (*buffer)->getBufferSize();
  // Without a length: the rest of the file.
  uint64_t available = offset <= size ? size - offset : 0;
  if (offset > size || length.value_or(available) > available)
    return makeWireError(
        "expected external data within the " + Twine(size) + " bytes of '" +
        location + "', got offset " + Twine(offset) +
        (length ? " and length " + Twine(*length) : Twine("")));
  if (length.value_or(available) != bytes)
    return makeWireError(
        "expected " + Twine(bytes) + " bytes of external data (because it is " +
        describe(tensor.type, tensor.shape) + "), got " +
        Twine(length.value_or(available)) + " in '" + location + "'");
  tensor.data =
      arrayRefFromStringRef((*buffer)->getBuffer().substr(offset, bytes));
  tensor.file = location;
  tensor.offset = offset;
  return Error::success();
}

} // namespace attn::onnx
