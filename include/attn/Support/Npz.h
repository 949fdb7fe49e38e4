//===- Npz.h - NumPy's .npz archives ---------------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Inputs and expected outputs of models travel as `.npz`: a zip archive of
// `.npy` arrays, as numpy.savez writes it. Read here are stored (not
// compressed) members in C order of the types below; everything else is
// refused with what to do about it.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_SUPPORT_NPZ_H
#define ATTN_SUPPORT_NPZ_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attn {

/// Element types: NumPy's <f4, <f8, <i4, <i8, |b1, |u1, <f2, |i1, <i2; |V2 for
/// bf16, which NumPy does not have and the ml_dtypes package saves so; and
/// floats that only models have; an F4E2M1FN takes a byte.
enum class NpyType : uint8_t {
  F32,
  F64,
  I32,
  I64,
  Bool,
  U8,
  F16,
  I8,
  I16,
  BF16,
  F8E4M3FN,
  F8E4M3FNUZ,
  F8E5M2,
  F8E5M2FNUZ,
  F4E2M1FN
};

/// `f32`, `i64`, ...
llvm::StringRef npyTypeName(NpyType type);
/// The type of that name, if there is one.
std::optional<NpyType> npyTypeNamed(llvm::StringRef name);
uint64_t npyTypeBytes(NpyType type);
bool isFloat(NpyType type);
/// Half the distance between 1 and the next number of a float type: the largest
/// relative error of rounding to it.
double npyRoundoff(NpyType type);

/// One array: dense, C order, little-endian.
struct NpyArray {
  /// Without `.npy`.
  std::string name;
  NpyType type = NpyType::F32;
  llvm::SmallVector<int64_t, 4> shape;
  std::vector<uint8_t> data;

  uint64_t numElements() const { return data.size() / npyTypeBytes(type); }
};

/// Element `i` as a number; large I64 are rounded.
double npyElement(const NpyArray &array, uint64_t i);
/// Stores a number, rounded to the array's type.
void setNpyElement(NpyArray &array, uint64_t i, double value);

/// Reads all arrays, in the archive's order. The error holds every problem.
llvm::Expected<std::vector<NpyArray>> readNpz(llvm::StringRef path);

/// The same for bytes in memory, which messages call `name`.
llvm::Expected<std::vector<NpyArray>> parseNpz(llvm::StringRef bytes,
                                               llvm::StringRef name);

/// Writes an archive that numpy.load reads; the same arrays give the same
/// bytes. Of types that NumPy has, and at most 4 GiB, which the format without
/// extensions can hold.
llvm::Error writeNpz(llvm::StringRef path, llvm::ArrayRef<NpyArray> arrays);

} // namespace attn

#endif // ATTN_SUPPORT_NPZ_H
