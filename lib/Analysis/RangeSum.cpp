//===- RangeSum.cpp - the keys of all queries in a range --------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A query i sees the keys from the greatest of the begins to the least of the
// ends, all of them lines over i. The queries fall into pieces in which one
// begin and one end decide; each piece sums to a polynomial of its ends, and
// the pieces meet where two lines cross. Which line decides where is looked up
// at the values that were asked for, and what was found there is either proved
// for all sizes or becomes a condition of the formula.
//
//===----------------------------------------------------------------------===//

#include "RangeSum.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

/// Whether a bound depends on more than the sizes.
static bool usesLeaf(AffineExpr expr) {
  bool found = false;
  expr.walk([&](AffineExpr part) {
    auto symbol = dyn_cast<AffineSymbolExpr>(part);
    found |= symbol && symbol.getPosition() > 1;
  });
  return found;
}

std::optional<KeyLine> RangeSum::readLine(AffineExpr expr) const {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return KeyLine{0, SizePolynomial(double(number.getValue()))};
  // A tile of one query: i0 = i and i1 = i + 1.
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return KeyLine{1, SizePolynomial(dim.getPosition() == 0 ? 0.0 : 1.0)};
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    return KeyLine{0, symbol.getPosition() == 0 ? queries : keys};
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<KeyLine> lhs = readLine(binary.getLHS());
  std::optional<KeyLine> rhs = readLine(binary.getRHS());
  if (!lhs || !rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return KeyLine{lhs->slope + rhs->slope, lhs->offset + rhs->offset};
  std::optional<double> factor = rhs->offset.constant();
  if (expr.getKind() != AffineExprKind::Mul || rhs->slope != 0 || !factor)
    return std::nullopt;
  return KeyLine{lhs->slope * int64_t(*factor), lhs->offset * *factor};
}

bool RangeSum::readBounds(AffineMap map, SizePolynomial outermost,
                          std::vector<KeyLine> &lines) {
  lines = {KeyLine{0, std::move(outermost)}};
  for (AffineExpr expr : map.getResults()) {
    // A leaf only hides more.
    if (usesLeaf(expr))
      continue;
    std::optional<KeyLine> line = readLine(expr);
    if (!line)
      return false;
    bool isKnown = llvm::any_of(lines, [&](const KeyLine &known) {
      return known.slope == line->slope && known.offset == line->offset;
    });
    if (!isKnown)
      lines.push_back(*line);
  }
  for (KeyLine &line : lines) {
    std::optional<double> value = line.offset.evaluate(values);
    if (!value)
      return false;
    line.value = *value;
  }
  return true;
}

bool RangeSum::readWhere(IntegerSet set) {
  for (auto [number, expr] : llvm::enumerate(set.getConstraints())) {
    if (usesLeaf(expr))
      continue;
    std::optional<KeyLine> line = readLine(expr);
    std::optional<double> value =
        line ? line->offset.evaluate(values) : std::nullopt;
    if (!value || set.isEq(number))
      return false;
    line->value = *value;
    where.push_back(*line);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

/// Two lines change places at query `i`: there is where they are equal.
bool RangeSum::startPiece(double i, const KeyLine &before,
                          const KeyLine &after) {
  int64_t steps = before.slope - after.slope;
  if (steps != 1 && steps != -1)
    return false;
  KeyPiece piece = pieces.back();
  piece.begin = (after.offset + before.offset * -1) * double(steps);
  // Equal at i or, where they are integers and only one is less, just before.
  std::optional<double> begin = piece.begin.evaluate(values);
  if (!begin || *begin > i || *begin < i - 1)
    return false;
  pieces.push_back(std::move(piece));
  return true;
}

/// The pieces at the values that were asked for.
bool RangeSum::findPieces() {
  auto choose = [](const std::vector<KeyLine> &lines, double i,
                   unsigned current, double sign) {
    unsigned best = current;
    for (unsigned n = 0; n < lines.size(); ++n)
      if (sign * lines[n].at(i) < sign * lines[best].at(i))
        best = n;
    return best;
  };
  double count = *queries.evaluate(values);
  if (count < 1 || count > double(1 << 24))
    return false;
  KeyPiece first;
  first.lower = choose(lower, 0, 0, -1);
  first.upper = choose(upper, 0, 0, 1);
  first.isEmpty = upper[first.upper].at(0) < lower[first.lower].at(0);
  pieces = {first};
  for (double i = 1; i < count; ++i) {
    unsigned low = choose(lower, i, pieces.back().lower, -1);
    unsigned high = choose(upper, i, pieces.back().upper, 1);
    if (low != pieces.back().lower) {
      if (!startPiece(i, lower[pieces.back().lower], lower[low]))
        return false;
      pieces.back().lower = low;
    }
    if (high != pieces.back().upper) {
      if (!startPiece(i, upper[pieces.back().upper], upper[high]))
        return false;
      pieces.back().upper = high;
    }
    bool isEmpty = upper[high].at(i) < lower[low].at(i);
    if (isEmpty != pieces.back().isEmpty) {
      if (!startPiece(i, upper[high], lower[low]))
        return false;
      pieces.back().isEmpty = isEmpty;
    }
    if (pieces.size() > 16)
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// Whether it holds for all sizes of at least 1: each dim is its minimum and a
/// rest of at least 0, and with rests no factor is negative. Or the reverse,
/// where the maxima are what matters.
bool RangeSum::isProved(const SizePolynomial &atLeastZero) const {
  auto holds = [&](bool fromMinimum) {
    SizePolynomial shifted =
        atLeastZero.substitute([&](llvm::StringRef dim) -> SizePolynomial {
          DimBounds range = ranges.lookup(dim);
          return fromMinimum
                     ? SizePolynomial::dim(dim) +
                           double(std::max<int64_t>(range.min, 1))
                     : SizePolynomial::dim(dim) * -1 + double(range.max);
        });
    return !shifted.hasNegativeFactor();
  };
  return holds(true) || holds(false);
}

void RangeSum::require(const SizePolynomial &atLeastZero) {
  if (isProved(atLeastZero))
    return;
  // Of conditions that follow from each other the strictest stays.
  for (const SizePolynomial &known : conditions)
    if (isProved(atLeastZero + known * -1))
      return;
  llvm::erase_if(conditions, [&](const SizePolynomial &known) {
    return isProved(known + atLeastZero * -1);
  });
  conditions.push_back(atLeastZero);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// The keys of all queries from begin to end.
SizePolynomial RangeSum::sumPiece(const KeyPiece &piece,
                                  const SizePolynomial &end) const {
  if (piece.isEmpty)
    return {};
  const KeyLine &low = lower[piece.lower], &high = upper[piece.upper];
  // 0 + 1 + ... + (i - 1)
  auto triangle = [](const SizePolynomial &i) { return i * (i + -1) * 0.5; };
  return (triangle(end) + triangle(piece.begin) * -1) *
             double(high.slope - low.slope) +
         (high.offset + low.offset * -1) * (end + piece.begin * -1);
}

std::optional<SizePolynomial> RangeSum::sum(KeyRangeAttr range) {
  if (range.getWhere() && !readWhere(range.getWhere().getValue()))
    return std::nullopt;
  if (!queries.evaluate(values) ||
      !readBounds(range.getBegin().getValue(), SizePolynomial(), lower) ||
      !readBounds(range.getEnd().getValue(), keys, upper) || !findPieces())
    return std::nullopt;
  SizePolynomial total;
  for (auto [number, piece] : llvm::enumerate(pieces)) {
    bool isLast = number + 1 == pieces.size();
    SizePolynomial end = isLast ? queries : pieces[number + 1].begin;
    // Where the next piece begins, its line has the same value.
    SizePolynomial last = isLast ? end + -1 : end;
    require(end + piece.begin * -1);
    const KeyLine &low = lower[piece.lower], &high = upper[piece.upper];
    for (const SizePolynomial &i : {piece.begin, last}) {
      SizePolynomial seen = high.at(i) + low.at(i) * -1;
      require(piece.isEmpty ? seen * -1 : seen);
      if (piece.isEmpty) // Whatever the others are.
        continue;
      // A range that is not there for a part of the queries has no formula.
      for (const KeyLine &line : where) {
        if (line.at(*i.evaluate(values)) < 0)
          return std::nullopt;
        require(line.at(i));
      }
      for (const KeyLine &line : upper)
        require(line.at(i) + high.at(i) * -1);
      for (const KeyLine &line : lower)
        require(low.at(i) + line.at(i) * -1);
    }
    total += sumPiece(piece, end);
  }
  return total;
}
