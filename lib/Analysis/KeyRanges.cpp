//===- KeyRanges.cpp - ranges of keys by Presburger arithmetic -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A query tile [i0, i1) sees the keys of the projection
//     { j : exists i with i0 <= i < i1 and (i, j) visible },
// and as a whole the complement of the projection of the hidden pairs. Each
// formula becomes a union of convex parts. The least and the greatest key of a
// part are symbolic integer optima: case distinctions over i0, i1, N, M and the
// leaves, whose branches are affine with divisions. Each branch is a candidate
// for a bound; whether it bounds a part everywhere, and not only in its own
// branch, is the question whether a set is empty, so that no candidate is
// trusted before it is proven.
//
//===----------------------------------------------------------------------===//

#include "KeyRanges.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "mlir/Analysis/Presburger/PWMAFunction.h"
#include "mlir/Analysis/Presburger/Simplex.h"
#include "mlir/IR/IntegerSet.h"
#include <vector>

using namespace mlir;
using namespace mlir::presburger;
using namespace attn;

// Sizes up to which the analysis answers within milliseconds. Masks of the
// literature need at most 4 parts of 6 atoms and 2 divisions. Optima are far
// more expensive in divisions than in anything else: a part with more loses the
// atoms that bring them in, which makes it larger and so stays on the safe
// side.
static constexpr size_t maxParts = 16;
static constexpr size_t maxAtoms = 10;
static constexpr size_t maxDivisions = 2;
// A proof adds the divisions of a bound to those of a part.
static constexpr size_t maxProofDivisions = 6;

namespace {

/// A conjunction of atoms `expression >= 0`.
using Conjunction = SmallVector<AffineExpr, 4>;

/// Everything is stated over the dimensions (j, i) and the symbols (i0, i1, N,
/// M, leaves...), for j is what is optimized.
struct RangeFinder {
  RangeFinder(unsigned numLeaves, MLIRContext *context)
      : context(context), numSymbols(4 + numLeaves) {}

  std::optional<KeyRanges> run(const Formula &visible, const Formula &hidden);

private:
  enum class Side { Least, Greatest };

  /// A convex set of pairs, as constraints and flattened.
  struct Part {
    Conjunction constraints;
    FlatLinearValueConstraints set;
    /// Whether atoms were left out.
    bool enlarged = false;
  };

  AffineExpr j() const { return getAffineDimExpr(0, context); }
  AffineExpr i() const { return getAffineDimExpr(1, context); }
  AffineExpr i0() const { return getAffineSymbolExpr(0, context); }
  AffineExpr i1() const { return getAffineSymbolExpr(1, context); }
  AffineExpr n() const { return getAffineSymbolExpr(2, context); }
  AffineExpr m() const { return getAffineSymbolExpr(3, context); }
  AffineExpr constant(int64_t value) const {
    return getAffineConstantExpr(value, context);
  }

  /// The parts of a formula with i in the tile and j in [0, M).
  std::optional<std::vector<Part>> split(const Formula &formula) const;
  bool distribute(const Formula &formula,
                  SmallVectorImpl<Conjunction> &result) const;
  FlatLinearValueConstraints flatten(ArrayRef<AffineExpr> constraints) const;
  bool isTractable(ArrayRef<AffineExpr> constraints) const;
  Part makePart(Conjunction constraints) const;
  bool isEmpty(Conjunction constraints) const;

  /// A case of the least or greatest key of a part: its value for the symbols
  /// in the domain.
  struct Branch {
    AffineExpr value;
    PresburgerSet domain;
  };

  /// The branches of the least or greatest key; none where it is unbounded.
  std::vector<Branch> optimize(const Part &part, Side side) const;
  AffineExpr toExpr(const MultiAffineFunction &function) const;

  /// Whether `bound` <= j, or j <= `bound`, in all parts.
  bool bounds(AffineExpr bound, Side side, ArrayRef<Part> parts) const;
  /// Removes bounds that another one makes superfluous.
  void prune(KeyRanges::Bounds &list, Side side) const;

  /// Fills in begin or end from the visible parts; returns whether it is exact.
  bool findHull(ArrayRef<Part> visible, Side side,
                KeyRanges::Bounds &list) const;
  void findFull(const Formula &hidden, KeyRanges &ranges) const;
  /// Keys that are full in a sample of tiles, to choose between proven bounds.
  int64_t countFull(ArrayRef<AffineExpr> begins,
                    ArrayRef<AffineExpr> ends) const;
  int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> symbols) const;
  AffineExpr toResult(AffineExpr expr) const;

