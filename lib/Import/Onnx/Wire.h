//===- Wire.h - fields of a protobuf message -------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The wire format: a message is a list of (field number, wire type, value).
// Which field means what is the business of the caller; here every length is
// checked against the bytes that are there.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_IMPORT_ONNX_WIRE_H
#define ATTN_LIB_IMPORT_ONNX_WIRE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace attn::onnx {

/// Bytes of a file, with their offset in it.
struct Span {
  llvm::StringRef data;
  uint64_t offset = 0;

  Span slice(size_t begin, size_t size) const {
    return {data.substr(begin, size), offset + begin};
  }
};

/// One field of a message.
struct Field {
  enum class Wire : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };
  uint32_t number = 0;
  Wire wire = Wire::Varint;
  /// Varint, Fixed32, Fixed64.
  uint64_t bits = 0;
  /// Bytes: the contents. Fixed32, Fixed64: those 4 or 8 bytes.
  Span bytes;
  /// Of the field in the file, for messages.
  uint64_t offset = 0;

  llvm::Error get(int64_t &value) const;
  llvm::Error get(float &value) const;
  llvm::Error get(llvm::StringRef &value) const;
  llvm::Error get(Span &value) const;
  /// Appends one value, or all of a packed list.
  llvm::Error append(std::vector<int64_t> &values) const;
  llvm::Error append(std::vector<float> &values) const;
  llvm::Error append(std::vector<llvm::StringRef> &values) const;
};

/// An error without a place.
llvm::Error makeWireError(const llvm::Twine &message);

/// Prepends `place` to the text of an error.
llvm::Error within(const llvm::Twine &place, llvm::Error error);

/// Calls `visit` for each field of a message, and stops at the first error.
llvm::Error forEachField(Span message,
                         llvm::function_ref<llvm::Error(const Field &)> visit);

} // namespace attn::onnx

#endif // ATTN_LIB_IMPORT_ONNX_WIRE_H
