//===- Safetensors.h - reader of safetensors files -------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The format: a little-endian u64 with the size of a JSON header, the header,
// then the bytes of all tensors. The header maps names to `dtype`, `shape` and
// `data_offsets` (relative to the end of the header). The file is mapped into
// memory, and nothing in it is trusted: every length, offset and product is
// checked before a tensor can be seen.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_IMPORT_SAFETENSORS_H
#define ATTN_IMPORT_SAFETENSORS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class MemoryBuffer;
} // namespace llvm

namespace attn {

/// Element types of the format.
enum class SafetensorsType : uint8_t {
  Bool,
  U8,
  I8,
  F8E5M2,
  F8E4M3,
  I16,
  U16,
  F16,
  BF16,
  I32,
  U32,
  F32,
  F64,
  I64,
  U64
};

/// The name that files use, such as `BF16`.
llvm::StringRef safetensorsTypeName(SafetensorsType type);
/// The type of that name, none if there is no such type.
std::optional<SafetensorsType> safetensorsTypeNamed(llvm::StringRef name);
/// All names, for messages.
std::string safetensorsTypeNames();
/// Bytes of one element.
uint64_t safetensorsTypeBytes(SafetensorsType type);

/// One tensor of a file. `end - begin` is the size of the shape and type.
struct SafetensorsTensor {
  std::string name;
  SafetensorsType type;
  llvm::SmallVector<int64_t, 4> shape;
  /// Bytes [begin, end) of the data that follow the header.
  uint64_t begin = 0, end = 0;

  /// Number of elements; cannot overflow.
  uint64_t numElements() const {
    return (end - begin) / safetensorsTypeBytes(type);
  }
};

/// `F32 (2, 48)`, for messages.
std::string describe(const SafetensorsTensor &tensor);

/// A file whose header was read and checked in full.
class SafetensorsFile {
public:
  /// Maps the file at `path`. The error holds every problem that was found,
  /// one message each; `forEachProblem` takes them apart.
  static llvm::Expected<SafetensorsFile> open(llvm::StringRef path);

  /// The same for bytes in memory; messages call it by its buffer identifier.
  static llvm::Expected<SafetensorsFile>
  parse(std::unique_ptr<llvm::MemoryBuffer> buffer);

  SafetensorsFile(SafetensorsFile &&);
  SafetensorsFile &operator=(SafetensorsFile &&);
  ~SafetensorsFile();

  /// As given to `open`.
  llvm::StringRef path() const;

  /// In the order of their data.
  llvm::ArrayRef<SafetensorsTensor> tensors() const { return list; }

  /// The tensor of that name, or null.
  const SafetensorsTensor *lookup(llvm::StringRef name) const;

  /// The bytes of a tensor of this file. Not aligned.
  llvm::ArrayRef<uint8_t> data(const SafetensorsTensor &tensor) const;

private:
  SafetensorsFile() = default;

  std::unique_ptr<llvm::MemoryBuffer> buffer;
  uint64_t dataBegin = 0;
  std::vector<SafetensorsTensor> list;
  llvm::StringMap<size_t> index;
};

/// Converts elements [first, first + out.size()) of a tensor to f32. The
/// conversions from F16, BF16, F32 are exact, F64 rounds to nearest even. Other
/// types are an error, as is a range that leaves the tensor.
llvm::Error readFloats(const SafetensorsFile &file,
                       const SafetensorsTensor &tensor, uint64_t first,
                       llvm::MutableArrayRef<float> out);

/// The tensors of a model folder: `model.safetensors`, or, where that is not
/// there, the files that `model.safetensors.index.json` names.
class SafetensorsModel {
public:
  struct Entry {
    /// Name relative to the folder, what an #attn.source holds.
    llvm::StringRef fileName;
    const SafetensorsFile *file;
    const SafetensorsTensor *tensor;
  };

  /// Opens the folder's files. The error holds the problems of all of them.
  static llvm::Expected<SafetensorsModel> open(llvm::StringRef directory);

  /// Sorted by tensor name.
  llvm::ArrayRef<Entry> entries() const { return sorted; }

  /// The entry of that tensor, or null.
  const Entry *lookup(llvm::StringRef name) const;

private:
  struct Shard {
    std::string name;
    SafetensorsFile file;
  };
  void addEntries(const Shard &shard);
  void sortEntries();

  std::vector<std::unique_ptr<Shard>> shards;
  std::vector<Entry> sorted;
};

} // namespace attn

#endif // ATTN_IMPORT_SAFETENSORS_H
