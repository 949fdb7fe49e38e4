//===- MaskFormula.h - a mask region as a formula --------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reads the predicate of a mask region as and/or over atoms `expression >= 0`,
// where expressions are affine in i and j, with floordiv and mod by constants.
// Negations are pushed down to the atoms, where they are exact. What is not
// understood becomes the atom Unknown, which is its own negation: a formula
// with Unknown read as true contains every pair for which the predicate holds.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_ANALYSIS_MASKFORMULA_H
#define ATTN_LIB_ANALYSIS_MASKFORMULA_H

#include "attn/Dialect/IR/Attn.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include <memory>
#include <optional>

namespace attn {

struct Formula;
using FormulaRef = std::shared_ptr<const Formula>;

/// A node; nodes are shared, so that a formula is as large as the region.
struct Formula {
  enum class Kind { True, False, Unknown, Atom, And, Or };
  Kind kind;
  /// Atom: holds where this is >= 0. Dimensions are i and j, symbols N, M and
  /// the leaves.
  mlir::AffineExpr expr = {};
  llvm::SmallVector<FormulaRef, 2> operands = {};
};

/// Reads the mask region of one attn.attention.
class MaskReader {
public:
  explicit MaskReader(AttentionOp op);

  /// The pairs for which the predicate holds, or does not hold.
  FormulaRef visible() { return read(predicate, /*negated=*/false); }
  FormulaRef hidden() { return read(predicate, /*negated=*/true); }

  /// Values that depend neither on i nor on j and that expressions use as
  /// symbols past N and M, in the order of their symbols.
  llvm::ArrayRef<mlir::Value> getLeaves() const { return leaves.getArrayRef(); }
  unsigned getNumAffineAtoms() const { return affineAtoms.size(); }
  unsigned getNumOpaqueAtoms() const { return opaqueAtoms.size(); }

private:
  /// An integer as a case distinction: the expression holds where the guard
  /// does. The guards of an integer cover all pairs.
  struct Case {
    FormulaRef guard;
    mlir::AffineExpr expr;
  };
  using Cases = llvm::SmallVector<Case, 1>;

  FormulaRef read(mlir::Value value, bool negated);
  FormulaRef readUncached(mlir::Value value, bool negated);
  FormulaRef readComparison(mlir::arith::CmpIOp op, bool negated);
  /// Whether exactly one of the two holds, or (negated) both or none.
  FormulaRef readDifference(mlir::Value lhs, mlir::Value rhs, bool negated);
  FormulaRef unknown(mlir::Value value);

  std::optional<Cases> readInteger(mlir::Value value);
  std::optional<Cases> readIntegerUncached(mlir::Value value);
  std::optional<Cases> readOperation(mlir::Operation *op);
  std::optional<Cases> readLeaf(mlir::Value value);
  std::optional<Cases> readSize(mlir::Value tensor, mlir::Value dim);

  /// Whether the value is the same for all i and j and can be computed outside
  /// the region.
  bool isUniform(mlir::Value value);
  bool isNonNegative(mlir::AffineExpr expr) const;

  AttentionOp op;
  mlir::Block &block;
  mlir::MLIRContext *context;
  mlir::Value predicate;
  mlir::AffineExpr query, key;
  llvm::SetVector<mlir::Value> leaves;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, FormulaRef> formulas;
  llvm::DenseMap<mlir::Value, std::optional<Cases>> integers;
  llvm::DenseMap<mlir::Value, bool> uniform;
  llvm::DenseSet<mlir::Value> affineAtoms, opaqueAtoms;
};

} // namespace attn

#endif // ATTN_LIB_ANALYSIS_MASKFORMULA_H
