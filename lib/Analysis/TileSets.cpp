//===- TileSets.cpp - tiles for which a formula may hold -------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A formula becomes a union of convex parts (its disjunctive normal form, with
// parts joined again whose union is convex), and each part is projected onto
// tiles. Where there is too much of it, atoms are dropped: the tiles become
// more, never fewer.
//
//===----------------------------------------------------------------------===//

#include "TileSets.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attn;

// Sizes up to which the analysis answers within milliseconds. Masks of the
// literature need at most 5 parts of 6 atoms.
static constexpr size_t maxParts = 16;
static constexpr size_t maxAtoms = 10;
/// Constraints of a set of tiles. Each is computed for each key tile, and code
/// generation takes minutes where there are a hundred.
static constexpr size_t maxConstraints = 16;
/// Parts, or sets, that are compared with each other.
static constexpr size_t maxCompared = 6;

namespace {

/// A conjunction of atoms `expression >= 0` over i and j.
using Part = SmallVector<AffineExpr, 4>;

class TileFinder {
public:
  TileFinder(const Prover &prover, MLIRContext *context)
      : prover(prover), context(context) {}
  TileProjection run(const Formula &formula);

private:
  /// The conjunctions of the disjunctive normal form.
  const std::vector<Part> &distribute(const Formula &formula);
  std::vector<Part> distributeOr(const Formula &formula);
  std::vector<Part> distributeAnd(const Formula &formula);
  Part onPairs(ArrayRef<AffineExpr> atoms) const;
  bool isContradiction(ArrayRef<AffineExpr> part) const;
  std::optional<Part> join(const Part &lhs, const Part &rhs) const;
  void joinParts(std::vector<Part> &parts) const;
  void simplify(TileConstraints &constraints) const;
  void dropContained(std::vector<TileConstraints> &sets) const;

  const Prover &prover;
  MLIRContext *context;
  bool exact = true;
  /// Nodes are shared: a formula may be far smaller than its tree.
  llvm::DenseMap<const Formula *, std::vector<Part>> distributed;
};

} // namespace

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

const std::vector<Part> &TileFinder::distribute(const Formula &formula) {
  auto known = distributed.find(&formula);
  if (known != distributed.end())
    return known->second;
  std::vector<Part> parts;
  switch (formula.kind) {
  case Formula::Kind::False:
    break;
  case Formula::Kind::Unknown:
    exact = false;
    [[fallthrough]];
  case Formula::Kind::True:
    parts = {{}};
    break;
  case Formula::Kind::Atom:
    parts = {{formula.expr}};
    break;
  case Formula::Kind::Or:
    parts = distributeOr(formula);
    break;
  case Formula::Kind::And:
    parts = distributeAnd(formula);
    break;
  }
  return distributed[&formula] = std::move(parts);
}

std::vector<Part> TileFinder::distributeOr(const Formula &formula) {
  std::vector<Part> sum;
  for (const FormulaRef &operand : formula.operands)
    for (const Part &part : distribute(*operand))
      if (!llvm::is_contained(sum, part))
        sum.push_back(part);
  if (sum.size() <= maxParts)
    return sum;
  exact = false;
  return {{}};
}

std::vector<Part> TileFinder::distributeAnd(const Formula &formula) {
  std::vector<Part> product{{}};
  for (const FormulaRef &operand : formula.operands) {
    // A copy, because the map may grow.
    std::vector<Part> factors = distribute(*operand), next;
    bool tooLarge = false;
    for (const Part &left : product)
      for (const Part &right : factors) {
        Part both = left;
        for (AffineExpr atom : right)
          if (!llvm::is_contained(both, atom))
            both.push_back(atom);
        tooLarge |= both.size() > maxAtoms || next.size() > maxParts;
        // What cannot hold need not be distributed further.
        if (!tooLarge && !llvm::is_contained(next, both) &&
            !isContradiction(both))
          next.push_back(std::move(both));
      }
    if (tooLarge || next.size() > maxParts)
      exact = false; // One operand less to fulfil.
    else
      product = std::move(next);
  }
  return product;
}

/// The atoms, and that the pair is one of [0, N) x [0, M).
Part TileFinder::onPairs(ArrayRef<AffineExpr> atoms) const {
  AffineExpr i = getAffineDimExpr(0, context), j = getAffineDimExpr(1, context);
  Part all(atoms);
  all.append({i, getAffineSymbolExpr(0, context) - 1 - i, j,
              getAffineSymbolExpr(1, context) - 1 - j});
  return all;
}

