//===- TileValue.h - what stands for a tile --------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_CONVERSION_ATTNTOLOOPS_TILEVALUE_H
#define ATTN_LIB_CONVERSION_ATTNTOLOOPS_TILEVALUE_H

#include "LinalgBuilder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attn {

/// The values that a tile of rank 1 or 2 was converted to.
struct TileValue {
  mlir::Value tensor;
  /// Of a tile of rank 2: how many hold something.
  mlir::Value rows, columns;

  TileValue() = default;
  explicit TileValue(mlir::ValueRange values) : tensor(values[0]) {
    if (values.size() == 3) {
      rows = values[1];
      columns = values[2];
    }
  }

  llvm::SmallVector<mlir::Value> values() const {
    return rows ? llvm::SmallVector<mlir::Value>{tensor, rows, columns}
                : llvm::SmallVector<mlir::Value>{tensor};
  }
  llvm::SmallVector<mlir::OpFoldResult> sizes(mlir::OpBuilder &builder) const;
  mlir::Type element() const;
};

/// Operations on the running maximum, sum and accumulator.
void populateTileStatePatterns(const mlir::TypeConverter &converter,
                               mlir::RewritePatternSet &patterns);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTOLOOPS_TILEVALUE_H
