//===- Npz.cpp - NumPy's .npz archives ------------------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The arrays: a header that is a Python dictionary, and dense data. Zip.cpp has
// the archive around them.
//
//===----------------------------------------------------------------------===//

#include "attn/Support/Npz.h"

#include "Zip.h"
#include "attn/Support/Json.h"
#include "attn/Support/Problems.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

using namespace llvm;

namespace attn {

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

namespace {
struct TypeInfo {
  NpyType type;
  StringLiteral name;
  StringLiteral descr;
  unsigned bytes;
};
} // namespace

static constexpr TypeInfo types[] = {
    {NpyType::F32, "f32", "<f4", 4},
    {NpyType::F64, "f64", "<f8", 8},
    {NpyType::I32, "i32", "<i4", 4},
    {NpyType::I64, "i64", "<i8", 8},
    {NpyType::Bool, "i1", "|b1", 1},
    {NpyType::U8, "u8", "|u1", 1},
    {NpyType::F16, "f16", "<f2", 2},
    {NpyType::I8, "i8", "|i1", 1},
    {NpyType::I16, "i16", "<i2", 2},
    {NpyType::BF16, "bf16", "|V2", 2},
    {NpyType::F8E4M3FN, "f8e4m3fn", "", 1},
    {NpyType::F8E4M3FNUZ, "f8e4m3fnuz", "", 1},
    {NpyType::F8E5M2, "f8e5m2", "", 1},
    {NpyType::F8E5M2FNUZ, "f8e5m2fnuz", "", 1},
    {NpyType::F4E2M1FN, "f4e2m1fn", "", 1},
};

std::optional<NpyType> npyTypeNamed(StringRef name) {
  for (const TypeInfo &type : types)
    if (type.name == name)
      return type.type;
  return std::nullopt;
}

static const TypeInfo &info(NpyType type) {
  return types[static_cast<unsigned>(type)];
}

StringRef npyTypeName(NpyType type) { return info(type).name; }
uint64_t npyTypeBytes(NpyType type) { return info(type).bytes; }

//===----------------------------------------------------------------------===//
// The header of one array
//===----------------------------------------------------------------------===//

namespace {
/// Reads the Python dictionary that is a .npy header: string keys; values are
/// strings, booleans, or tuples of integers.
class HeaderParser {
public:
  HeaderParser(StringRef text) : rest(text) {}

  std::optional<std::string> descr;
  std::optional<bool> fortranOrder;
  std::optional<SmallVector<int64_t, 4>> shape;

  /// False if the text has another form.
  bool parse() {
    if (!eat("{"))
      return false;
    while (!eat("}")) {
      std::optional<StringRef> key = string();
      if (!key || !eat(":") || !value(*key))
        return false;
      if (!eat(",") && !peek("}"))
        return false;
    }
    return rest.trim(" \n\0").empty() && descr && fortranOrder && shape;
  }

private:
  bool peek(StringRef token) {
    rest = rest.ltrim(" ");
    return rest.starts_with(token);
  }
  bool eat(StringRef token) {
    if (!peek(token))
      return false;
    rest = rest.drop_front(token.size());
    return true;
  }
  std::optional<StringRef> string() {
    if (!peek("'") && !peek("\""))
      return std::nullopt;
    size_t end = rest.find(rest.front(), 1);
    if (end == StringRef::npos)
      return std::nullopt;
    StringRef text = rest.slice(1, end);
    rest = rest.drop_front(end + 1);
    return text;
  }
  bool value(StringRef key) {
    if (key == "descr") {
      std::optional<StringRef> text = string();
      if (text)
        descr = text->str();
      return text.has_value();
    }
    if (key == "fortran_order") {
      bool yes = eat("True");
      if (!yes && !eat("False"))
        return false;
      fortranOrder = yes;
      return true;
    }
    return key == "shape" && tuple();
  }
  bool tuple() {
    SmallVector<int64_t, 4> sizes;
    if (!eat("("))
      return false;
    while (!eat(")")) {
      int64_t size;
      rest = rest.ltrim(" ");
      if (rest.consumeInteger(10, size) || size < 0)
        return false;
      rest.consume_front("L"); // Python 2 wrote long integers so.
      sizes.push_back(size);
      if (!eat(",") && !peek(")"))
        return false;
    }
    shape = std::move(sizes);
    return true;
  }

