//===- Tensor.h - values of the reference evaluator -------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A dense row-major array. Whatever the type of a value in the IR is, numbers
// are f64 here and integers i64: the evaluator answers what a formula means,
// not what a narrow type makes of it.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REFERENCE_TENSOR_H
#define ATTN_REFERENCE_TENSOR_H

#include "attn/Support/Npz.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace attn {

/// A scalar of either kind; the type that it stands for says which.
struct Scalar {
  double number = 0.0;
  int64_t integer = 0;
};

struct Tensor {
  enum class Kind : uint8_t { F64, I64, Bool };

  Kind kind = Kind::F64;
  llvm::SmallVector<int64_t, 4> shape;
  /// The elements: `numbers` of F64, `integers` of I64 and Bool (0 or 1).
  std::vector<double> numbers;
  std::vector<int64_t> integers;

  /// Elements of zero.
  static Tensor zeros(Kind kind, llvm::ArrayRef<int64_t> shape);
  /// A tensor of no dimensions.
  static Tensor scalar(Kind kind, Scalar value);
  /// The kind that stands for an element type; index counts as an integer.
  static Kind kindOf(mlir::Type elementType);

  int64_t rank() const { return shape.size(); }
  int64_t size(int64_t dim) const { return shape[dim]; }
  int64_t numElements() const;
  /// The product of all sizes but the last, and the last.
  int64_t numRows() const;
  int64_t rowSize() const { return shape.back(); }

  /// Where an element lies; the indices must be in range.
  int64_t offset(llvm::ArrayRef<int64_t> indices) const;
  /// Whether the indices are in range.
  bool contains(llvm::ArrayRef<int64_t> indices) const;

  double number(llvm::ArrayRef<int64_t> indices) const {
    return numbers[offset(indices)];
  }
  double &number(llvm::ArrayRef<int64_t> indices) {
    return numbers[offset(indices)];
  }
  int64_t integer(llvm::ArrayRef<int64_t> indices) const {
    return integers[offset(indices)];
  }

  Scalar get(int64_t offset) const;
  void set(int64_t offset, Scalar value);
};

/// Steps `indices` to the next element of `shape` in row-major order; false
/// after the last. Starts at all zeros, which a shape with a size of 0 has not.
bool nextIndices(llvm::MutableArrayRef<int64_t> indices,
                 llvm::ArrayRef<int64_t> shape);

/// Whether a shape has elements at all.
bool hasElements(llvm::ArrayRef<int64_t> shape);

/// The elements of a constant. Fails for resources that are not loaded.
llvm::Expected<Tensor> tensorOf(mlir::ElementsAttr elements);

/// Row-major data of a type, as weights files hold them.
llvm::Expected<Tensor> tensorOf(mlir::RankedTensorType type,
                                llvm::ArrayRef<char> data);

/// An array of a .npz file, and the reverse in a type that the file can hold:
/// F64 becomes f64, I64 i64, Bool bool.
Tensor tensorOf(const NpyArray &array);
NpyArray arrayOf(llvm::StringRef name, const Tensor &tensor);

} // namespace attn

#endif // ATTN_REFERENCE_TENSOR_H
