//===- Elimination.cpp - tiles that hold a pair of a convex set *- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// "Some pair of the tile fulfils all atoms" says that integers i, j and
// quotients exist. They are eliminated one after the other, each step exact:
//
//   equalities   are solved by unimodular substitutions;
//   a variable x with lower bounds L <= a x and upper bounds b x <= U exists if
//                ceil(L / a) <= floor(U / b) for each pair, and that is linear
//                again where a or b is 1, where a divides all coefficients of
//                variables in L, where b does in U, or where U - L is so large
//                that it always holds;
//   otherwise    the variables in the way are split by residue classes.
//
// What is left are constraints on the bounds of the tile, with floors of
// quotients. This takes bounded time, which general quantifier elimination
// (computeReprWithOnlyDivLocals, symbolic optima) does not: with several
// divisors the search for its cutting planes may not end. Where the budget of
// residue classes is used up, a pair is relaxed to rationals, which makes the
// set of tiles larger.
//
//===----------------------------------------------------------------------===//

#include "Elimination.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <numeric>

using namespace mlir;
using namespace attn;

/// Residue classes that a set may be split into, and rows of a system. Masks of
/// the literature need one class and 12 rows.
static constexpr int64_t maxClasses = 6;
static constexpr size_t maxRows = 96;
/// Coefficients of variables are smaller, so that sums of two products fit.
static constexpr int64_t maxNumber = int64_t(1) << 30;

namespace {

/// sum_k x[k] * variable_k + rest >= 0. Coefficients past the end are 0.
struct Row {
  SmallVector<int64_t, 6> x;
  LinearForm rest;

  int64_t at(unsigned variable) const {
    return variable < x.size() ? x[variable] : 0;
  }
  void set(unsigned variable, int64_t coefficient) {
    if (variable >= x.size())
      x.resize(variable + 1, 0);
    x[variable] = coefficient;
  }
  bool hasVariables() const {
    return llvm::any_of(x, [](int64_t number) { return number != 0; });
  }
  /// this * factor + other * otherFactor
  Row combine(int64_t factor, const Row &other, int64_t otherFactor) const {
    Row sum;
    sum.rest = rest * factor + other.rest * otherFactor;
    if (std::abs(factor) >= maxNumber || std::abs(otherFactor) >= maxNumber)
      sum.invalidate();
    if (!sum.rest.isValid())
      return sum;
    for (unsigned k = 0; k < std::max(x.size(), other.x.size()); ++k) {
      sum.set(k, at(k) * factor + other.at(k) * otherFactor);
      sum.check(k);
    }
    return sum;
  }
  /// Whether the divisor divides the coefficients of all other variables.
  bool isDivisible(unsigned except, int64_t divisor) const {
    for (unsigned k = 0; k < x.size(); ++k)
      if (k != except && x[k] % divisor != 0)
        return false;
    return true;
  }
  void check(unsigned k) {
    if (std::abs(x[k]) >= maxNumber) {
      x[k] = 0;
      invalidate();
    }
  }
  void invalidate() { rest = rest * std::numeric_limits<int64_t>::max(); }
  /// Whether variables and terms agree up to `sign`.
  bool isParallel(const Row &other, int64_t sign) const {
    for (unsigned k = 0; k < std::max(x.size(), other.x.size()); ++k)
      if (at(k) != sign * other.at(k))
        return false;
    return rest.hasTermsOf(other.rest, sign);
  }
};

struct System {
  std::vector<Row> rows;
  unsigned numVariables = 0;
};

class Eliminator {
public:
  Eliminator(MLIRContext *context, TileProjection &result)
      : context(context), result(result) {}
  void run(ArrayRef<AffineExpr> atoms);

private:
  LinearForm tileBound(unsigned dim) const {
    return LinearForm::ofTerm(getAffineDimExpr(dim, context));
  }

  // Reading atoms.
  Row flatten(AffineExpr expr, System &system);
  Row flattenQuotient(const Row &dividend, int64_t divisor, System &system);

  // Steps.
  void eliminate(System system);
  bool normalize(System &system);
  bool solveEquality(System &system);
  struct Choice {
    unsigned variable;
    int64_t inexact, cost;
  };
  std::optional<Choice> choose(const System &system) const;
  void eliminate(System &system, unsigned variable);
  bool split(const System &system, unsigned variable);

