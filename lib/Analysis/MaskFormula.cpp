//===- MaskFormula.cpp - a mask region as a formula ------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "MaskFormula.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

/// An integer of more cases is not understood: formulas multiply them.
static constexpr size_t maxCases = 8;

static FormulaRef makeConstant(bool value) {
  return std::make_shared<Formula>(
      Formula{value ? Formula::Kind::True : Formula::Kind::False});
}

static FormulaRef makeAtom(AffineExpr expr) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return makeConstant(number.getValue() >= 0);
  return std::make_shared<Formula>(Formula{Formula::Kind::Atom, expr});
}

/// And, or Or, of two formulas, without constants as operands.
static FormulaRef makeBinary(Formula::Kind kind, FormulaRef lhs,
                             FormulaRef rhs) {
  Formula::Kind neutral =
      kind == Formula::Kind::And ? Formula::Kind::True : Formula::Kind::False;
  Formula::Kind absorbing =
      kind == Formula::Kind::And ? Formula::Kind::False : Formula::Kind::True;
  if (lhs->kind == neutral || rhs->kind == absorbing)
    return rhs;
  if (rhs->kind == neutral || lhs->kind == absorbing)
    return lhs;
  return std::make_shared<Formula>(Formula{kind, {}, {lhs, rhs}});
}
static FormulaRef makeAnd(FormulaRef lhs, FormulaRef rhs) {
  return makeBinary(Formula::Kind::And, std::move(lhs), std::move(rhs));
}
static FormulaRef makeOr(FormulaRef lhs, FormulaRef rhs) {
  return makeBinary(Formula::Kind::Or, std::move(lhs), std::move(rhs));
}

MaskReader::MaskReader(AttentionOp op)
    : op(op), block(op.getMask().front()), context(op.getContext()),
      predicate(block.getTerminator()->getOperand(0)),
      query(getAffineDimExpr(0, context)), key(getAffineDimExpr(1, context)) {}

//===----------------------------------------------------------------------===//
// Predicates
//===----------------------------------------------------------------------===//

FormulaRef MaskReader::read(Value value, bool negated) {
  FormulaRef known = formulas.lookup({value, negated});
  if (known)
    return known;
  FormulaRef formula = readUncached(value, negated);
  formulas[{value, negated}] = formula;
  return formula;
}

FormulaRef MaskReader::unknown(Value value) {
  opaqueAtoms.insert(value);
  return std::make_shared<Formula>(Formula{Formula::Kind::Unknown});
}

FormulaRef MaskReader::readUncached(Value value, bool negated) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return makeConstant(constant.isZero() == negated);

  // De Morgan: a negated and is an or of negations.
  Operation *definition = value.getDefiningOp();
  if (auto andOp = dyn_cast_or_null<arith::AndIOp>(definition)) {
    FormulaRef lhs = read(andOp.getLhs(), negated);
    FormulaRef rhs = read(andOp.getRhs(), negated);
    return negated ? makeOr(lhs, rhs) : makeAnd(lhs, rhs);
  }
  if (auto orOp = dyn_cast_or_null<arith::OrIOp>(definition)) {
    FormulaRef lhs = read(orOp.getLhs(), negated);
    FormulaRef rhs = read(orOp.getRhs(), negated);
    return negated ? makeAnd(lhs, rhs) : makeOr(lhs, rhs);
  }
  if (auto xorOp = dyn_cast_or_null<arith::XOrIOp>(definition))
    return readDifference(xorOp.getLhs(), xorOp.getRhs(), negated);
  if (auto select = dyn_cast_or_null<arith::SelectOp>(definition)) {
    Value condition = select.getCondition();
    return makeOr(
        makeAnd(read(condition, false), read(select.getTrueValue(), negated)),
        makeAnd(read(condition, true), read(select.getFalseValue(), negated)));
  }
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(definition))
    return readComparison(compare, negated);
  return unknown(value);
}

FormulaRef MaskReader::readDifference(Value lhs, Value rhs, bool negated) {
  return makeOr(makeAnd(read(lhs, false), read(rhs, !negated)),
                makeAnd(read(lhs, true), read(rhs, negated)));
}