  MLIRContext *context;
  unsigned numSymbols;
};

} // namespace

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Adds the conjunctions of the disjunctive normal form. False if there are too
/// many.
bool RangeFinder::distribute(const Formula &formula,
                             SmallVectorImpl<Conjunction> &result) const {
  switch (formula.kind) {
  case Formula::Kind::True:
  case Formula::Kind::Unknown:
    result.push_back({});
    return true;
  case Formula::Kind::False:
    return true;
  case Formula::Kind::Atom: {
    // From (i, j)[N, M, leaves] to (j, i)[i0, i1, N, M, leaves].
    SmallVector<AffineExpr> symbols;
    for (unsigned symbol = 2; symbol < numSymbols; ++symbol)
      symbols.push_back(getAffineSymbolExpr(symbol, context));
    result.push_back({formula.expr.replaceDimsAndSymbols({i(), j()}, symbols)});
    return true;
  }
  case Formula::Kind::Or:
    for (const FormulaRef &operand : formula.operands)
      if (!distribute(*operand, result))
        return false;
    return result.size() <= maxParts;
  case Formula::Kind::And: {
    SmallVector<Conjunction> product{{}};
    for (const FormulaRef &operand : formula.operands) {
      SmallVector<Conjunction> factors, next;
      if (!distribute(*operand, factors))
        return false;
      if (product.size() * factors.size() > 4 * maxParts)
        return false;
      for (const Conjunction &left : product)
        for (const Conjunction &right : factors) {
          Conjunction both = left;
          for (AffineExpr atom : right)
            if (!llvm::is_contained(both, atom))
              both.push_back(atom);
          if (both.size() > maxAtoms)
            return false;
          // What cannot hold need not be distributed further.
          if (!isEmpty(both))
            next.push_back(std::move(both));
        }
      product = std::move(next);
    }
    llvm::append_range(result, product);
    return result.size() <= maxParts;
  }
  }
  llvm_unreachable("all kinds of formulas are handled");
}

FlatLinearValueConstraints
RangeFinder::flatten(ArrayRef<AffineExpr> constraints) const {
  SmallVector<bool> equalities(constraints.size(), false);
  return FlatLinearValueConstraints(
      IntegerSet::get(2, numSymbols, constraints, equalities));
}

/// Whether symbolic optima of these constraints are found quickly. Without
/// divisions they are. With divisions by different numbers, of symbols, or
/// beside multiples of i and j, the search for cutting planes may not even end;
/// what block-local, chunked and dilated masks need is left.
bool RangeFinder::isTractable(ArrayRef<AffineExpr> constraints) const {
  std::optional<int64_t> divisor;
  size_t divided = 0;
  for (AffineExpr constraint : constraints) {
    bool divides = false, allowed = true;
    constraint.walk([&](AffineExpr part) {
      auto division = dyn_cast<AffineBinaryOpExpr>(part);
      if (!division || (division.getKind() != AffineExprKind::FloorDiv &&
                        division.getKind() != AffineExprKind::Mod))
        return;
      divides = true;
      auto by = cast<AffineConstantExpr>(division.getRHS()).getValue();
      allowed &= !divisor || divisor == by;
      divisor = by;
      for (unsigned symbol = 0; symbol < numSymbols; ++symbol)
        allowed &= !division.getLHS().isFunctionOfSymbol(symbol);
    });
    if (!divides)
      continue;
    // Columns: j, i, symbols, divisions, constant.
    SmallVector<int64_t> row;
    if (!allowed ||
        failed(getFlattenedAffineExpr(constraint, 2, numSymbols, &row)))
      return false;
    for (int64_t coefficient : ArrayRef(row).take_front(2 + numSymbols))
      allowed &= std::abs(coefficient) <= 1;
    for (int64_t coefficient :
         ArrayRef(row).drop_front(2 + numSymbols).drop_back())
      allowed &= std::abs(coefficient) == 1 || std::abs(coefficient) == divisor;
    if (!allowed)
      return false;
    ++divided;
  }
  return divided <= maxDivisions &&
         flatten(constraints).getNumLocalVars() <= maxDivisions;
}

