//===- Prover.cpp - what holds for all tiles -------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Prover.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Analysis/Presburger/Simplex.h"
#include "mlir/IR/IntegerSet.h"

using namespace mlir;
using namespace attn;

namespace {

/// Constraints as rows of a tableau, and further rows that speak of the same
/// variables.
class Tableau {
public:
  Tableau(ArrayRef<AffineExpr> constraints, ArrayRef<AffineExpr> others,
          unsigned numDims, unsigned numSymbols)
      : numConstraints(constraints.size()) {
    SmallVector<AffineExpr> all(constraints);
    llvm::append_range(all, others);
    SmallVector<bool> equalities(all.size(), false);
    FlatLinearValueConstraints quotients;
    // Fails for products of dimensions and symbols only, which there are none.
    if (failed(getFlattenedAffineExprs(
            IntegerSet::get(numDims, numSymbols, all, equalities), &rows,
            &quotients)))
      return;
    simplex.emplace(unsigned(rows.front().size()) - 1);
    simplex->intersectIntegerRelation(quotients);
    for (ArrayRef<int64_t> row : ArrayRef(rows).take_front(numConstraints))
      simplex->addInequality(presburger::getDynamicAPIntVec(row));
  }

  bool isEmpty() const { return simplex && simplex->isEmpty(); }

  /// Whether the other row of this number is >= 0.
  bool implies(unsigned number) {
    if (!simplex)
      return false;
    SmallVector<int64_t, 8> opposite;
    for (int64_t coefficient : rows[numConstraints + number])
      opposite.push_back(-coefficient);
    opposite.back() -= 1;
    unsigned before = simplex->getSnapshot();
    simplex->addInequality(presburger::getDynamicAPIntVec(opposite));
    bool contradiction = simplex->isEmpty();
    simplex->rollback(before);
    return contradiction;
  }

  /// Of the last `count` constraints.
  SmallVector<bool> findRedundant(unsigned count) {
    SmallVector<bool> result(count, false);
    if (!simplex || simplex->isEmpty())
      return result;
    unsigned first = simplex->getNumConstraints() - count;
    simplex->detectRedundant(first, count);
    for (unsigned number = 0; number < count; ++number)
      result[number] = simplex->isMarkedRedundant(first + number);
    return result;
  }

private:
  size_t numConstraints;
  std::vector<SmallVector<int64_t, 8>> rows;
  std::optional<presburger::Simplex> simplex;
};

} // namespace

bool Prover::isContradiction(ArrayRef<AffineExpr> constraints,
                             unsigned numDims) const {
  return !constraints.empty() &&
         Tableau(constraints, {}, numDims, numSymbols).isEmpty();
}

SmallVector<bool> Prover::areImplied(ArrayRef<AffineExpr> conclusions,
                                     ArrayRef<AffineExpr> constraints,
                                     unsigned numDims) const {
  SmallVector<bool> result;
  if (conclusions.empty())
    return result;
  Tableau tableau(constraints, conclusions, numDims, numSymbols);
  for (unsigned number = 0; number < conclusions.size(); ++number)
    result.push_back(tableau.implies(number));
  return result;
}

/// The forms as expressions, after what holds for every tile.
SmallVector<AffineExpr> Prover::onTiles(ArrayRef<LinearForm> forms) const {
  SmallVector<AffineExpr> result;
  for (unsigned axis : {0, 1}) {
    AffineExpr first = getAffineDimExpr(2 * axis, context);
    AffineExpr end = getAffineDimExpr(2 * axis + 1, context);
    result.append(
        {first, end - first - 1, getAffineSymbolExpr(axis, context) - end});
  }
  for (const LinearForm &form : forms)
    result.push_back(form.toExpr(context));
  return result;
}

bool Prover::isContradiction(ArrayRef<LinearForm> constraints) const {
  return isContradiction(onTiles(constraints), 4);
}

SmallVector<bool> Prover::areImplied(ArrayRef<LinearForm> conclusions,
                                     ArrayRef<LinearForm> constraints) const {
  SmallVector<AffineExpr> exprs;
  for (const LinearForm &form : conclusions)
    exprs.push_back(form.toExpr(context));
  return areImplied(exprs, onTiles(constraints), 4);
}

SmallVector<bool>
Prover::findRedundant(ArrayRef<LinearForm> constraints) const {
  if (constraints.empty())
    return {};
  return Tableau(onTiles(constraints), {}, 4, numSymbols)
      .findRedundant(constraints.size());
}
