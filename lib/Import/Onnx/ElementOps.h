//===- ElementOps.h - what an operator does with one element ---*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each element-wise operator twice: as operations that are built, and on
// numbers that are known. Both follow the definition of the operator; the unit
// tests compare them.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_IMPORT_ONNX_ELEMENTOPS_H
#define ATTN_LIB_IMPORT_ONNX_ELEMENTOPS_H

#include "Sizes.h"

namespace attn::onnx {

enum class ElementOp {
  Abs,
  Add,
  And,
  Ceil,
  Cos,
  Cosh,
  Div,
  Equal,
  Erf,
  Exp,
  Floor,
  Greater,
  GreaterOrEqual,
  IsNaN,
  Less,
  LessOrEqual,
  Log,
  Max,
  Min,
  Mul,
  Neg,
  Not,
  Or,
  Reciprocal,
  Relu,
  Round,
  Sigmoid,
  Sign,
  Sin,
  Sinh,
  Sqrt,
  Sub,
  Tan,
  Tanh,
  Where,
  Xor
};

/// Builds the operation on elements of `type`: scalars or whole tensors.
mlir::Value emitElement(ElementOp op, ElementType type,
                        mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::ValueRange elements);

/// The outcome for known elements of `type`; none where that is not known (a
/// size that is not a number) or not defined.
std::optional<Scalar> foldElement(NodeImport &node, ElementOp op,
                                  ElementType type,
                                  llvm::ArrayRef<Scalar> elements);

/// The conversion of Cast, as operations and of a known element.
mlir::Value emitCast(ElementType from, ElementType to, bool saturate,
                     mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value element);
std::optional<Scalar> foldCast(ElementType from, ElementType to,
                               const Scalar &element);

} // namespace attn::onnx

#endif // ATTN_LIB_IMPORT_ONNX_ELEMENTOPS_H
