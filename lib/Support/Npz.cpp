//===- Npz.cpp - NumPy's .npz archives ------------------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A zip archive is read from its end: the end record points at the central
// directory, whose entries point at local headers, which precede the data.
// All reads go through a bounds-checked cursor.
//
//===----------------------------------------------------------------------===//

#include "attn/Support/Npz.h"

#include "attn/Support/Json.h"
#include "attn/Support/Problems.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
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
    {NpyType::F32, "f32", "<f4", 4}, {NpyType::F64, "f64", "<f8", 8},
    {NpyType::I32, "i32", "<i4", 4}, {NpyType::I64, "i64", "<i8", 8},
    {NpyType::Bool, "i1", "|b1", 1}, {NpyType::U8, "u8", "|u1", 1},
};

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
  const TypeInfo *type = find_if(
      types, [&](const TypeInfo &type) { return type.descr == *header.descr; });
  if (type == std::end(types)) {
    problems.add(
        who + ": expected an element type of " +
        join(map_range(types, [](auto &t) { return t.descr.str(); }), ", ") +
        ", got " + *header.descr + ": convert it with numpy's astype");
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
// The archive, reading
//===----------------------------------------------------------------------===//

static constexpr uint32_t localMagic = 0x04034b50;
static constexpr uint32_t centralMagic = 0x02014b50;
static constexpr uint32_t endMagic = 0x06054b50;
static constexpr uint64_t localBytes = 30;
static constexpr uint64_t centralBytes = 46;
static constexpr uint64_t endBytes = 22;

namespace {
/// What the central directory says about a member.
struct Member {
  StringRef name;
  uint64_t flags, method, crc, size, storedSize, offset;
};
} // namespace

static uint64_t read(StringRef bytes, uint64_t at, unsigned size) {
  assert(at + size <= bytes.size() && "checked by the caller");
  const char *data = bytes.data() + at;
  return size == 2   ? support::endian::read16le(data)
         : size == 4 ? support::endian::read32le(data)
                     : support::endian::read64le(data);
}

/// Replaces the sizes that are all ones by those of the zip64 extra field.
/// False if the field lacks them.
static bool applyZip64(StringRef extra, Member &member) {
  constexpr uint64_t unknown = 0xffffffff;
  if (member.size != unknown && member.storedSize != unknown &&
      member.offset != unknown)
    return true;
  while (extra.size() >= 4) {
    uint64_t id = read(extra, 0, 2), size = read(extra, 2, 2);
    if (size > extra.size() - 4)
      return false;
    StringRef field = extra.substr(4, size);
    extra = extra.drop_front(4 + size);
    if (id != 1)
      continue;
    for (uint64_t *value : {&member.size, &member.storedSize, &member.offset})
      if (*value == unknown) {
        if (field.size() < 8)
          return false;
        *value = read(field, 0, 8);
        field = field.drop_front(8);
      }
    return true;
  }
  return false;
}

/// The member's bytes, none (and a problem) if they are not as the directory
/// says.
static std::optional<StringRef>
memberData(StringRef bytes, const Member &member, Problems &problems) {
  std::string who = "member " + quoteName(member.name);
  if (member.flags & 1) {
    problems.add(who + ": expected plain data, got encrypted data");
    return std::nullopt;
  }
  if (member.method != 0) {
    problems.add(who + ": expected stored data, got compression method " +
                 Twine(member.method) +
                 ": save it with numpy.savez, not numpy.savez_compressed");
    return std::nullopt;
  }
  bool valid = member.offset <= bytes.size() &&
               bytes.size() - member.offset >= localBytes &&
               read(bytes, member.offset, 4) == localMagic;
  if (valid) {
    uint64_t begin = member.offset + localBytes +
                     read(bytes, member.offset + 26, 2) +
                     read(bytes, member.offset + 28, 2);
    if (begin <= bytes.size() && member.size <= bytes.size() - begin &&
        member.size == member.storedSize) {
      StringRef data = bytes.substr(begin, member.size);
      if (crc32(arrayRefFromStringRef(data)) == member.crc)
        return data;
      problems.add(who + ": expected data with the CRC that the archive "
                         "states, got other data: the file is damaged");
      return std::nullopt;
    }
  }
  problems.add(who + ": expected its data inside the " + Twine(bytes.size()) +
               " bytes of the file, got offset " + Twine(member.offset) +
               " and size " + Twine(member.size) + ": the file is damaged");
  return std::nullopt;
}

/// Position of the end record, none if there is none.
static std::optional<uint64_t> findEnd(StringRef bytes) {
  if (bytes.size() < endBytes)
    return std::nullopt;
  // A comment of at most 2^16 - 1 bytes may follow.
  uint64_t last = bytes.size() - endBytes;
  for (uint64_t back = 0; back <= std::min<uint64_t>(last, 0xffff); ++back)
    if (read(bytes, last - back, 4) == endMagic &&
        read(bytes, last - back + 20, 2) == back)
      return last - back;
  return std::nullopt;
}

Expected<std::vector<NpyArray>> parseNpz(StringRef bytes, StringRef name) {
  Problems problems(name + ": ");
  std::optional<uint64_t> end = findEnd(bytes);
  if (!end) {
    problems.add("expected a .npz file (a zip archive), got other data or a "
                 "file that is cut off");
    return problems.take();
  }
  uint64_t count = read(bytes, *end + 10, 2);
  uint64_t at = read(bytes, *end + 16, 4);
  if (count == 0xffff || at == 0xffffffff) {
    problems.add("expected an archive of less than 4 GiB and 65535 arrays, got "
                 "a larger one");
    return problems.take();
  }

  std::vector<NpyArray> arrays;
  StringSet<> names;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t fieldBytes = 0;
    bool valid = at <= *end && *end - at >= centralBytes &&
                 read(bytes, at, 4) == centralMagic;
    if (valid) {
      fieldBytes = read(bytes, at + 28, 2) + read(bytes, at + 30, 2) +
                   read(bytes, at + 32, 2);
      valid = *end - at - centralBytes >= fieldBytes;
    }
    if (!valid) {
      problems.add("expected " + Twine(count) +
                   " entries in the archive's directory, got " + Twine(i) +
                   ": the file is damaged");
      break;
    }
    Member member;
    member.name = bytes.substr(at + centralBytes, read(bytes, at + 28, 2));
    member.flags = read(bytes, at + 8, 2);
    member.method = read(bytes, at + 10, 2);
    member.crc = read(bytes, at + 16, 4);
    member.storedSize = read(bytes, at + 20, 4);
    member.size = read(bytes, at + 24, 4);
    member.offset = read(bytes, at + 42, 4);
    StringRef extra = bytes.substr(at + centralBytes + member.name.size(),
                                   read(bytes, at + 30, 2));
    at += centralBytes + fieldBytes;
    if (!applyZip64(extra, member)) {
      problems.add("member " + quoteName(member.name) +
                   ": expected a zip64 field with its size, got none: the file "
                   "is damaged");
      continue;
    }
    std::optional<StringRef> data = memberData(bytes, member, problems);
    if (!data)
      continue;
    NpyArray array;
    member.name.consume_back(".npy");
    array.name = member.name.str();
    if (!names.insert(array.name).second) {
      problems.add("expected each array once, got " + quoteName(array.name) +
                   " twice");
      continue;
    }
    parseNpy(*data, array, problems);
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

//===----------------------------------------------------------------------===//
// The archive, writing
//===----------------------------------------------------------------------===//

static void append(std::string &out, uint64_t value, unsigned size) {
  for (unsigned i = 0; i < size; ++i)
    out.push_back(static_cast<char>(value >> (8 * i)));
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
  append(out, header.size(), 2);
  out += header;
  out.append(reinterpret_cast<const char *>(array.data.data()),
             array.data.size());
  return out;
}

/// The fields that the local and the central header share.
static void appendCommon(std::string &out, StringRef name, StringRef data) {
  append(out, 20, 2);                      // Version that can read it.
  append(out, 0, 2);                       // Flags.
  append(out, 0, 2);                       // Stored.
  append(out, 0, 2);                       // Time 0:00,
  append(out, (0 << 9) | (1 << 5) | 1, 2); // 1 January 1980: always the same.
  append(out, crc32(arrayRefFromStringRef(data)), 4);
  append(out, data.size(), 4);
  append(out, data.size(), 4);
  append(out, name.size(), 2);
  append(out, 0, 2); // Extra field.
}

Error writeNpz(StringRef path, ArrayRef<NpyArray> arrays) {
  std::string out, directory;
  for (const NpyArray &array : arrays) {
    uint64_t offset = out.size();
    std::string name = array.name + ".npy";
    std::string data = npyBytes(array);
    append(out, localMagic, 4);
    appendCommon(out, name, data);
    out += name;
    out += data;

    append(directory, centralMagic, 4);
    append(directory, 20, 2); // Version that wrote it.
    appendCommon(directory, name, data);
    append(directory, 0, 2); // Comment.
    append(directory, 0, 2); // Disk.
    append(directory, 0, 2); // Internal attributes.
    append(directory, 0, 4); // External attributes.
    append(directory, offset, 4);
    directory += name;
    if (out.size() + directory.size() > 0xffffff00 || arrays.size() >= 0xffff)
      return createStringError(inconvertibleErrorCode(),
                               Twine(path) +
                                   ": expected less than 4 GiB and 65535 "
                                   "arrays (because a .npz without extensions "
                                   "holds no more), got more");
  }
  uint64_t directoryOffset = out.size();
  out += directory;
  append(out, endMagic, 4);
  append(out, 0, 4); // Disks.
  append(out, arrays.size(), 2);
  append(out, arrays.size(), 2);
  append(out, directory.size(), 4);
  append(out, directoryOffset, 4);
  append(out, 0, 2); // Comment.

  std::error_code code;
  raw_fd_ostream stream(path, code);
  if (!code) {
    stream << out;
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
