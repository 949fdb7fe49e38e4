//===- ShapeChecker.h - checks of sizes by letter ---------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Verifiers state the shape table of an operation: which letter each dimension
// of each value is. Equal letters must be equal sizes; the message names the
// letter, both values and both sizes. Everything that is wrong is reported, not
// only the first.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_DIALECT_IR_SHAPECHECKER_H
#define ATTN_LIB_DIALECT_IR_SHAPECHECKER_H

#include "attn/Dialect/IR/Attn.h"

#include "llvm/ADT/StringMap.h"

namespace attn {

class ShapeChecker {
public:
  /// `fixed` are the letters that must not be dynamic, `because` says why.
  explicit ShapeChecker(mlir::Operation *op,
                        llvm::ArrayRef<llvm::StringRef> fixed = {},
                        llvm::StringRef because = "")
      : op(op), fixed(fixed), because(because) {}

  /// Ties the dimensions of `shape` to letters; "" stands for any size.
  /// A dynamic size fits every size.
  void tie(llvm::StringRef value, llvm::ArrayRef<int64_t> shape,
           llvm::ArrayRef<std::string> letters);
  void tie(llvm::StringRef value, llvm::ArrayRef<int64_t> shape,
           std::initializer_list<const char *> letters);

  /// The size of a letter, dynamic where no value states it.
  int64_t size(llvm::StringRef letter) const;

  /// Query heads H come in groups that share one of G key or value heads.
  void headsShare(llvm::StringRef heads, llvm::StringRef groups,
                  llvm::StringRef what);

  /// `value` must have the element type of `like`.
  void sameElement(llvm::StringRef value, mlir::Type type, llvm::StringRef like,
                   mlir::Type likeType);

  /// `epsilon` must be a number that can be added to a variance.
  void epsilon(const llvm::APFloat &epsilon);

  /// Starts a message about the operation.
  mlir::InFlightDiagnostic error();

  llvm::LogicalResult result() const { return llvm::success(!failed); }

private:
  struct Size {
    int64_t size;
    std::string value;
  };

  mlir::Operation *op;
  llvm::SmallVector<llvm::StringRef> fixed;
  llvm::StringRef because;
  llvm::StringMap<Size> sizes;
  bool failed = false;
};

/// What sums are kept in, and the type of scales and log-sum-exps: f64 for
/// tensors of f64 and f32 for all others.
mlir::Type getComputeType(mlir::Type elementType);

/// Verifies that `region`, if it is not empty,
///   - has one block,
///   - whose arguments are `leading`, by name and type, and then the captures,
///   - and which ends in an attn.yield of one value of type `yields`.
llvm::LogicalResult
verifyFormula(mlir::Operation *op, mlir::Region &region, llvm::StringRef name,
              llvm::ArrayRef<std::pair<llvm::StringRef, mlir::Type>> leading,
              mlir::TypeRange captures, mlir::Type yields);

/// Verifies that each capture is something that a region can read.
llvm::LogicalResult verifyCaptures(mlir::Operation *op,
                                   mlir::TypeRange captures);

} // namespace attn

#endif // ATTN_LIB_DIALECT_IR_SHAPECHECKER_H
