//===- Zip.cpp - archives of stored members -------------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A zip archive is read from its end: the end record points at the central
// directory, whose entries point at local headers, which precede the data. No
// number from the file is used before it was checked.
//
//===----------------------------------------------------------------------===//

#include "Zip.h"

#include "attn/Support/Json.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"

using namespace llvm;

namespace attn {

//===----------------------------------------------------------------------===//
// Reading
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

std::vector<std::pair<StringRef, StringRef>> readZip(StringRef bytes,
                                                     Problems &problems) {
  std::vector<std::pair<StringRef, StringRef>> members;
  std::optional<uint64_t> end = findEnd(bytes);
  if (!end) {
    problems.add("expected a .npz file (a zip archive), got other data or a "
                 "file that is cut off");
    return members;
  }
  uint64_t count = read(bytes, *end + 10, 2);
  uint64_t at = read(bytes, *end + 16, 4);
  if (count == 0xffff || at == 0xffffffff) {
    problems.add("expected an archive of less than 4 GiB and 65535 arrays, got "
                 "a larger one");
    return members;
  }

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
    if (data)
      members.emplace_back(member.name, *data);
  }
  return members;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void appendLittle(std::string &out, uint64_t value, unsigned size) {
  for (unsigned i = 0; i < size; ++i)
    out.push_back(static_cast<char>(value >> (8 * i)));
}

/// The fields that the local and the central header share.
static void appendCommon(std::string &out, StringRef name, StringRef data) {
  appendLittle(out, 20, 2); // Version that can read it.
  appendLittle(out, 0, 2);  // Flags.
  appendLittle(out, 0, 2);  // Stored.
  appendLittle(out, 0, 2);  // Time 0:00,
  appendLittle(out, (0 << 9) | (1 << 5) | 1,
               2); // 1 January 1980: always the same.
  appendLittle(out, crc32(arrayRefFromStringRef(data)), 4);
  appendLittle(out, data.size(), 4);
  appendLittle(out, data.size(), 4);
  appendLittle(out, name.size(), 2);
  appendLittle(out, 0, 2); // Extra field.
}

std::optional<std::string>
writeZip(ArrayRef<std::pair<std::string, std::string>> members) {
  if (members.size() >= 0xffff)
    return std::nullopt;
  std::string out, directory;
  for (const auto &[name, data] : members) {
    uint64_t offset = out.size();
    appendLittle(out, localMagic, 4);
    appendCommon(out, name, data);
    out += name;
    out += data;

    appendLittle(directory, centralMagic, 4);
    appendLittle(directory, 20, 2); // Version that wrote it.
    appendCommon(directory, name, data);
    appendLittle(directory, 0, 2); // Comment.
    appendLittle(directory, 0, 2); // Disk.
    appendLittle(directory, 0, 2); // Internal attributes.
    appendLittle(directory, 0, 4); // External attributes.
    appendLittle(directory, offset, 4);
    directory += name;
    if (out.size() + directory.size() > 0xffffff00)
      return std::nullopt;
  }
  uint64_t directoryOffset = out.size();
  out += directory;
  appendLittle(out, endMagic, 4);
  appendLittle(out, 0, 4); // Disks.
  appendLittle(out, members.size(), 2);
  appendLittle(out, members.size(), 2);
  appendLittle(out, directory.size(), 4);
  appendLittle(out, directoryOffset, 4);
  appendLittle(out, 0, 2); // Comment.
  return out;
}

} // namespace attn