FormulaRef MaskReader::readComparison(arith::CmpIOp compare, bool negated) {
  using Predicate = arith::CmpIPredicate;
  Predicate predicate = compare.getPredicate();
  if (compare.getLhs().getType().isInteger(1)) {
    if (predicate == Predicate::ne)
      return readDifference(compare.getLhs(), compare.getRhs(), negated);
    if (predicate == Predicate::eq)
      return readDifference(compare.getLhs(), compare.getRhs(), !negated);
    return unknown(compare);
  }

  std::optional<Cases> lhs = readInteger(compare.getLhs());
  std::optional<Cases> rhs = readInteger(compare.getRhs());
  if (!lhs || !rhs || lhs->size() * rhs->size() > maxCases)
    return unknown(compare);
  if (negated)
    predicate = arith::invertPredicate(predicate);

  // An unsigned comparison is a signed one where nothing is negative.
  bool isUnsigned = true;
  switch (predicate) {
  case Predicate::ult:
    predicate = Predicate::slt;
    break;
  case Predicate::ule:
    predicate = Predicate::sle;
    break;
  case Predicate::ugt:
    predicate = Predicate::sgt;
    break;
  case Predicate::uge:
    predicate = Predicate::sge;
    break;
  default:
    isUnsigned = false;
  }
  if (isUnsigned)
    for (const Cases *cases : {&*lhs, &*rhs})
      for (const Case &one : *cases)
        if (!isNonNegative(one.expr))
          return unknown(compare);

  affineAtoms.insert(compare);
  FormulaRef result = makeConstant(false);
  for (const Case &left : *lhs)
    for (const Case &right : *rhs) {
      AffineExpr less = right.expr - left.expr; // >= 0: left <= right
      AffineExpr more = left.expr - right.expr;
      FormulaRef atom;
      switch (predicate) {
      case Predicate::eq:
        atom = makeAnd(makeAtom(less), makeAtom(more));
        break;
      case Predicate::ne:
        atom = makeOr(makeAtom(less - 1), makeAtom(more - 1));
        break;
      case Predicate::slt:
        atom = makeAtom(less - 1);
        break;
      case Predicate::sle:
        atom = makeAtom(less);
        break;
      case Predicate::sgt:
        atom = makeAtom(more - 1);
        break;
      case Predicate::sge:
        atom = makeAtom(more);
        break;
      default:
        llvm_unreachable("unsigned predicates were made signed");
      }
      FormulaRef guard = makeAnd(left.guard, right.guard);
      result = makeOr(result, makeAnd(guard, atom));
    }
  return result;
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

std::optional<MaskReader::Cases> MaskReader::readInteger(Value value) {
  auto known = integers.find(value);
  if (known != integers.end())
    return known->second;
  std::optional<Cases> cases = readIntegerUncached(value);
  if (cases && cases->size() > maxCases)
    cases = std::nullopt;
  integers[value] = cases;
  return cases;
}

std::optional<MaskReader::Cases> MaskReader::readIntegerUncached(Value value) {
  // Narrow integers wrap around at values that masks do reach.
  Type type = value.getType();
  if (!type.isIndex() &&
      !(type.isSignlessInteger() && type.getIntOrFloatBitWidth() >= 32))
    return std::nullopt;
  FormulaRef always = makeConstant(true);
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    if (constant.getSignificantBits() > 32)
      return std::nullopt; // Sums and products of it might overflow.
    return Cases{
        {always, getAffineConstantExpr(constant.getSExtValue(), context)}};
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned number = argument.getArgNumber();
    if (number == 2)
      return Cases{{always, query}};
    if (number == 3)
      return Cases{{always, key}};
    if (number >= 4)
      if (auto size =
              op.getCaptures()[number - 4].getDefiningOp<tensor::DimOp>())
        if (auto cases = readSize(size.getSource(), size.getIndex()))
          return cases;
    return readLeaf(value);
  }
  std::optional<Cases> cases = readOperation(value.getDefiningOp());
  auto isSmall = [](const Case &one) {
    return !one.expr
                .walk([](AffineExpr part) {
                  auto number = dyn_cast<AffineConstantExpr>(part);
                  return number && std::abs(number.getValue()) >> 40
                             ? WalkResult::interrupt()
                             : WalkResult::advance();
                })
                .wasInterrupted();
  };
  if (cases && llvm::all_of(*cases, isSmall))
    return cases;
  return readLeaf(value);
}