RangeFinder::Part RangeFinder::makePart(Conjunction constraints) const {
  FlatLinearValueConstraints set = flatten(constraints);
  Part part{std::move(constraints), std::move(set)};
  auto divisions = [&](AffineExpr atom) {
    return flatten(atom).getNumLocalVars();
  };
  while (!isTractable(part.constraints)) {
    // The atom with the most divisions goes first.
    part.constraints.erase(llvm::max_element(
        part.constraints, [&](AffineExpr lhs, AffineExpr rhs) {
          return divisions(lhs) < divisions(rhs);
        }));
    part.enlarged = true;
  }
  part.set = flatten(part.constraints);
  return part;
}

bool RangeFinder::isEmpty(Conjunction constraints) const {
  constraints.append({i() - i0(), i1() - 1 - i(), i0()});
  FlatLinearValueConstraints set = flatten(constraints);
  return set.isEmpty() ||
         (set.getNumLocalVars() <= maxProofDivisions && set.isIntegerEmpty());
}

std::optional<std::vector<RangeFinder::Part>>
RangeFinder::split(const Formula &formula) const {
  SmallVector<Conjunction> conjunctions;
  if (!distribute(formula, conjunctions))
    return std::nullopt;
  std::vector<Part> parts;
  for (Conjunction &conjunction : conjunctions) {
    conjunction.append({i() - i0(), i1() - 1 - i(), i0(), j(), m() - 1 - j()});
    // N matters only where the predicate speaks of it.
    if (llvm::any_of(conjunction, [](AffineExpr atom) {
          return atom.isFunctionOfSymbol(2);
        }))
      conjunction.push_back(n() - i1());
    if (isEmpty(conjunction))
      continue;
    parts.push_back(makePart(std::move(conjunction)));
  }
  return parts;
}

//===----------------------------------------------------------------------===//
// Optima
//===----------------------------------------------------------------------===//

// The greatest j is the least -j with its sign changed: the division terms of
// findSymbolicIntegerLexMax's results are lost in MLIR 22.
std::vector<RangeFinder::Branch> RangeFinder::optimize(const Part &part,
                                                       Side side) const {
  SymbolicLexOpt optimum = [&] {
    if (side == Side::Least)
      return part.set.findSymbolicIntegerLexMin();
    Conjunction mirrored;
    for (AffineExpr constraint : part.constraints)
      mirrored.push_back(constraint.replaceDims({-j(), i()}));
    return flatten(mirrored).findSymbolicIntegerLexMin();
  }();
  std::vector<Branch> branches;
  for (const PWMAFunction::Piece &piece : optimum.lexopt.getAllPieces()) {
    AffineExpr value = toExpr(piece.output);
    if (!value)
      return {};
    if (side == Side::Greatest)
      value = simplifyAffineExpr(-value, 0, numSymbols);
    branches.push_back({value, piece.domain});
  }
  return branches;
}

/// The first output, which is j, over the symbols.
AffineExpr RangeFinder::toExpr(const MultiAffineFunction &function) const {
  const DivisionRepr &divs = function.getDivs();
  unsigned numInputs = function.getSpace().getNumDomainVars() +
                       function.getSpace().getNumSymbolVars();
  if (numInputs != numSymbols)
    return {};
  SmallVector<AffineExpr> variables;
  for (unsigned symbol = 0; symbol < numSymbols; ++symbol)
    variables.push_back(getAffineSymbolExpr(symbol, context));
  auto linear = [&](ArrayRef<DynamicAPInt> row) {
    AffineExpr sum = constant(int64_t(row.back()));
    for (auto [variable, coefficient] : llvm::zip(variables, row))
      sum = sum + variable * int64_t(coefficient);
    return sum;
  };
  if (divs.getNumDivs() != function.getSpace().getNumLocalVars())
    return {};
  for (unsigned div = 0; div < divs.getNumDivs(); ++div) {
    if (!divs.hasRepr(div))
      return {};
    // Whole multiples of the divisor are taken out, so that what is left has
    // the smallest coefficients: x - (63 x + 63) floordiv 64 becomes x
    // floordiv 64.
    int64_t divisor = int64_t(divs.getDenom(div));
    SmallVector<DynamicAPInt> dividend(divs.getDividend(div));
    dividend.truncate(variables.size());
    dividend.push_back(divs.getDividend(div).back());
    SmallVector<DynamicAPInt> whole(dividend.size(), DynamicAPInt(0));
    bool mirrored = false;
    for (auto [at, coefficient] : llvm::enumerate(dividend)) {
      int64_t quotient = llvm::divideFloorSigned(
          2 * int64_t(coefficient) + divisor, 2 * divisor);
      if (at + 1 == dividend.size())
        break;
      whole[at] = quotient;
      coefficient -= quotient * divisor;
      mirrored = mirrored || coefficient < 0;
    }
    // floor((-x + c) / d) = -floor((x - c + d - 1) / d)
    if (mirrored) {
      for (DynamicAPInt &coefficient : dividend)
        coefficient = -coefficient;
      dividend.back() += divisor - 1;
    }
    whole.back() = floorDiv(dividend.back(), DynamicAPInt(divisor));
    dividend.back() -= whole.back() * divisor;
    AffineExpr rounded = linear(dividend).floorDiv(divisor);
    if (mirrored) {
      rounded = -rounded;
      whole.back() = -whole.back();
    }
    variables.push_back(linear(whole) + rounded);
  }
  return simplifyAffineExpr(linear(function.getOutputExpr(0)), 0, numSymbols);
}

