//===- Prover.h - what holds for all tiles ---------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Asks MLIR's Presburger library whether constraints contradict each other.
// Numbers may be rational: an answer "no" proves nothing, an answer "yes" holds
// for integers as well, and comes in bounded time.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_ANALYSIS_PROVER_H
#define ATTN_LIB_ANALYSIS_PROVER_H

#include "LinearForm.h"

namespace attn {

class Prover {
public:
  Prover(unsigned numSymbols, mlir::MLIRContext *context)
      : numSymbols(numSymbols), context(context) {}

  // Expressions >= 0 over any dimensions and the symbols.

  /// Whether no numbers fulfil all constraints.
  bool isContradiction(llvm::ArrayRef<mlir::AffineExpr> constraints,
                       unsigned numDims) const;
  /// Which of the conclusions hold wherever all constraints do. One call is far
  /// cheaper than one for each.
  llvm::SmallVector<bool>
  areImplied(llvm::ArrayRef<mlir::AffineExpr> conclusions,
             llvm::ArrayRef<mlir::AffineExpr> constraints,
             unsigned numDims) const;

  // Forms >= 0 on a tile [i0, i1) x [j0, j1) that is not empty and lies inside
  // of [0, N) x [0, M).

  bool isContradiction(llvm::ArrayRef<LinearForm> constraints) const;
  llvm::SmallVector<bool>
  areImplied(llvm::ArrayRef<LinearForm> conclusions,
             llvm::ArrayRef<LinearForm> constraints) const;
  bool isImplied(const LinearForm &conclusion,
                 llvm::ArrayRef<LinearForm> constraints) const {
    return areImplied(conclusion, constraints).front();
  }

  /// Which forms the others imply, the first ones first: those that are left
  /// say the same.
  llvm::SmallVector<bool>
  findRedundant(llvm::ArrayRef<LinearForm> constraints) const;

private:
  llvm::SmallVector<mlir::AffineExpr>
  onTiles(llvm::ArrayRef<LinearForm> forms) const;

  unsigned numSymbols;
  mlir::MLIRContext *context;
};

} // namespace attn

#endif // ATTN_LIB_ANALYSIS_PROVER_H