std::optional<MaskReader::Cases> MaskReader::readSize(Value tensor, Value dim) {
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    if (argument.getOwner() == &block && argument.getArgNumber() >= 4)
      tensor = op.getCaptures()[argument.getArgNumber() - 4];
  int64_t sequence = sequenceDim(op.getLayout());
  if (getConstantIntValue(dim) != sequence)
    return std::nullopt;
  if (tensor == op.getQuery())
    return Cases{{makeConstant(true), getAffineSymbolExpr(0, context)}};
  if (tensor == op.getKey() || tensor == op.getValue())
    return Cases{{makeConstant(true), getAffineSymbolExpr(1, context)}};
  return std::nullopt;
}

std::optional<MaskReader::Cases> MaskReader::readLeaf(Value value) {
  if (!isUniform(value))
    return std::nullopt;
  leaves.insert(value);
  unsigned position = llvm::find(leaves.getArrayRef(), value) - leaves.begin();
  return Cases{
      {makeConstant(true), getAffineSymbolExpr(2 + position, context)}};
}

bool MaskReader::isUniform(Value value) {
  auto known = uniform.find(value);
  if (known != uniform.end())
    return known->second;
  bool result;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    result = argument.getOwner() == &block && argument.getArgNumber() != 2 &&
             argument.getArgNumber() != 3;
  } else {
    Operation *definition = value.getDefiningOp();
    result = definition->getNumRegions() == 0 && isPure(definition) &&
             llvm::all_of(definition->getOperands(),
                          [&](Value operand) { return isUniform(operand); });
  }
  uniform[value] = result;
  return result;
}

bool MaskReader::isNonNegative(AffineExpr expr) const {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return number.getValue() >= 0;
  // i, j, N and M are not negative, i < N and j < M: is expr <= -1 impossible?
  unsigned symbols = 2 + leaves.size();
  AffineExpr n = getAffineSymbolExpr(0, context);
  AffineExpr m = getAffineSymbolExpr(1, context);
  SmallVector<AffineExpr> constraints{query, key, n - query - 1, m - key - 1,
                                      -expr - 1};
  SmallVector<bool> equalities(constraints.size(), false);
  FlatLinearValueConstraints set(
      IntegerSet::get(2, symbols, constraints, equalities));
  return set.isEmpty();
}

/// Applies a function to every pair of cases.
template <typename Cases, typename Function>
static std::optional<Cases> combine(const std::optional<Cases> &lhs,
                                    const std::optional<Cases> &rhs,
                                    Function function) {
  if (!lhs || !rhs || lhs->size() * rhs->size() > maxCases)
    return std::nullopt;
  Cases result;
  for (const auto &left : *lhs)
    for (const auto &right : *rhs) {
      FormulaRef guard = makeAnd(left.guard, right.guard);
      if (!function(guard, left.expr, right.expr, result))
        return std::nullopt;
    }
  return result;
}

