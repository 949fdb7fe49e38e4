//===- Sizes.h - arithmetic of sizes at import -----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_IMPORT_ONNX_SIZES_H
#define ATTN_LIB_IMPORT_ONNX_SIZES_H

#include "NodeImport.h"

namespace attn::onnx {

Size sizeOf(NodeImport &node, int64_t number);
mlir::Value toIndex(NodeImport &node, Size size);

Size add(NodeImport &node, Size a, Size b);
Size subtract(NodeImport &node, Size a, Size b);
Size multiply(NodeImport &node, Size a, Size b);
Size product(NodeImport &node, llvm::ArrayRef<Size> sizes);
/// The quotient, rounded down; exact where the factors of one are among those
/// of the other.
Size divide(NodeImport &node, Size a, Size b);

/// A size as a number times index values, the latter in a fixed order.
struct Factors {
  int64_t number = 1;
  llvm::SmallVector<mlir::Value> values;
  bool overflows = false;

  bool operator==(const Factors &other) const {
    return number == other.number && values == other.values;
  }
};
Factors factorsOf(Size size);
Factors operator*(const Factors &a, const Factors &b);

/// The sizes that operands broadcast to by NumPy's rule: from the last
/// dimension on, sizes are equal or one of them is 1.
mlir::FailureOr<llvm::SmallVector<Size>>
broadcastSizes(NodeImport &node, llvm::ArrayRef<Datum> operands);

} // namespace attn::onnx

#endif // ATTN_LIB_IMPORT_ONNX_SIZES_H
