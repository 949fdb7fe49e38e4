//===- Wire.cpp - fields of a protobuf message ----------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Wire.h. Positions only ever grow, and a length is compared with what is
// left, never added to a position: nothing here can overflow or loop for ever.
//
//===----------------------------------------------------------------------===//

#include "Wire.h"

#include "llvm/Support/Endian.h"

#include <cstring>
#include <optional>

using namespace llvm;

namespace attn::onnx {

Error makeWireError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

Error within(const Twine &place, Error error) {
  if (!error)
    return Error::success();
  return makeWireError(place + ": " + toString(std::move(error)));
}

/// Takes a number of at most 10 bytes from the front; none if it does not end.
static std::optional<uint64_t> takeVarint(StringRef &data) {
  uint64_t value = 0;
  for (unsigned i = 0; i < 10 && i < data.size(); ++i) {
    auto byte = static_cast<uint8_t>(data[i]);
    // The tenth byte holds one bit.
    if (i == 9 && byte > 1)
      return std::nullopt;
    value |= uint64_t(byte & 0x7f) << (7 * i);
    if (!(byte & 0x80)) {
      data = data.drop_front(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

template <typename Bits> static Bits readLittle(StringRef data) {
  return support::endian::read<Bits, endianness::little>(data.data());
}

//===----------------------------------------------------------------------===//
// Values of a field
//===----------------------------------------------------------------------===//

static Error expected(const Field &field, StringRef what) {
  static constexpr StringLiteral names[] = {
      "a varint", "8 bytes", "bytes with a length", "", "", "4 bytes"};
  return makeWireError("expected field " + Twine(field.number) + " at byte " +
                       Twine(field.offset) + " to be " + what + ", got " +
                       names[static_cast<unsigned>(field.wire)]);
}

Error Field::get(int64_t &value) const {
  if (wire != Wire::Varint)
    return expected(*this, "a varint");
  value = static_cast<int64_t>(bits);
  return Error::success();
}

Error Field::get(float &value) const {
  if (wire != Wire::Fixed32)
    return expected(*this, "4 bytes");
  auto low = static_cast<uint32_t>(bits);
  memcpy(&value, &low, sizeof(value));
  return Error::success();
}

Error Field::get(StringRef &value) const {
  if (wire != Wire::Bytes)
    return expected(*this, "bytes with a length");
  value = bytes.data;
  return Error::success();
}

Error Field::get(Span &value) const {
  if (wire != Wire::Bytes)
    return expected(*this, "bytes with a length");
  value = bytes;
  return Error::success();
}

Error Field::append(std::vector<int64_t> &values) const {
  if (wire == Wire::Varint) {
    values.push_back(static_cast<int64_t>(bits));
    return Error::success();
  }
  if (wire != Wire::Bytes)
    return expected(*this, "a varint or a packed list of them");
  StringRef rest = bytes.data;
  while (!rest.empty()) {
    std::optional<uint64_t> value = takeVarint(rest);
    if (!value)
      return makeWireError(
          "expected a varint of at most 10 bytes at byte " +
          Twine(bytes.offset + bytes.data.size() - rest.size()) +
          ", got one that does not end");
    values.push_back(static_cast<int64_t>(*value));
  }
  return Error::success();
}

Error Field::append(std::vector<float> &values) const {
  if (wire == Wire::Fixed32) {
    values.emplace_back();
    return get(values.back());
  }
  if (wire != Wire::Bytes || bytes.data.size() % sizeof(float) != 0)
    return expected(*this, "4 bytes or a packed list of them");
  for (size_t i = 0; i < bytes.data.size(); i += sizeof(float)) {
    auto number = readLittle<uint32_t>(bytes.data.drop_front(i));
    values.emplace_back();
    memcpy(&values.back(), &number, sizeof(float));
  }
  return Error::success();
}

Error Field::append(std::vector<StringRef> &values) const {
  values.emplace_back();
  return get(values.back());
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Takes the value that follows a tag from the front of `rest`.
static Error takeValue(StringRef &rest, const Span &message, Field &field) {
  auto position = [&] {
    return message.offset + (message.data.size() - rest.size());
  };
  auto takeFixed = [&](size_t size) -> Error {
    if (rest.size() < size)
      return makeWireError("expected " + Twine(size) + " bytes at byte " +
                           Twine(position()) + ", got " + Twine(rest.size()) +
                           ": is the file cut off?");
    field.bytes = {rest.take_front(size), position()};
    field.bits =
        size == 4 ? readLittle<uint32_t>(rest) : readLittle<uint64_t>(rest);
    rest = rest.drop_front(size);
    return Error::success();
  };
  switch (field.wire) {
  case Field::Wire::Fixed32:
    return takeFixed(4);
  case Field::Wire::Fixed64:
    return takeFixed(8);
  case Field::Wire::Varint:
  case Field::Wire::Bytes:
    break;
  }
  std::optional<uint64_t> number = takeVarint(rest);
  if (!number)
    return makeWireError("expected a varint of at most 10 bytes at byte " +
                         Twine(position()) + ", got one that does not end");
  if (field.wire == Field::Wire::Varint) {
    field.bits = *number;
    return Error::success();
  }
  if (*number > rest.size())
    return makeWireError("expected at most " + Twine(rest.size()) +
                         " bytes at byte " + Twine(position()) +
                         " (because the message ends there), got a length of " +
                         Twine(*number) + ": is the file cut off?");
  field.bytes = {rest.take_front(*number), position()};
  rest = rest.drop_front(*number);
  return Error::success();
}

Error forEachField(Span message, function_ref<Error(const Field &)> visit) {
  StringRef rest = message.data;
  while (!rest.empty()) {
    Field field;
    field.offset = message.offset + (message.data.size() - rest.size());
    std::optional<uint64_t> tag = takeVarint(rest);
    // Field numbers have 29 bits; groups (3, 4) are not used by ONNX.
    unsigned wire = tag ? *tag & 7 : 7;
    if (!tag || *tag >> 3 == 0 || *tag >> 32 != 0 || wire == 3 || wire == 4 ||
        wire > 5)
      return makeWireError("expected a protobuf field at byte " +
                           Twine(field.offset) + ", got other bytes");
    field.number = static_cast<uint32_t>(*tag >> 3);
    field.wire = static_cast<Field::Wire>(wire);
    if (Error error = takeValue(rest, message, field))
      return error;
    if (Error error = visit(field))
      return error;
  }
  return Error::success();
}

} // namespace attn::onnx
