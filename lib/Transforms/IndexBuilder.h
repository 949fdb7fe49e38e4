//===- IndexBuilder.h - readable index arithmetic --------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Sizes and loop bounds as affine.apply, affine.min and affine.max, one op a
// quantity: constants are folded into the maps, but one quantity is not
// composed into the next, so that a reader finds each by its name.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TRANSFORMS_INDEXBUILDER_H
#define ATTN_LIB_TRANSFORMS_INDEXBUILDER_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/DenseMap.h"

namespace attn {

/// Builds index arithmetic at the insertion point of `builder`. Expressions are
/// over d0, d1, ..., which stand for `operands` in this order.
struct IndexBuilder {
  using Index = mlir::OpFoldResult;

  /// Constants are put at the start of `entry`, each once.
  IndexBuilder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Block *entry)
      : builder(builder), loc(loc), entry(entry) {}

  /// The location that carries the name of a value.
  mlir::Location named(llvm::StringRef name) const;

  mlir::AffineExpr dim(unsigned position) const {
    return builder.getAffineDimExpr(position);
  }
  mlir::AffineExpr constant(int64_t value) const {
    return builder.getAffineConstantExpr(value);
  }

  Index apply(llvm::StringRef name, mlir::AffineExpr expr,
              llvm::ArrayRef<Index> operands) const;
  Index min(llvm::StringRef name, llvm::ArrayRef<mlir::AffineExpr> exprs,
            llvm::ArrayRef<Index> operands) const;
  Index max(llvm::StringRef name, llvm::ArrayRef<mlir::AffineExpr> exprs,
            llvm::ArrayRef<Index> operands) const;

  /// A value for `index`: itself, or a constant.
  mlir::Value value(Index index);
  mlir::Value value(int64_t constant);

  /// The size of a dimension of a tensor: static, or by tensor.dim.
  Index size(llvm::StringRef name, mlir::Value tensor, int64_t dim);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Block *entry;
  llvm::DenseMap<int64_t, mlir::Value> constants;

  enum class Kind { Min, Max };
  Index build(llvm::StringRef name, Kind kind,
              llvm::ArrayRef<mlir::AffineExpr> exprs,
              llvm::ArrayRef<Index> operands) const;
};

} // namespace attn

#endif // ATTN_LIB_TRANSFORMS_INDEXBUILDER_H
