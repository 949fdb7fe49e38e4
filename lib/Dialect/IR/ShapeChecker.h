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
  /// Ties a tensor of rank 4 in a layout.
  void tieHeads(llvm::StringRef value, llvm::ArrayRef<int64_t> shape,
                Layout layout, const char *sequence, const char *heads,
                const char *channels);

  /// Verifies that a tensor broadcasts to the scores (B, H, N, M) by NumPy's
  /// rule; `shortLast` lets its last size be less than M.
  void broadcasts(llvm::StringRef value, llvm::ArrayRef<int64_t> shape,
                  llvm::ArrayRef<int64_t> scores, bool shortLast = false);

  /// Verifies that offsets are there exactly if `alignment` reads them, and
  /// that they are (B).
  void alignment(Alignment alignment, mlir::Value offsets);

  /// Verifies that a table of relative positions has a row for each distance
  /// from -C to C, of `channels` columns, and that nothing is aligned without
  /// it.
  void relative(mlir::Value table, Alignment alignment, mlir::Value offsets,
                const char *channels);

  /// Verifies that a number is of the compute type of a tensor.
  void computeType(llvm::StringRef value, mlir::Type type, llvm::StringRef like,
                   mlir::Type likeType);

  /// The size of a letter, dynamic where no value states it.
  int64_t size(llvm::StringRef letter) const;

  /// Query heads H come in groups that share one of G key or value heads.
  void headsShare(llvm::StringRef heads, llvm::StringRef groups,
                  llvm::StringRef what);

  /// `value` must have the element type of `like`.
  void sameElement(llvm::StringRef value, mlir::Type type, llvm::StringRef like,
                   mlir::Type likeType);

  /// `value` must be computed with in the type in which `like` is: f64 for f64,
  /// f32 for all others.
  void sameComputeType(llvm::StringRef value, mlir::Type type,
                       llvm::StringRef like, mlir::Type likeType);

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

/// Why heads must be static, for messages.
inline constexpr llvm::StringLiteral headsAreCompiledIn =
    "the number and the size of heads are compiled in";

/// Names for the leading dimensions of a tensor of any rank, then `last`.
llvm::SmallVector<std::string> leadingAnd(int64_t leading,
                                          llvm::ArrayRef<llvm::StringRef> last);

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
