//===- DimClasses.h - sizes that operations force to be equal --*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A union-find over the dimensions of the tensors of one function. Two
// dimensions are in one class if an operation between them is only defined
// when their sizes are equal: the keys' and the values' sequence, the batch of
// a query and of its key, the operands of an addition. A class can have a name
// (an attn.dim), a static size, and an upper limit (the rows of a position
// table, the end of a tensor that is sliced).
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TRANSFORMS_DIMCLASSES_H
#define ATTN_LIB_TRANSFORMS_DIMCLASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include <optional>

namespace attn {

class DimClasses {
public:
  /// What is known of all dimensions of a class.
  struct Info {
    std::string name; // empty: none yet
    std::optional<int64_t> size;
    int64_t limit = std::numeric_limits<int32_t>::max();
    mlir::Operation *limitedBy = nullptr;
  };

  /// Gives the dimension a name that its declaration states; `where` says so in
  /// a message ("argument 'x'"). Fails with a diagnostic at `op` if the class
  /// has another name.
  llvm::LogicalResult name(mlir::Value value, unsigned dim,
                           llvm::StringRef name, const llvm::Twine &where,
                           mlir::Operation *op);

  /// Merges the classes of all dimensions that the operations of `func` force
  /// to be equal. Fails with a diagnostic if two names meet.
  llvm::LogicalResult unify(mlir::func::FuncOp func);

  /// Whether two dimensions are known to be equal.
  bool areEqual(mlir::Value a, unsigned i, mlir::Value b, unsigned j);

  /// What is known of a dimension. The reference dies with the next call that
  /// merges.
  Info &info(mlir::Value value, unsigned dim);

private:
  void visit(mlir::Operation *op);
  void visitLinalg(mlir::Operation *op);
  unsigned node(mlir::Value value, unsigned dim);
  unsigned find(unsigned node);
  void merge(unsigned x, unsigned y);

  // Each states one constraint; `op` is the operation that forces it. A failed
  // one is remembered in `conflict`.
  void equal(mlir::Operation *op, mlir::Value a, unsigned i, mlir::Value b,
             unsigned j);
  /// Dimensions [0, count) of both.
  void equalLeading(mlir::Operation *op, mlir::Value a, mlir::Value b,
                    unsigned count);
  /// All dimensions of both.
  void equalShapes(mlir::Operation *op, mlir::Value a, mlir::Value b);
  /// `operand` broadcasts to `full` by NumPy's rule; with `shortLast` its last
  /// size may also be less.
  void broadcast(mlir::Operation *op, mlir::Value operand, mlir::Value full,
                 bool shortLast = false);
  /// The dimension has the size that `size` computes.
  void equalSize(mlir::Operation *op, mlir::Value value, unsigned dim,
                 mlir::OpFoldResult size);

  /// The class has at most this size.
  static void limit(Info &info, int64_t limit, mlir::Operation *op);
  void limitSlice(mlir::tensor::ExtractSliceOp op, unsigned source,
                  unsigned result);

  llvm::DenseMap<std::pair<mlir::Value, unsigned>, unsigned> nodes;
  llvm::SmallVector<unsigned> parents;
  llvm::SmallVector<Info> infos;
  llvm::StringMap<unsigned> named;
  bool conflict = false;
};

} // namespace attn

#endif // ATTN_LIB_TRANSFORMS_DIMCLASSES_H