  StringRef rest;
};
} // namespace

/// Reads the .npy file `bytes` into `array`, whose name is set.
static void parseNpy(StringRef bytes, NpyArray &array, Problems &problems) {
  std::string who = "array " + quoteName(array.name);
  if (!bytes.starts_with("\x93NUMPY") || bytes.size() < 10) {
    problems.add(who + ": expected a .npy file, got other data");
    return;
  }
  unsigned version = static_cast<uint8_t>(bytes[6]);
  uint64_t prefix = version == 1 ? 10 : 12;
  if (version < 1 || version > 3 || bytes.size() < prefix) {
    problems.add(who + ": expected .npy version 1, 2 or 3, got " +
                 Twine(version));
    return;
  }
  uint64_t headerBytes = version == 1
                             ? support::endian::read16le(bytes.data() + 8)
                             : support::endian::read32le(bytes.data() + 8);
  if (headerBytes > bytes.size() - prefix) {
    problems.add(who + ": expected a header of at most " +
                 Twine(bytes.size() - prefix) + " bytes, got " +
                 Twine(headerBytes));
    return;
  }
  HeaderParser header(bytes.substr(prefix, headerBytes));
  if (!header.parse()) {
    problems.add(
        who +
        ": expected a header with descr, fortran_order and "
        "shape, got " +
        quoteName(
            bytes.substr(prefix, headerBytes).rtrim(" \n").take_front(100)));
    return;
  }
  auto known = make_filter_range(
      types, [](const TypeInfo &type) { return !type.descr.empty(); });
  // Two bytes of no known type have no order; some versions of NumPy write one.
  if (*header.descr == "<V2")
    header.descr = "|V2";
  const TypeInfo *type = find_if(types, [&](const TypeInfo &type) {
    return !type.descr.empty() && type.descr == *header.descr;
  });
  if (type == std::end(types)) {
    problems.add(
        who + ": expected an element type of " +
        join(map_range(known, [](auto &t) { return t.descr.str(); }), ", ") +
        ", got " + quoteName(*header.descr) +
        ": convert it with numpy's astype");
    return;
  }
  array.type = type->type;
  array.shape = std::move(*header.shape);
  if (*header.fortranOrder && array.shape.size() > 1) {
    problems.add(who + ": expected C order, got Fortran order: save "
                       "numpy.ascontiguousarray of it");
    return;
  }
  StringRef data = bytes.drop_front(prefix + headerBytes);
  uint64_t expected = type->bytes;
  bool overflow = false;
  for (int64_t size : array.shape)
    overflow |= __builtin_mul_overflow(expected, static_cast<uint64_t>(size),
                                       &expected);
  // An overflow next to a size of zero is still a size of zero.
  if (is_contained(array.shape, 0)) {
    expected = 0;
    overflow = false;
  }
  if (overflow || expected != data.size()) {
    std::string shapeText;
    raw_string_ostream stream(shapeText);
    interleaveComma(array.shape, stream);
    problems.add(who + ": expected " +
                 (overflow ? Twine("more than 2^64") : Twine(expected)) +
                 " bytes of data (because it is " + type->name + " (" +
                 shapeText + ")), got " + Twine(data.size()));
    return;
  }
  array.data.assign(data.bytes_begin(), data.bytes_end());
  if (array.type == NpyType::Bool)
    for (uint8_t &byte : array.data)
      byte = byte != 0;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

Expected<std::vector<NpyArray>> parseNpz(StringRef bytes, StringRef name) {
  Problems problems(name + ": ");
  std::vector<NpyArray> arrays;
  StringSet<> names;
  for (auto [memberName, data] : readZip(bytes, problems)) {
    NpyArray array;
    memberName.consume_back(".npy");
    array.name = memberName.str();
    if (!names.insert(array.name).second) {
      problems.add("expected each array once, got " + quoteName(array.name) +
                   " twice");
      continue;
    }
    parseNpy(data, array, problems);
    arrays.push_back(std::move(array));
  }
  if (!problems.empty())
    return problems.take();
  return arrays;
}

Expected<std::vector<NpyArray>> readNpz(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile(path, /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError(
        inconvertibleErrorCode(),
        Twine(path) + ": cannot read the file: " + buffer.getError().message());
  return parseNpz((*buffer)->getBuffer(), path);
}

static std::string npyBytes(const NpyArray &array) {
  std::string shape;
  for (int64_t size : array.shape)
    shape += std::to_string(size) + ", ";
  if (array.shape.size() > 1)
    shape.resize(shape.size() - 2);
  else if (array.shape.size() == 1)
    shape.resize(shape.size() - 1); // (n,)
  std::string header =
      ("{'descr': '" + info(array.type).descr +
       "', 'fortran_order': False, 'shape': (" + shape + "), }")
          .str();
  // Data start at a multiple of 64 bytes, as numpy has it.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  appendLittle(out, header.size(), 2);
  out += header;
  out.append(reinterpret_cast<const char *>(array.data.data()),
             array.data.size());
  return out;
}

Error writeNpz(StringRef path, ArrayRef<NpyArray> arrays) {
  std::vector<std::pair<std::string, std::string>> members;
  for (const NpyArray &array : arrays)
    if (info(array.type).descr.empty())
      return createStringError(inconvertibleErrorCode(),
                               Twine(path) +
                                   ": expected types that NumPy has, "
                                   "got " +
                                   npyTypeName(array.type) + " in array " +
                                   quoteName(array.name));
  for (const NpyArray &array : arrays)
    members.emplace_back(array.name + ".npy", npyBytes(array));
  std::optional<std::string> bytes = writeZip(members);
  if (!bytes)
    return createStringError(inconvertibleErrorCode(),
                             Twine(path) +
                                 ": expected less than 4 GiB and 65535 arrays "
                                 "(because a .npz without extensions holds no "
                                 "more), got more");
  std::error_code code;
  raw_fd_ostream stream(path, code);
  if (!code) {
    stream << *bytes;
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  if (code)
    return createStringError(
        code, Twine(path) + ": cannot write the file: " + code.message());
  return Error::success();
}

} // namespace attn
