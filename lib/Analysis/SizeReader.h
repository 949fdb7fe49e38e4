//===- SizeReader.h - sizes of values as formulas of dims ------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_ANALYSIS_SIZEREADER_H
#define ATTN_LIB_ANALYSIS_SIZEREADER_H

#include "attn/Analysis/SizePolynomial.h"
#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/DenseMap.h"

namespace attn {

/// None where a size is no polynomial of dims.
using Size = std::optional<SizePolynomial>;
using Shape = std::optional<llvm::SmallVector<SizePolynomial>>;

/// Sums and products; none of none. What no model has, such as a power of a
/// power of a power, would grow without bounds and is none as well.
Size add(const Size &a, const Size &b);
Size multiply(const Size &a, const Size &b);
Size product(llvm::ArrayRef<SizePolynomial> sizes);

/// A dim, or its value where the range that `from` sees has only one.
SizePolynomial sizeOfDim(mlir::Operation *from, mlir::StringAttr name);

/// The sizes of the values in one function or kernel. Operations are visited in
/// their order, so that each finds its operands here.
class SizeReader {
public:
  /// Knows the arguments of the entry, whose sizes `attn.dims` names.
  static SizeReader ofEntry(mlir::func::FuncOp entry);

  void visit(mlir::Operation &op);
  void setShape(mlir::Value tensor, Shape shape) {
    shapes[tensor] = std::move(shape);
  }
  void setIndex(mlir::Value value, Size size) {
    indices[value] = std::move(size);
  }

  /// The sizes of a tensor.
  Shape shape(mlir::Value tensor) const;
  /// The value of an index.
  Size index(mlir::Value value) const { return indices.lookup(value); }

private:
  Size readIndex(mlir::Operation &op) const;
  Size fold(mlir::Operation &op) const;
  Shape readShape(mlir::OpResult tensor) const;
  Shape sizes(llvm::ArrayRef<mlir::OpFoldResult> values) const;

  llvm::DenseMap<mlir::Value, Shape> shapes;
  llvm::DenseMap<mlir::Value, Size> indices;
};

/// Visits the public function of a model, and says of each call of a kernel
/// which sizes are known there.
void forEachCall(
    mlir::ModuleOp module,
    llvm::function_ref<void(CallOp call, const SizeReader &reader)> visit);

} // namespace attn

#endif // ATTN_LIB_ANALYSIS_SIZEREADER_H