std::optional<MaskReader::Cases> MaskReader::readOperation(Operation *op) {
  auto operand = [&](unsigned position) {
    return readInteger(op->getOperand(position));
  };
  /// An operation whose result is one expression of its two operands.
  auto binary = [&](auto function) {
    return combine(operand(0), operand(1),
                   [&](const FormulaRef &guard, AffineExpr lhs, AffineExpr rhs,
                       Cases &result) {
                     AffineExpr expr = function(lhs, rhs);
                     if (expr)
                       result.push_back({guard, expr});
                     return bool(expr);
                   });
  };
  /// Division by a positive constant; `onlyNatural` where it is the same as the
  /// floor or remainder only for dividends that are not negative.
  auto divide = [&](bool onlyNatural, auto function) {
    return binary([&](AffineExpr lhs, AffineExpr rhs) -> AffineExpr {
      auto divisor = dyn_cast<AffineConstantExpr>(rhs);
      if (!divisor || divisor.getValue() <= 0 ||
          (onlyNatural && !isNonNegative(lhs)))
        return {};
      return function(lhs, divisor.getValue());
    });
  };
  auto floor = [](AffineExpr lhs, int64_t by) { return lhs.floorDiv(by); };
  auto ceil = [](AffineExpr lhs, int64_t by) {
    return (lhs + (by - 1)).floorDiv(by);
  };
  auto modulo = [](AffineExpr lhs, int64_t by) { return lhs % by; };
  /// The smaller or the larger operand, as two cases.
  auto extremum = [&](bool wantSmaller) {
    return combine(operand(0), operand(1),
                   [&](const FormulaRef &guard, AffineExpr lhs, AffineExpr rhs,
                       Cases &result) {
                     AffineExpr first = wantSmaller ? rhs - lhs : lhs - rhs;
                     result.push_back({makeAnd(guard, makeAtom(first)), lhs});
                     result.push_back(
                         {makeAnd(guard, makeAtom(-first - 1)), rhs});
                     return true;
                   });
  };

  return llvm::TypeSwitch<Operation *, std::optional<Cases>>(op)
      .Case([&](arith::AddIOp) {
        return binary([](AffineExpr a, AffineExpr b) { return a + b; });
      })
      .Case([&](arith::SubIOp) {
        return binary([](AffineExpr a, AffineExpr b) { return a - b; });
      })
      .Case([&](arith::MulIOp) {
        return binary([](AffineExpr a, AffineExpr b) -> AffineExpr {
          bool affine =
              isa<AffineConstantExpr>(a) || isa<AffineConstantExpr>(b);
          return affine ? a * b : AffineExpr();
        });
      })
      .Case([&](arith::FloorDivSIOp) { return divide(false, floor); })
      .Case([&](arith::CeilDivSIOp) { return divide(false, ceil); })
      .Case<arith::DivSIOp, arith::DivUIOp>(
          [&](auto) { return divide(true, floor); })
      .Case([&](arith::CeilDivUIOp) { return divide(true, ceil); })
      .Case<arith::RemSIOp, arith::RemUIOp>(
          [&](auto) { return divide(true, modulo); })
      .Case([&](arith::MinSIOp) { return extremum(/*wantSmaller=*/true); })
      .Case([&](arith::MaxSIOp) { return extremum(/*wantSmaller=*/false); })
      .Case([&](math::AbsIOp) -> std::optional<Cases> {
        auto cases = operand(0);
        if (!cases)
          return std::nullopt;
        Cases result;
        for (const Case &one : *cases) {
          result.push_back({makeAnd(one.guard, makeAtom(one.expr)), one.expr});
          result.push_back(
              {makeAnd(one.guard, makeAtom(-one.expr - 1)), -one.expr});
        }
        return result;
      })
      .Case([&](arith::SelectOp select) -> std::optional<Cases> {
        auto whenTrue = readInteger(select.getTrueValue());
        auto whenFalse = readInteger(select.getFalseValue());
        if (!whenTrue || !whenFalse)
          return std::nullopt;
        Cases result;
        for (const Case &one : *whenTrue)
          result.push_back(
              {makeAnd(read(select.getCondition(), false), one.guard),
               one.expr});
        for (const Case &one : *whenFalse)
          result.push_back(
              {makeAnd(read(select.getCondition(), true), one.guard),
               one.expr});
        return result;
      })
      .Case<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(
          [&](Operation *cast) -> std::optional<Cases> {
            auto cases = operand(0);
            if (!cases || cast->getResult(0).getType().isIndex() ||
                cast->getResult(0).getType().getIntOrFloatBitWidth() >= 64 ||
                isa<arith::ExtSIOp>(cast))
              return cases;
            // Positions and sizes are below 2^31, other values may be cut off.
            for (const Case &one : *cases)
              for (unsigned leaf = 0; leaf < leaves.size(); ++leaf)
                if (one.expr.isFunctionOfSymbol(2 + leaf))
                  return std::nullopt;
            return cases;
          })
      .Case([&](tensor::DimOp size) {
        return readSize(size.getSource(), size.getIndex());
      })
      .Default([](Operation *) { return std::nullopt; });
}