bool RangeFinder::bounds(AffineExpr bound, Side side,
                         ArrayRef<Part> parts) const {
  return llvm::all_of(parts, [&](const Part &part) {
    Conjunction outside = part.constraints;
    outside.push_back(side == Side::Least ? bound - 1 - j() : j() - 1 - bound);
    return isEmpty(std::move(outside));
  });
}

/// The number of nodes of an expression.
static int getComplexity(AffineExpr expr) {
  int nodes = 0;
  expr.walk([&](AffineExpr) { ++nodes; });
  return nodes;
}

void RangeFinder::prune(KeyRanges::Bounds &list, Side side) const {
  // Of equal bounds the simplest stays.
  llvm::sort(list, [](AffineExpr lhs, AffineExpr rhs) {
    return getComplexity(lhs) > getComplexity(rhs);
  });
  Conjunction tile{i0(), i1() - 1 - i0(), n() - i1(), m()};
  for (size_t at = 0; at < list.size();) {
    bool superfluous = llvm::any_of(list, [&](AffineExpr other) {
      if (other == list[at])
        return false;
      Conjunction decides = tile;
      decides.push_back(side == Side::Least ? list[at] - other - 1
                                            : other - list[at] - 1);
      return isEmpty(std::move(decides));
    });
    if (superfluous)
      list.erase(list.begin() + at);
    else
      ++at;
  }
  std::reverse(list.begin(), list.end());
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

bool RangeFinder::findHull(ArrayRef<Part> visible, Side side,
                           KeyRanges::Bounds &list) const {
  KeyRanges::Bounds refuted;
  std::vector<Branch> open;
  PresburgerSet decided =
      PresburgerSet::getEmpty(PresburgerSpace::getSetSpace(0, numSymbols));
  bool exact = true;
  for (const Part &part : visible) {
    std::vector<Branch> branches = optimize(part, side);
    exact &= !part.enlarged && !branches.empty();
    for (Branch &branch : branches) {
      if (!llvm::is_contained(list, branch.value) &&
          !llvm::is_contained(refuted, branch.value)) {
        bool proven = bounds(branch.value, side, visible);
        (proven ? list : refuted).push_back(branch.value);
      }
      // Where a part attains a proven bound, the bound is the hull's.
      if (llvm::is_contained(list, branch.value))
        decided.unionInPlace(branch.domain);
      else
        open.push_back(std::move(branch));
    }
  }

  // Elsewhere the hull is looser than the part, unless a proven bound happens
  // to have the same value.
  if (!exact || open.size() > maxParts ||
      decided.getNumDisjuncts() > 2 * maxParts)
    return false;
  return llvm::all_of(open, [&](const Branch &branch) {
    SmallVector<AffineExpr> looser;
    for (AffineExpr bound : list)
      looser.push_back(side == Side::Least ? branch.value - bound - 1
                                           : bound - branch.value - 1);
    SmallVector<bool> equalities(looser.size(), false);
    FlatLinearValueConstraints set(
        IntegerSet::get(0, numSymbols, looser, equalities));
    PresburgerSet gap =
        branch.domain.intersect(PresburgerSet(IntegerPolyhedron(set)));
    return gap.isIntegerEmpty() || gap.subtract(decided).isIntegerEmpty();
  });
}

int64_t RangeFinder::evaluate(AffineExpr expr,
                              ArrayRef<int64_t> symbols) const {
  SmallVector<AffineExpr> values;
  for (int64_t symbol : symbols)
    values.push_back(constant(symbol));
  auto number = dyn_cast<AffineConstantExpr>(expr.replaceSymbols(values));
  return number ? number.getValue() : 0;
}

int64_t RangeFinder::countFull(ArrayRef<AffineExpr> begins,
                               ArrayRef<AffineExpr> ends) const {
  constexpr int64_t size = 2048, tile = 24;
  int64_t count = 0;
  for (int64_t leaf : {int64_t(0), int64_t(128), size / 2})
    for (int64_t first = 0; first < size; first += 5 * tile) {
      SmallVector<int64_t> symbols(numSymbols, leaf);
      symbols[0] = first;
      symbols[1] = std::min(first + tile, size);
      symbols[2] = symbols[3] = size;
      int64_t begin = 0, end = size;
      for (AffineExpr bound : begins)
        begin = std::max(begin, evaluate(bound, symbols));
      for (AffineExpr bound : ends)
        end = std::min(end, evaluate(bound, symbols));
      count += std::max<int64_t>(0, end - begin);
    }
  return count;
}

/// A hidden part lies below the full range or above it. Where both are possible
/// (a hole), and where several bounds are proven, the choice that leaves most
/// keys in a sample of tiles is taken; each choice is right.
void RangeFinder::findFull(const Formula &hidden, KeyRanges &ranges) const {
  auto giveUp = [&] {
    ranges.fullBegin.assign({constant(0)});
    ranges.fullEnd.assign({constant(0)});
  };
  std::optional<std::vector<Part>> parts = split(hidden);
  if (!parts)
    return giveUp();
  for (const Part &part : *parts) {
    int64_t best = -1;
    KeyRanges::Bounds bestBegin, bestEnd;
    auto consider = [&](Side side) {
      SmallVector<AffineExpr> tried;
      for (const Branch &one : optimize(part, side)) {
        AffineExpr branch = one.value;
        if (llvm::is_contained(tried, branch))
          continue;
        tried.push_back(branch);
        if (!bounds(branch, side, part))
          continue;
        KeyRanges::Bounds begin = ranges.fullBegin, end = ranges.fullEnd;
        if (side == Side::Least)
          end.push_back(branch);
        else
          begin.push_back(branch + 1);
        int64_t count = countFull(begin, end);
        if (count > best) {
          best = count;
          bestBegin = begin;
          bestEnd = end;
        }
      }
    };
    consider(Side::Least);
    consider(Side::Greatest);
    if (best <= 0)
      return giveUp();
    ranges.fullBegin = bestBegin;
    ranges.fullEnd = bestEnd;
  }
}

/// From the symbols (i0, i1, N, M, leaves) to (i0, i1)[N, M, leaves].
AffineExpr RangeFinder::toResult(AffineExpr expr) const {
  SmallVector<AffineExpr> symbols{getAffineDimExpr(0, context),
                                  getAffineDimExpr(1, context)};
  for (unsigned symbol = 2; symbol < numSymbols; ++symbol)
    symbols.push_back(getAffineSymbolExpr(symbol - 2, context));
  return simplifyAffineExpr(expr.replaceSymbols(symbols), 2, numSymbols - 2);
}

std::optional<KeyRanges> RangeFinder::run(const Formula &visible,
                                          const Formula &hidden) {
  std::optional<std::vector<Part>> parts = split(visible);
  if (!parts)
    return std::nullopt;

  KeyRanges ranges;
  ranges.begin.push_back(constant(0));
  // Bounds are inclusive until the end.
  ranges.end.push_back(m() - 1);
  bool exactBegin = findHull(*parts, Side::Least, ranges.begin);
  bool exactEnd = findHull(*parts, Side::Greatest, ranges.end);
  ranges.exact = exactBegin && exactEnd;
  for (AffineExpr &bound : ranges.end)
    bound = bound + 1;
  if (parts->empty()) // Nothing is visible to anyone.
    ranges.end.assign({constant(0)});

  ranges.fullBegin.push_back(constant(0));
  ranges.fullEnd.push_back(m());
  findFull(hidden, ranges);

  prune(ranges.begin, Side::Least);
  prune(ranges.fullBegin, Side::Least);
  prune(ranges.fullEnd, Side::Greatest);
  prune(ranges.end, Side::Greatest);
  for (KeyRanges::Bounds *list :
       {&ranges.begin, &ranges.fullBegin, &ranges.fullEnd, &ranges.end})
    for (AffineExpr &bound : *list)
      bound = toResult(bound);
  return ranges;
}

std::optional<KeyRanges> attn::findKeyRanges(const Formula &visible,
                                             const Formula &hidden,
                                             unsigned numLeaves,
                                             MLIRContext *context) {
  return RangeFinder(numLeaves, context).run(visible, hidden);
}
