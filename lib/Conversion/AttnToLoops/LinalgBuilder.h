//===- LinalgBuilder.h - structured operations in a few words --*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each lowering of this folder is some linalg.generic after another. What they
// have in common is here: tensors by the loops that index them, bodies as
// scalar arithmetic, formulas of the attn dialect copied into bodies.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_CONVERSION_ATTNTOLOOPS_LINALGBUILDER_H
#define ATTN_LIB_CONVERSION_ATTNTOLOOPS_LINALGBUILDER_H

#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"

namespace attn {

/// Scalar arithmetic at one place.
struct ScalarBuilder {
  mlir::OpBuilder &builder;
  mlir::Location loc;

  /// A constant of a float type.
  mlir::Value number(mlir::Type type, double value);
  mlir::Value minusInfinity(mlir::Type type);
  mlir::Value index(int64_t value);
  /// The position in loop `number` of the linalg.generic around.
  mlir::Value loop(unsigned number);

  mlir::Value add(mlir::Value a, mlir::Value b); // indices or floats
  mlir::Value subtract(mlir::Value a, mlir::Value b);
  mlir::Value multiply(mlir::Value a, mlir::Value b);
  mlir::Value divide(mlir::Value a, mlir::Value b);
  /// NaN if either is.
  mlir::Value maximum(mlir::Value a, mlir::Value b);
  mlir::Value minimum(mlir::Value a, mlir::Value b); // indices
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a,
                      mlir::Value b);
  mlir::Value isLess(mlir::Value a, mlir::Value b); // indices, not negative
  mlir::Value both(mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  /// A float as another float type.
  mlir::Value convert(mlir::Value value, mlir::Type type);

  /// What `region`, a formula of the attn dialect, yields for `leading` and
  /// the captures.
  mlir::Value inlineFormula(mlir::Region &region, mlir::ValueRange leading,
                            mlir::ValueRange captures);
};

/// A tensor, and the loop that each of its dimensions runs over.
struct LoopOperand {
  mlir::Value tensor;
  llvm::SmallVector<unsigned> loops;
};

/// Structured operations at one place.
class LinalgBuilder {
public:
  /// What a body computes from the elements of the inputs and, last, of the
  /// output.
  using Body = llvm::function_ref<mlir::Value(ScalarBuilder &scalars,
                                              mlir::ValueRange elements)>;

  LinalgBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  mlir::Value empty(llvm::ArrayRef<mlir::OpFoldResult> sizes,
                    mlir::Type element);
  mlir::Value fill(llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Value value);
  llvm::SmallVector<mlir::OpFoldResult> sizesOf(mlir::Value tensor);
  ScalarBuilder scalars() { return {builder, loc}; }

  /// One result, updated by `body` at every point of `numLoops` loops: those
  /// that index the output in parallel, the others in order.
  mlir::Value generic(unsigned numLoops, llvm::ArrayRef<LoopOperand> inputs,
                      const LoopOperand &output, Body body);

  /// A new tensor, `body` at each position. Inputs of fewer dimensions have
  /// the output's last ones.
  mlir::Value map(llvm::ArrayRef<mlir::Value> inputs,
                  llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Type element,
                  Body body);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTOLOOPS_LINALGBUILDER_H