bool TileFinder::isContradiction(ArrayRef<AffineExpr> part) const {
  return prover.isContradiction(onPairs(part), 2);
}

/// The union of two parts, if it is a part again.
std::optional<Part> TileFinder::join(const Part &lhs, const Part &rhs) const {
  Part both, onlyLeft, onlyRight;
  for (auto [atom, holds] :
       llvm::zip(lhs, prover.areImplied(lhs, onPairs(rhs), 2)))
    (holds ? both : onlyLeft).push_back(atom);
  for (auto [atom, holds] :
       llvm::zip(rhs, prover.areImplied(rhs, onPairs(lhs), 2)))
    if (!llvm::is_contained(both, atom))
      (holds ? both : onlyRight).push_back(atom);
  // What holds for both parts is in one of them.
  for (AffineExpr left : onlyLeft) {
    Part outside = onPairs(both);
    outside.push_back(-left - 1);
    if (llvm::is_contained(prover.areImplied(onlyRight, outside, 2), false))
      return std::nullopt;
  }
  return both;
}

void TileFinder::joinParts(std::vector<Part> &parts) const {
  for (size_t at = 0; at < parts.size() && parts.size() <= maxCompared;) {
    size_t other = at + 1;
    std::optional<Part> joined;
    for (; other < parts.size(); ++other)
      if ((joined = join(parts[at], parts[other])))
        break;
    if (!joined) {
      ++at;
      continue;
    }
    parts[at] = std::move(*joined);
    parts.erase(parts.begin() + other);
    at = 0;
  }
}

//===----------------------------------------------------------------------===//
// Sets of tiles
//===----------------------------------------------------------------------===//

/// Drops constraints that the others imply.
void TileFinder::simplify(TileConstraints &constraints) const {
  // The longest first: of equal ones the simplest stays.
  llvm::sort(constraints, [](const LinearForm &lhs, const LinearForm &rhs) {
    return lhs.getTerms().size() > rhs.getTerms().size();
  });
  TileConstraints rest;
  bool hasQuotients = false;
  for (auto [constraint, redundant] :
       llvm::zip(constraints, prover.findRedundant(constraints))) {
    if (redundant)
      continue;
    rest.push_back(constraint);
    hasQuotients |= llvm::any_of(constraint.getTerms(), [](auto &term) {
      return isa<AffineBinaryOpExpr>(term.first);
    });
  }
  // What follows for integers only, which takes quotients.
  for (size_t at = 0; at < rest.size() && hasQuotients;) {
    TileConstraints others = rest;
    others.erase(others.begin() + at);
    if (prover.isImplied(rest[at], others))
      rest = std::move(others);
    else
      ++at;
  }
  constraints = std::move(rest);
}

/// Drops sets that another one contains.
void TileFinder::dropContained(std::vector<TileConstraints> &sets) const {
  if (sets.size() > maxCompared)
    return;
  TileConstraints all;
  for (const TileConstraints &set : sets)
    llvm::append_range(all, set);
  std::vector<bool> dropped(sets.size(), false);
  for (size_t at = 0; at < sets.size(); ++at) {
    SmallVector<bool> holds = prover.areImplied(all, sets[at]);
    ArrayRef<bool> rest = holds;
    for (size_t other = 0; other < sets.size(); ++other) {
      bool contains =
          !llvm::is_contained(rest.take_front(sets[other].size()), false);
      rest = rest.drop_front(sets[other].size());
      if (contains && other != at && !dropped[other])
        dropped[at] = true;
    }
  }
  size_t number = 0;
  llvm::erase_if(sets,
                 [&](const TileConstraints &) { return dropped[number++]; });
}

TileProjection TileFinder::run(const Formula &formula) {
  std::vector<Part> parts = distribute(formula);
  llvm::erase_if(parts,
                 [&](const Part &part) { return isContradiction(part); });
  joinParts(parts);
  TileProjection result;
  for (const Part &part : parts) {
    TileProjection projection = projectOntoTiles(part, context);
    exact &= projection.exact;
    for (TileConstraints &constraints : projection.cases) {
      if (prover.isContradiction(constraints))
        continue;
      simplify(constraints);
      if (constraints.size() > maxConstraints) { // The simplest stay.
        exact = false;
        constraints.erase(constraints.begin(),
                          constraints.end() - maxConstraints);
      }
      result.cases.push_back(std::move(constraints));
    }
  }
  dropContained(result.cases);
  result.exact = exact;
  return result;
}

TileProjection attn::findTiles(const Formula &formula, const Prover &prover,
                               MLIRContext *context) {
  return TileFinder(prover, context).run(formula);
}