  /// What a lower and an upper bound of a variable have to do with each other.
  enum class Pair { Holds, Linear, FloorLower, FloorUpper, Inexact };
  Pair classify(const Row &lower, const Row &upper, unsigned variable) const;
  Row divide(const Row &row, unsigned except, int64_t divisor) const;

  MLIRContext *context;
  TileProjection &result;
  int64_t classes = maxClasses;
  /// Quotients that are variables: dividend, divisor, variable.
  std::vector<std::tuple<Row, int64_t, unsigned>> quotients;
};

} // namespace

//===----------------------------------------------------------------------===//
// Atoms
//===----------------------------------------------------------------------===//

Row Eliminator::flatten(AffineExpr expr, System &system) {
  Row row;
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    row.rest = LinearForm(cast<AffineConstantExpr>(expr).getValue());
    return row;
  case AffineExprKind::DimId:
    row.set(cast<AffineDimExpr>(expr).getPosition(), 1);
    return row;
  case AffineExprKind::SymbolId:
    row.rest = LinearForm::ofTerm(expr);
    return row;
  default:
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Row lhs = flatten(binary.getLHS(), system);
  if (expr.getKind() == AffineExprKind::Add)
    return lhs.combine(1, flatten(binary.getRHS(), system), 1);
  int64_t number = cast<AffineConstantExpr>(binary.getRHS()).getValue();
  switch (expr.getKind()) {
  case AffineExprKind::Mul:
    return lhs.combine(number, Row(), 0);
  case AffineExprKind::FloorDiv:
    return flattenQuotient(lhs, number, system);
  case AffineExprKind::CeilDiv:
    return flattenQuotient(lhs.combine(-1, Row(), 0), number, system)
        .combine(-1, Row(), 0);
  case AffineExprKind::Mod:
    return lhs.combine(1, flattenQuotient(lhs, number, system), -number);
  default:
    llvm_unreachable("affine expressions have no other kinds");
  }
}

/// floor(dividend / divisor): a variable, unless it depends on none.
Row Eliminator::flattenQuotient(const Row &dividend, int64_t divisor,
                                System &system) {
  Row whole, rest = dividend;
  for (unsigned k = 0; k < dividend.x.size(); ++k) {
    int64_t multiple =
        llvm::divideFloorSigned(2 * dividend.x[k] + divisor - 1, 2 * divisor);
    whole.set(k, multiple);
    rest.x[k] -= multiple * divisor;
  }
  if (!rest.hasVariables()) {
    whole.rest = rest.rest.floorDiv(divisor, context);
    return whole;
  }
  unsigned variable = 0;
  for (auto &[known, by, number] : quotients)
    if (by == divisor && known.isParallel(rest, 1) &&
        known.rest.getConstant() == rest.rest.getConstant())
      variable = number;
  if (variable == 0) {
    variable = system.numVariables++;
    quotients.push_back({rest, divisor, variable});
    // 0 <= rest - divisor * variable <= divisor - 1
    Row quotient;
    quotient.set(variable, 1);
    Row remainder = rest.combine(1, quotient, -divisor);
    Row limit;
    limit.rest = LinearForm(divisor - 1);
    system.rows.push_back(remainder);
    system.rows.push_back(limit.combine(1, remainder, -1));
  }
  whole.set(variable, whole.at(variable) + 1);
  return whole;
}

