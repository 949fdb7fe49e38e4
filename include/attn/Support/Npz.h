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
#include <string>
#include <vector>

namespace attn {

/// Element types: NumPy's <f4, <f8, <i4, <i8, |b1, |u1, <f2, and |V2 for bf16,
/// which NumPy itself does not have and the ml_dtypes package saves so.
enum class NpyType : uint8_t { F32, F64, I32, I64, Bool, U8, F16, BF16 };

/// `f32`, `i64`, ...
llvm::StringRef npyTypeName(NpyType type);
uint64_t npyTypeBytes(NpyType type);
bool isNpyFloat(NpyType type);
/// Half of the distance between 1 and the next number of a float type: the
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

/// Element `i` of an array. An i64 beyond 2^53 is rounded.
double npyNumber(const NpyArray &array, uint64_t i);
/// Sets element `i`: a float type rounds to nearest, ties to even; an integer
/// type cuts off.
void setNpyNumber(NpyArray &array, uint64_t i, double value);

/// Reads all arrays, in the archive's order. The error holds every problem.
llvm::Expected<std::vector<NpyArray>> readNpz(llvm::StringRef path);

/// The same for bytes in memory, which messages call `name`.
llvm::Expected<std::vector<NpyArray>> parseNpz(llvm::StringRef bytes,
                                               llvm::StringRef name);

/// Writes an archive that numpy.load reads; the same arrays give the same
/// bytes. At most 4 GiB, which the format without extensions can hold.
llvm::Error writeNpz(llvm::StringRef path, llvm::ArrayRef<NpyArray> arrays);

} // namespace attn

#endif // ATTN_SUPPORT_NPZ_H
