//===- Datum.h - a value of a graph during import --------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// About two thirds of the nodes of an exported model compute shapes. A value is
// therefore kept as what is known of it - numbers, or sizes of inputs - for as
// long as that is possible, and becomes an operation only where it is used as
// data.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_IMPORT_ONNX_DATUM_H
#define ATTN_LIB_IMPORT_ONNX_DATUM_H

#include "attn/Import/OnnxModel.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <optional>
#include <vector>

namespace attn::onnx {

/// A size: an index attribute, or an index value that is known when the model
/// runs. Equal values are equal sizes.
using Size = mlir::OpFoldResult;

/// The number, where the size is one.
std::optional<int64_t> numberOf(Size size);
bool isEqual(Size a, Size b);

/// One element of which all is known: a number, or a size.
struct Scalar {
  enum class Kind : uint8_t { Integer, Float, Size };
  Kind kind = Kind::Integer;
  int64_t integer = 0; // Integer; BOOL is 0 or 1
  double number = 0;   // Float, rounded to its type
  mlir::Value size;    // Size

  static Scalar ofInteger(int64_t value) {
    return {Kind::Integer, value, 0, {}};
  }
  static Scalar ofFloat(double value) { return {Kind::Float, 0, value, {}}; }
  static Scalar ofSize(Size size);

  bool isSize() const { return kind == Kind::Size; }
};

using Scalars = std::vector<Scalar>;

/// A tensor, or a list of tensors (a sequence, an optional).
struct Datum {
  ElementType element = ElementType::Undefined;
  llvm::SmallVector<Size> sizes;
  /// The tensor in the function, once it was asked for.
  mlir::Value tensor;
  /// All elements, in row-major order; null where they are not known.
  std::shared_ptr<const Scalars> known;
  /// An initializer too large for `known`.
  const Tensor *stored = nullptr;
  /// A list.
  bool isList = false;
  std::vector<Datum> parts;
  /// The node that makes it could not be imported, which was reported.
  bool isMissing = false;

  /// An optional input that the caller of a function left out.
  bool isAbsent() const {
    return element == ElementType::Undefined && !isList && !isMissing;
  }
  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
  bool isStatic() const;
  /// The sizes as numbers, -1 for those that are none.
  llvm::SmallVector<int64_t, 4> shape() const;
  /// Number of elements where all sizes are numbers.
  std::optional<int64_t> numElements() const;
  /// The scalar that all elements are, if they are known and equal numbers.
  std::optional<Scalar> splat() const;
};

/// `FLOAT (2, n)`, for messages.
std::string describe(const Datum &datum);

/// Elements that are kept as `known`, at most: shapes, masks of small tests,
/// position tables; not weights.
inline constexpr int64_t maxKnown = 4096;

bool isFloat(ElementType type);
bool isUnsigned(ElementType type);
/// Integers and BOOL.
bool isInteger(ElementType type);
/// FLOAT16, BFLOAT16: computed in f32 and rounded.
bool isHalf(ElementType type);

/// The type of elements in MLIR, null for those that have none here.
mlir::Type mlirType(ElementType type, mlir::MLIRContext *context);

/// The elements of a tensor of at most maxKnown numbers; null for others.
std::shared_ptr<const Scalars> readScalars(const Tensor &tensor);

/// `number` as an element of a floating-point type holds it.
double roundTo(ElementType type, double number);
/// The bits of `number` as an element of a floating-point type.
llvm::APFloat toAPFloat(mlir::FloatType type, double number);

} // namespace attn::onnx

#endif // ATTN_LIB_IMPORT_ONNX_DATUM_H