void Eliminator::run(ArrayRef<AffineExpr> atoms) {
  System system;
  system.numVariables = 2;
  for (AffineExpr atom : atoms) {
    Row row = flatten(atom, system);
    system.rows.push_back(std::move(row));
  }
  for (unsigned position : {0, 1}) {
    Row variable, first, last;
    variable.set(position, 1);
    first.rest = tileBound(2 * position);
    last.rest = tileBound(2 * position + 1) - LinearForm(1);
    system.rows.push_back(variable.combine(1, first, -1));
    system.rows.push_back(last.combine(1, variable, -1));
  }
  eliminate(std::move(system));
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void Eliminator::eliminate(System system) {
  while (normalize(system)) {
    if (solveEquality(system))
      continue;
    std::optional<Choice> choice = choose(system);
    if (!choice) {
      TileConstraints constraints;
      for (Row &row : system.rows)
        constraints.push_back(std::move(row.rest));
      result.cases.push_back(std::move(constraints));
      return;
    }
    if (choice->inexact) {
      if (split(system, choice->variable))
        return;
      result.exact = false;
    }
    eliminate(system, choice->variable);
  }
}

/// Divides rows by common factors, drops what others imply. False if they
/// contradict each other.
bool Eliminator::normalize(System &system) {
  std::vector<Row> rows;
  for (Row &row : system.rows) {
    if (!row.rest.isValid()) {
      result.exact = false;
      continue;
    }
    int64_t gcd = row.rest.gcdOfTerms();
    for (int64_t number : row.x)
      gcd = std::gcd(gcd, number);
    if (gcd == 0) {
      if (row.rest.getConstant() < 0)
        return false;
      continue;
    }
    if (gcd > 1) {
      for (int64_t &number : row.x)
        number /= gcd;
      row.rest = row.rest.divideTerms(gcd);
    }
    bool superfluous = false;
    for (Row &other : rows) {
      int64_t sum = row.rest.getConstant() + other.rest.getConstant();
      if (sum < 0 && row.isParallel(other, -1))
        return false;
      if (!row.isParallel(other, 1))
        continue;
      superfluous = true;
      if (row.rest.getConstant() < other.rest.getConstant())
        std::swap(row, other);
    }
    if (!superfluous)
      rows.push_back(std::move(row));
  }
  if (rows.size() > maxRows) {
    result.exact = false;
    rows.resize(maxRows);
  }
  system.rows = std::move(rows);
  return true;
}

/// Solves an equality, two opposite rows, for one variable.
bool Eliminator::solveEquality(System &system) {
  auto isEquality = [&](const Row &row) {
    return row.hasVariables() &&
           llvm::any_of(system.rows, [&](const Row &other) {
             return row.isParallel(other, -1) &&
                    row.rest.getConstant() + other.rest.getConstant() == 0;
           });
  };
  auto found = llvm::find_if(system.rows, isEquality);
  if (found == system.rows.end())
    return false;
  unsigned at = found - system.rows.begin();

  // Euclid's algorithm on the coefficients, each step a new variable for
  // `least` plus multiples of others.
  for (;;) {
    Row &equality = system.rows[at];
    std::optional<unsigned> least;
    unsigned count = 0;
    for (unsigned k = 0; k < equality.x.size(); ++k) {
      if (equality.x[k] == 0)
        continue;
      ++count;
      if (!least || std::abs(equality.x[k]) < std::abs(equality.x[*least]))
        least = k;
    }
    int64_t divisor = equality.x[*least];
    if (count == 1) {
      // divisor * variable + rest = 0. Where the divisor does not divide the
      // rest the rows of the equality, which stay, contradict each other.
      LinearForm value = (equality.rest * (divisor > 0 ? -1 : 1))
                             .floorDiv(std::abs(divisor), context);
      for (Row &row : system.rows) {
        row.rest = row.rest + value * row.at(*least);
        row.set(*least, 0);
      }
      return true;
    }
    for (unsigned k = 0; k < equality.x.size(); ++k) {
      int64_t multiple = k == *least ? 0 : equality.x[k] / divisor;
      if (multiple == 0)
        continue;
      for (Row &row : system.rows) {
        row.set(k, row.at(k) - multiple * row.at(*least));
        row.check(k);
      }
    }
    if (!system.rows[at].rest.isValid()) // Too large to be solved.
      return true;
  }
}

Eliminator::Pair Eliminator::classify(const Row &lower, const Row &upper,
                                      unsigned variable) const {
  int64_t a = lower.at(variable), b = -upper.at(variable);
  if (a == 1 || b == 1)
    return Pair::Linear;
  // Constraints stay linear in j0 and j1 where there is a choice: such a one
  // is a bound of a range of keys.
  auto readsKeys = [&](const Row &row) {
    return llvm::any_of(row.rest.getTerms(), [](auto &term) {
      return term.first.isFunctionOfDim(2) || term.first.isFunctionOfDim(3);
    });
  };
  bool floorsLower = lower.isDivisible(variable, a);
  bool floorsUpper = upper.isDivisible(variable, b);
  if (floorsLower && (!floorsUpper || !readsKeys(lower)))
    return Pair::FloorLower;
  if (floorsUpper)
    return Pair::FloorUpper;
  // a U - b L >= (a - 1)(b - 1): there is a multiple in between.
  Row distance = lower.combine(b, upper, a);
  if (!distance.hasVariables() && distance.rest.isValid() &&
      distance.rest.isConstant() &&
      distance.rest.getConstant() >= (a - 1) * (b - 1))
    return Pair::Holds;
  return Pair::Inexact;
}

std::optional<Eliminator::Choice>
Eliminator::choose(const System &system) const {
  std::optional<Choice> best;
  for (unsigned variable = 0; variable < system.numVariables; ++variable) {
    SmallVector<const Row *> lowers, uppers;
    for (const Row &row : system.rows)
      if (int64_t coefficient = row.at(variable))
        (coefficient > 0 ? lowers : uppers).push_back(&row);
    if (lowers.empty() && uppers.empty())
      continue;
    Choice choice{variable, 0,
                  int64_t(lowers.size() * uppers.size()) -
                      int64_t(lowers.size() + uppers.size())};
    for (const Row *lower : lowers)
      for (const Row *upper : uppers)
        choice.inexact += classify(*lower, *upper, variable) == Pair::Inexact;
    if (!best || std::tie(choice.inexact, choice.cost) <
                     std::tie(best->inexact, best->cost))
      best = choice;
  }
  return best;
}

Row Eliminator::divide(const Row &row, unsigned except, int64_t divisor) const {
  Row quotient;
  for (unsigned k = 0; k < row.x.size(); ++k)
    quotient.set(k, k == except ? 0 : row.x[k] / divisor);
  quotient.rest = row.rest.floorDiv(divisor, context);
  return quotient;
}

/// Replaces the rows of a variable by what they imply for each other.
void Eliminator::eliminate(System &system, unsigned variable) {
  std::vector<Row> rows, lowers, uppers;
  for (Row &row : system.rows) {
    int64_t coefficient = row.at(variable);
    (coefficient == 0  ? rows
     : coefficient > 0 ? lowers
                       : uppers)
        .push_back(std::move(row));
  }
  for (const Row &lower : lowers)
    for (const Row &upper : uppers) {
      int64_t a = lower.at(variable), b = -upper.at(variable);
      switch (classify(lower, upper, variable)) {
      case Pair::Holds:
        break;
      case Pair::Linear:
      case Pair::Inexact: // A rational number in between.
        rows.push_back(lower.combine(b, upper, a));
        break;
      case Pair::FloorLower: // b ceil(L / a) <= U, where L = -lower
        rows.push_back(divide(lower, variable, a).combine(b, upper, 1));
        rows.back().set(variable, 0);
        break;
      case Pair::FloorUpper: // L <= a floor(U / b)
        rows.push_back(lower.combine(1, divide(upper, variable, b), a));
        rows.back().set(variable, 0);
        break;
      }
    }
  system.rows = std::move(rows);
}

/// Splits the variables that keep a pair of bounds from being exact into
/// residue classes, and goes on with each. False if there are too many.
bool Eliminator::split(const System &system, unsigned variable) {
  for (const Row &lower : system.rows)
    for (const Row &upper : system.rows) {
      int64_t a = lower.at(variable), b = -upper.at(variable);
      if (a <= 0 || b <= 0 || classify(lower, upper, variable) != Pair::Inexact)
        continue;
      // The side with fewer classes.
      SmallVector<std::pair<unsigned, int64_t>> best;
      int64_t bestCount = 0;
      for (auto [row, divisor] : {std::pair(&lower, a), {&upper, b}}) {
        SmallVector<std::pair<unsigned, int64_t>> moduli;
        int64_t count = 1;
        for (unsigned k = 0; k < row->x.size(); ++k)
          if (k != variable && row->x[k] % divisor != 0) {
            moduli.push_back({k, divisor / std::gcd(divisor, row->x[k])});
            if (llvm::MulOverflow(count, moduli.back().second, count))
              count = classes + 1;
            count = std::min(count, classes + 1);
          }
        if (bestCount == 0 || count < bestCount) {
          best = moduli;
          bestCount = count;
        }
      }
      if (bestCount > classes)
        return false;
      classes -= bestCount - 1;
      for (int64_t number = 0; number < bestCount; ++number) {
        System part = system;
        int64_t digits = number;
        for (auto [k, modulus] : best) {
          int64_t residue = digits % modulus;
          digits /= modulus;
          for (Row &row : part.rows) {
            row.rest = row.rest + LinearForm(row.at(k) * residue);
            row.set(k, row.at(k) * modulus);
            row.check(k);
          }
        }
        eliminate(std::move(part));
      }
      return true;
    }
  return false;
}

TileProjection attn::projectOntoTiles(ArrayRef<AffineExpr> atoms,
                                      MLIRContext *context) {
  TileProjection result;
  Eliminator(context, result).run(atoms);
  return result;
}
