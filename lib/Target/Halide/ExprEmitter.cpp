//===- ExprEmitter.cpp - scalar operations as Halide expressions ----------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One function a group of operations: index arithmetic of the affine dialect,
// integers and comparisons, casts, floats, tensor reads. Each returns an
// undefined Expr for an operation that is not its own, so that emit() can ask
// the next.
//
//===----------------------------------------------------------------------===//
#include "ExprEmitter.h"
#include "Math.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;
using Halide::Expr;

std::optional<Halide::Type> attn::getHalideType(Type type) {
  if (type.isIndex())
    return Halide::Int(32);
  if (type.isInteger(1))
    return Halide::Bool();
  if (auto integer = dyn_cast<IntegerType>(type)) {
    unsigned width = integer.getWidth();
    if (width == 8 || width == 16 || width == 32 || width == 64)
      return integer.isUnsigned() ? Halide::UInt(width) : Halide::Int(width);
    return std::nullopt;
  }
  if (isHalfFloat(type)) // Their bits.
    return Halide::UInt(16);
  if (type.isF32() || type.isF64())
    return Halide::Float(type.getIntOrFloatBitWidth());
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

/// The range of an index that was a loaded number, and of its multiples: no
/// sequence is as long. A bound of a loop adds and subtracts several of them,
/// and their sum must not overflow 32 bits: two windows that are cut with each
/// other leave the difference of their offsets.
static constexpr int64_t indexLimit = int64_t(1) << 28;

static Expr clampIndex(const Expr &x, int64_t limit) {
  return Halide::clamp(x, Halide::Internal::make_const(x.type(), -limit),
                       Halide::Internal::make_const(x.type(), limit));
}

/// Whether an index depends on a loaded number, which is known by its limit.
static bool isLoadedIndex(const Expr &x) {
  class Find final : public Halide::Internal::IRGraphVisitor {
  public:
    bool found = false;

  private:
    using IRGraphVisitor::visit;
    void visit(const Halide::Internal::IntImm *op) override {
      found |= op->value == indexLimit;
    }
  } find;
  x.accept(&find);
  return find.found;
}

/// a * b. Multiples of a loaded number, such as the keys of a loaded number of
/// blocks, stay in its range.
static Expr multiplyIndices(const Expr &a, const Expr &b) {
  if (a.type() != Halide::Int(32) || (!isLoadedIndex(a) && !isLoadedIndex(b)))
    return a * b;
  // A constant multiple, without numbers of 64 bits: not each device has them.
  for (auto [x, factor] : {std::pair(a, Halide::Internal::as_const_int(b)),
                           {b, Halide::Internal::as_const_int(a)}})
    if (factor && *factor != 0 && std::abs(*factor) <= indexLimit)
      return clampIndex(x, indexLimit / std::abs(*factor)) *
             static_cast<int>(*factor);
  Halide::Type wide = Halide::Int(64);
  return Halide::cast(
      a.type(),
      clampIndex(Halide::cast(wide, a) * Halide::cast(wide, b), indexLimit));
}

static Expr toUnsigned(const Expr &x) {
  return Halide::cast(Halide::UInt(x.type().bits()), x);
}

/// |x| in x's own type.
static Expr magnitude(const Expr &x) { return Halide::select(x < 0, -x, x); }

static Expr floorDiv(const Expr &a, const Expr &b) {
  // Halide's division leaves a remainder of [0, |b|): the floor for b > 0.
  if (std::optional<int64_t> constant = Halide::Internal::as_const_int(b);
      constant && *constant > 0)
    return a / b;
  return Halide::select(b > 0, a / b, (-a) / (-b));
}

static Expr truncDiv(const Expr &a, const Expr &b) {
  Expr quotient = magnitude(a) / magnitude(b);
  return Halide::select((a < 0) == (b < 0), quotient, -quotient);
}

/// What truncDiv leaves, with the sign of `a`. Not a - truncDiv(a, b) * b,
/// which Halide simplifies wrongly in vectors of neighbouring numbers, and not
/// by magnitudes where `b` says how to do without.
static Expr truncRem(const Expr &a, const Expr &b) {
  if (Halide::Internal::is_positive_const(b)) {
    Expr rest = a % b; // Of a negative number too not negative.
    return Halide::select(a < 0 && rest != 0, rest - b, rest);
  }
  Expr rest = Halide::cast(a.type(), magnitude(a) % magnitude(b));
  return Halide::select(a < 0, -rest, rest);
}

static Expr bitsOf(const Expr &x) {
  return Halide::reinterpret(Halide::Int(x.type().bits()), x);
}

/// True for NaN, whatever fast-math assumes.
static Expr isNaN(const Expr &x) {
  Halide::Type type = Halide::Int(x.type().bits());
  bool isWide = x.type().bits() == 64;
  int64_t infinity = isWide ? 0x7ff0000000000000 : kInfinityBits;
  int64_t magnitudeMask = isWide ? 0x7fffffffffffffff : 0x7fffffff;
  return (bitsOf(x) & Halide::Internal::make_const(type, magnitudeMask)) >
         Halide::Internal::make_const(type, infinity);
}

static Expr makeFloat(const APFloat &value, Halide::Type type) {
  // An infinite literal would be folded under fast-math; its bits are not.
  APInt bits = value.bitcastToAPInt();
  if (type.is_uint())
    return Halide::Internal::make_const(type, bits.getZExtValue());
  if (!value.isFinite())
    return Halide::reinterpret(
        type, Halide::Internal::make_const(Halide::Int(type.bits()),
                                           bits.getSExtValue()));
  if (type.bits() == 64)
    return Halide::Internal::make_const(type, value.convertToDouble());
  APFloat single = value;
  bool losesInfo;
  single.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return Halide::Internal::make_const(type, single.convertToFloat());
}

/// The constant behind an operand when it is an infinity.
static std::optional<APFloat> matchInfinity(Value value) {
  APFloat constant(0.0f);
  if (matchPattern(value, m_ConstantFloat(&constant)) && constant.isInfinity())
    return constant;
  return std::nullopt;
}

/// An affine expression over already emitted operands.
static Expr emitAffine(AffineExpr expr, ArrayRef<Expr> dims,
                       ArrayRef<Expr> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Halide::Internal::make_const(Halide::Int(32), constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Expr lhs = emitAffine(binary.getLHS(), dims, symbols);
  Expr rhs = emitAffine(binary.getRHS(), dims, symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return multiplyIndices(lhs, rhs);
  case AffineExprKind::Mod: // The right side of these three is positive.
    return lhs % rhs;
  case AffineExprKind::FloorDiv:
    return lhs / rhs;
  case AffineExprKind::CeilDiv:
    return -((-lhs) / rhs);
  default:
    llvm_unreachable("no other binary affine expressions");
  }
}

//===----------------------------------------------------------------------===//
// Values and regions
//===----------------------------------------------------------------------===//

void ExprEmitter::bindTensor(Value value, const Halide::ImageParam &param) {
  TensorSource source;
  for (int dim = param.dimensions() - 1; dim >= 0; --dim)
    source.sizes.push_back(param.dim(dim).extent());
  source.load = [param](ArrayRef<Expr> indices) -> Expr {
    return param(std::vector<Expr>(indices.rbegin(), indices.rend()));
  };
  bindTensor(value, std::move(source));
}

const TensorSource *ExprEmitter::getTensor(Value value) const {
  auto found = tensors.find(value);
  return found == tensors.end() ? nullptr : &found->second;
}

Expr ExprEmitter::loadClamped(const TensorSource &source,
                              ArrayRef<Expr> indices) {
  SmallVector<Expr> clamped;
  for (auto [dim, index] : llvm::enumerate(indices))
    clamped.push_back(source.isInside && source.isInside(dim, index)
                          ? index
                          : Halide::clamp(index, 0, source.sizes[dim] - 1));
  return source.load(clamped);
}

FailureOr<Expr> ExprEmitter::get(Value value) {
  // Operands first, by an own stack: a chain of operations can be long.
  SmallVector<Value> pending = {value};
  while (!pending.empty()) {
    Value top = pending.back();
    if (scalars.count(top) || tensors.count(top)) {
      pending.pop_back();
      continue;
    }
    Operation *op = top.getDefiningOp();
    if (!op || op->getNumRegions())
      return emitError(top.getLoc(), "not supported by the Halide target: a "
                                     "value of type ")
             << top.getType() << " that is not known when the kernel starts";
    size_t before = pending.size();
    for (Value input : op->getOperands())
      if (!scalars.count(input) && !tensors.count(input) &&
          !isa<RankedTensorType>(input.getType()))
        pending.push_back(input);
    if (pending.size() != before)
      continue;
    if (failed(emit(op)))
      return failure();
    pending.pop_back();
  }
  return scalars.lookup(value);
}

FailureOr<SmallVector<Expr>> ExprEmitter::emitRegion(Region &region,
                                                     ArrayRef<Expr> args,
                                                     ValueRange captures) {
  ExprEmitter inner(halves);
  Block &block = region.front();
  if (block.getNumArguments() != args.size() + captures.size())
    return emitError(region.getLoc(), "expected a region of ")
           << args.size() + captures.size() << " arguments (because there are "
           << captures.size() << " captures), got " << block.getNumArguments();
  for (auto [argument, expr] : llvm::zip(block.getArguments(), args))
    inner.bind(argument, expr);
  for (auto [argument, capture] :
       llvm::zip(block.getArguments().drop_front(args.size()), captures)) {
    if (const TensorSource *source = getTensor(capture)) {
      inner.bindTensor(argument, *source);
      continue;
    }
    FailureOr<Expr> expr = get(capture);
    if (failed(expr))
      return failure();
    inner.bind(argument, *expr);
  }
  for (Operation &op : block.without_terminator())
    if (failed(inner.emit(&op)))
      return failure();
  SmallVector<Expr> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(inner.scalars.lookup(value));
  return results;
}

/// Operations that need not know which number the bits are.
static bool movesBits(Operation *op) {
  return isa<arith::BitcastOp, arith::ConstantOp, arith::SelectOp,
             tensor::ExtractOp>(op);
}

Expr ExprEmitter::operand(Operation *op, unsigned number) const {
  Value value = op->getOperand(number);
  Expr expr = scalars.lookup(value);
  return movesBits(op) ? expr : halves.widen(expr, value.getType());
}

LogicalResult ExprEmitter::emit(Operation *op) {
  auto unsupported = [&]() -> LogicalResult {
    return op->emitOpError("not supported by the Halide target");
  };
  if (op->getNumResults() != 1 || !getHalideType(op->getResult(0).getType()))
    return unsupported();
  using Group = FailureOr<Expr> (ExprEmitter::*)(Operation *);
  for (Group group : {&ExprEmitter::emitInteger, &ExprEmitter::emitFloat,
                      &ExprEmitter::emitCast, &ExprEmitter::emitIndex,
                      &ExprEmitter::emitTensor}) {
    FailureOr<Expr> expr = (this->*group)(op);
    if (failed(expr))
      return failure();
    if (expr->defined()) {
      Value result = op->getResult(0);
      scalars[result] =
          movesBits(op) ? *expr : halves.narrow(*expr, result.getType());
      return success();
    }
  }
  return unsupported();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

FailureOr<Expr> ExprEmitter::emitIndex(Operation *op) {
  auto results = [&](AffineMap map) {
    SmallVector<Expr> inputs;
    for (Value input : op->getOperands())
      inputs.push_back(scalars.lookup(input));
    ArrayRef<Expr> all = inputs;
    SmallVector<Expr> exprs;
    for (AffineExpr expr : map.getResults())
      exprs.push_back(emitAffine(expr, all.take_front(map.getNumDims()),
                                 all.drop_front(map.getNumDims())));
    return exprs;
  };
  return TypeSwitch<Operation *, Expr>(op)
      .Case([&](affine::AffineApplyOp apply) {
        return results(apply.getAffineMap()).front();
      })
      .Case([&](affine::AffineMinOp min) {
        SmallVector<Expr> exprs = results(min.getAffineMap());
        Expr least = exprs.front();
        for (const Expr &expr : ArrayRef(exprs).drop_front())
          least = Halide::min(least, expr);
        return least;
      })
      .Case([&](affine::AffineMaxOp max) {
        SmallVector<Expr> exprs = results(max.getAffineMap());
        Expr greatest = exprs.front();
        for (const Expr &expr : ArrayRef(exprs).drop_front())
          greatest = Halide::max(greatest, expr);
        return greatest;
      })
      .Default([](Operation *) { return Expr(); });
}

FailureOr<Expr> ExprEmitter::emitInteger(Operation *op) {
  auto in = [&](unsigned number) { return operand(op, number); };
  bool isBool = op->getResult(0).getType().isInteger(1);
  return TypeSwitch<Operation *, Expr>(op)
      .Case([&](arith::ConstantOp constant) -> Expr {
        Halide::Type type = *getHalideType(constant.getType());
        if (auto integer = dyn_cast<IntegerAttr>(constant.getValue())) {
          if (isBool)
            return Halide::Internal::make_bool(!integer.getValue().isZero());
          if (constant.getType().isIndex() &&
              !llvm::isInt<32>(integer.getInt()))
            return Expr();
          return Halide::Internal::make_const(
              type, integer.getValue().getSExtValue());
        }
        if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
          return makeFloat(number.getValue(), type);
        return Expr();
      })
      .Case([&](arith::AddIOp) {
        return isBool ? in(0) != in(1) : in(0) + in(1);
      })
      .Case([&](arith::SubIOp) {
        return isBool ? in(0) != in(1) : in(0) - in(1);
      })
      .Case([&](arith::MulIOp) {
        if (op->getResult(0).getType().isIndex())
          return multiplyIndices(in(0), in(1));
        return isBool ? in(0) && in(1) : in(0) * in(1);
      })
      .Case([&](arith::DivSIOp) { return truncDiv(in(0), in(1)); })
      .Case([&](arith::RemSIOp) { return truncRem(in(0), in(1)); })
      .Case([&](arith::FloorDivSIOp) { return floorDiv(in(0), in(1)); })
      .Case([&](arith::CeilDivSIOp) { return -floorDiv(-in(0), in(1)); })
      .Case([&](arith::DivUIOp) {
        return Halide::cast(in(0).type(),
                            toUnsigned(in(0)) / toUnsigned(in(1)));
      })
      .Case([&](arith::RemUIOp) {
        return Halide::cast(in(0).type(),
                            toUnsigned(in(0)) % toUnsigned(in(1)));
      })
      .Case([&](arith::CeilDivUIOp) {
        Expr a = toUnsigned(in(0)), b = toUnsigned(in(1));
        return Halide::cast(in(0).type(),
                            Halide::select(a == 0, a, (a - 1) / b + 1));
      })
      .Case([&](arith::AndIOp) {
        return isBool ? in(0) && in(1) : in(0) & in(1);
      })
      .Case(
          [&](arith::OrIOp) { return isBool ? in(0) || in(1) : in(0) | in(1); })
      .Case([&](arith::XOrIOp) {
        return isBool ? in(0) != in(1) : in(0) ^ in(1);
      })
      .Case([&](arith::ShLIOp) { return in(0) << in(1); })
      .Case([&](arith::ShRSIOp) { return in(0) >> in(1); })
      .Case([&](arith::ShRUIOp) {
        return Halide::cast(in(0).type(),
                            toUnsigned(in(0)) >> toUnsigned(in(1)));
      })
      .Case([&](arith::MinSIOp) { return Halide::min(in(0), in(1)); })
      .Case([&](arith::MaxSIOp) { return Halide::max(in(0), in(1)); })
      .Case([&](arith::MinUIOp) {
        return Halide::cast(in(0).type(),
                            Halide::min(toUnsigned(in(0)), toUnsigned(in(1))));
      })
      .Case([&](arith::MaxUIOp) {
        return Halide::cast(in(0).type(),
                            Halide::max(toUnsigned(in(0)), toUnsigned(in(1))));
      })
      .Case(
          [&](arith::SelectOp) { return Halide::select(in(0), in(1), in(2)); })
      .Case([&](arith::CmpIOp compare) -> Expr {
        using Predicate = arith::CmpIPredicate;
        Expr a = in(0), b = in(1), ua = a, ub = b;
        if (!a.type().is_bool()) {
          ua = toUnsigned(a);
          ub = toUnsigned(b);
        } else { // i1: true is -1 as a signed number and 1 as an unsigned one.
          ua = Halide::cast(Halide::UInt(8), a);
          ub = Halide::cast(Halide::UInt(8), b);
          a = -Halide::cast(Halide::Int(8), a);
          b = -Halide::cast(Halide::Int(8), b);
        }
        switch (compare.getPredicate()) {
        case Predicate::eq:
          return a == b;
        case Predicate::ne:
          return a != b;
        case Predicate::slt:
          return a < b;
        case Predicate::sle:
          return a <= b;
        case Predicate::sgt:
          return a > b;
        case Predicate::sge:
          return a >= b;
        case Predicate::ult:
          return ua < ub;
        case Predicate::ule:
          return ua <= ub;
        case Predicate::ugt:
          return ua > ub;
        case Predicate::uge:
          return ua >= ub;
        }
        return Expr();
      })
      .Default([](Operation *) { return Expr(); });
}

/// A comparison with an infinity, in bits: only (in)equality and the orders
/// that come down to it have a meaning there.
static Expr compareWithInfinity(arith::CmpFPredicate predicate, Expr x,
                                bool negative) {
  using Predicate = arith::CmpFPredicate;
  Halide::Type type = Halide::Int(x.type().bits());
  APFloat infinity = APFloat::getInf(
      x.type().bits() == 64 ? APFloat::IEEEdouble() : APFloat::IEEEsingle(),
      negative);
  Expr equal = bitsOf(x) == Halide::Internal::make_const(
                                type, infinity.bitcastToAPInt().getSExtValue());
  Expr nan = isNaN(x);
  switch (predicate) {
  case Predicate::OEQ:
    return equal;
  case Predicate::UEQ:
    return equal || nan;
  case Predicate::ONE:
    return !equal && !nan;
  case Predicate::UNE:
    return !equal;
  case Predicate::OLT: // x < +inf is "neither NaN nor +inf"; x < -inf is false.
    return negative ? Halide::Internal::const_false() : !equal && !nan;
  case Predicate::ULT:
    return negative ? nan : !equal;
  case Predicate::OGT:
    return negative ? !equal && !nan : Halide::Internal::const_false();
  case Predicate::UGT:
    return negative ? !equal : nan;
  case Predicate::OLE:
    return negative ? equal : !nan;
  case Predicate::ULE:
    return negative ? equal || nan : Halide::Internal::const_true();
  case Predicate::OGE:
    return negative ? !nan : equal;
  case Predicate::UGE:
    return negative ? Halide::Internal::const_true() : equal || nan;
  default:
    return Expr();
  }
}

/// The predicate that holds for (b, a) when `predicate` holds for (a, b).
static arith::CmpFPredicate swapped(arith::CmpFPredicate predicate) {
  using Predicate = arith::CmpFPredicate;
  switch (predicate) {
  case Predicate::OLT:
    return Predicate::OGT;
  case Predicate::OGT:
    return Predicate::OLT;
  case Predicate::OLE:
    return Predicate::OGE;
  case Predicate::OGE:
    return Predicate::OLE;
  case Predicate::ULT:
    return Predicate::UGT;
  case Predicate::UGT:
    return Predicate::ULT;
  case Predicate::ULE:
    return Predicate::UGE;
  case Predicate::UGE:
    return Predicate::ULE;
  default:
    return predicate;
  }
}

static Expr emitCompare(arith::CmpFOp op, Expr a, Expr b) {
  using Predicate = arith::CmpFPredicate;
  Predicate predicate = op.getPredicate();
  switch (predicate) {
  case Predicate::AlwaysFalse:
    return Halide::Internal::const_false();
  case Predicate::AlwaysTrue:
    return Halide::Internal::const_true();
  case Predicate::ORD:
    return !isNaN(a) && !isNaN(b);
  case Predicate::UNO:
    return isNaN(a) || isNaN(b);
  default:
    break;
  }
  if (std::optional<APFloat> infinity = matchInfinity(op.getRhs()))
    return compareWithInfinity(predicate, a, infinity->isNegative());
  if (std::optional<APFloat> infinity = matchInfinity(op.getLhs()))
    return compareWithInfinity(swapped(predicate), b, infinity->isNegative());
  switch (predicate) {
  case Predicate::OEQ:
  case Predicate::UEQ:
    return a == b;
  case Predicate::ONE:
  case Predicate::UNE:
    // x != x is how a NaN test is usually written.
    return op.getLhs() == op.getRhs() && predicate == Predicate::UNE ? isNaN(a)
                                                                     : a != b;
  case Predicate::OLT:
  case Predicate::ULT:
    return a < b;
  case Predicate::OLE:
  case Predicate::ULE:
    return a <= b;
  case Predicate::OGT:
  case Predicate::UGT:
    return a > b;
  default:
    return a >= b;
  }
}

FailureOr<Expr> ExprEmitter::emitFloat(Operation *op) {
  auto in = [&](unsigned number) { return operand(op, number); };
  auto single = [&] { return in(0).type() == Halide::Float(32); };
  return TypeSwitch<Operation *, Expr>(op)
      // In order: an element has the same bits in each of a kernel's forms.
      .Case([&](arith::AddFOp) { return addInOrder(in(0), in(1)); })
      .Case([&](arith::SubFOp) { return subtractInOrder(in(0), in(1)); })
      .Case([&](arith::MulFOp) { return multiplyInOrder(in(0), in(1)); })
      .Case([&](arith::DivFOp) { return in(0) / in(1); })
      .Case([&](arith::NegFOp) { return -in(0); })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>(
          [&](Operation *) { return Halide::max(in(0), in(1)); })
      .Case<arith::MinimumFOp, arith::MinNumFOp>(
          [&](Operation *) { return Halide::min(in(0), in(1)); })
      .Case([&](arith::CmpFOp compare) {
        return emitCompare(compare, in(0), in(1));
      })
      .Case([&](math::FmaOp) { return in(0) * in(1) + in(2); })
      .Case([&](math::ExpOp) {
        return single() ? attn::exp(in(0)) : Halide::exp(in(0));
      })
      .Case([&](math::Exp2Op) {
        return single() ? attn::exp2(in(0))
                        : Halide::pow(
                              Halide::Internal::make_const(in(0).type(), 2.0),
                              in(0));
      })
      .Case([&](math::LogOp) {
        return single() ? attn::log(in(0)) : Halide::log(in(0));
      })
      .Case([&](math::Log2Op) {
        return (single() ? attn::log(in(0)) : Halide::log(in(0))) *
               Halide::Internal::make_const(in(0).type(), 1.4426950408889634);
      })
      .Case([&](math::TanhOp) {
        return single() ? attn::tanh(in(0)) : Halide::tanh(in(0));
      })
      .Case([&](math::SqrtOp) { return Halide::sqrt(in(0)); })
      // Not fast_inverse_sqrt: an estimate of 12 bits is no f32 result.
      .Case([&](math::RsqrtOp) {
        return Halide::Internal::make_one(in(0).type()) / Halide::sqrt(in(0));
      })
      .Case([&](math::AbsFOp) { return Halide::abs(in(0)); })
      .Case([&](math::AbsIOp) { return magnitude(in(0)); })
      .Case([&](math::FloorOp) { return Halide::floor(in(0)); })
      .Case([&](math::CeilOp) { return Halide::ceil(in(0)); })
      .Case([&](math::PowFOp) { return Halide::pow(in(0), in(1)); })
      .Case([&](math::ErfOp) {
        return single() ? attn::erf(in(0)) : Halide::erf(in(0));
      })
      .Case([&](math::SinOp) { return Halide::sin(in(0)); })
      .Case([&](math::CosOp) { return Halide::cos(in(0)); })
      .Case([&](GeluOp op) -> Expr {
        return single() ? attn::gelu(in(0), op.getForm()) : Expr();
      })
      .Case([&](ReluOp) { return attn::relu(in(0)); })
      .Default([](Operation *) { return Expr(); });
}

FailureOr<Expr> ExprEmitter::emitCast(Operation *op) {
  Type resultType = op->getResult(0).getType();
  bool isNarrowed = isHalfFloat(resultType) && !isa<arith::BitcastOp>(op);
  Halide::Type type =
      isNarrowed ? Halide::Float(32) : *getHalideType(resultType);
  auto in = [&] { return operand(op, 0); };
  // Rounding twice is not rounding.
  if (isNarrowed && op->getOperand(0).getType().isF64())
    return Expr();
  // Halide casts i1 to 0 or 1; MLIR's sign extension gives 0 or -1.
  auto isBool = [&] { return in().type().is_bool(); };
  return TypeSwitch<Operation *, Expr>(op)
      .Case([&](arith::ExtUIOp) {
        return Halide::cast(type, isBool() ? in() : toUnsigned(in()));
      })
      .Case([&](arith::ExtSIOp) {
        return isBool() ? -Halide::cast(type, in()) : Halide::cast(type, in());
      })
      .Case([&](arith::TruncIOp) {
        return type.is_bool()
                   ? (in() & Halide::Internal::make_one(in().type())) != 0
                   : Halide::cast(type, in());
      })
      .Case([&](arith::IndexCastOp cast) {
        if (isBool())
          return -Halide::cast(type, in());
        // An index is 32 bits here. A larger number stays a large one.
        int bits = in().type().bits();
        if (type.bits() == 32 &&
            (bits == 64 || (bits == 32 && cast.getType().isIndex())))
          return Halide::cast(type, clampIndex(in(), indexLimit));
        return Halide::cast(type, in());
      })
      .Case([&](arith::IndexCastUIOp) {
        return Halide::cast(type, isBool() ? in() : toUnsigned(in()));
      })
      .Case([&](arith::SIToFPOp) {
        return isBool() ? -Halide::cast(type, in()) : Halide::cast(type, in());
      })
      .Case([&](arith::UIToFPOp) {
        return Halide::cast(type, isBool() ? in() : toUnsigned(in()));
      })
      .Case<arith::ExtFOp, arith::TruncFOp, arith::FPToSIOp>(
          [&](Operation *) { return Halide::cast(type, in()); })
      .Case([&](arith::FPToUIOp) {
        return Halide::cast(type,
                            Halide::cast(Halide::UInt(type.bits()), in()));
      })
      .Case([&](arith::BitcastOp) { return Halide::reinterpret(type, in()); })
      .Default([](Operation *) { return Expr(); });
}

FailureOr<Expr> ExprEmitter::emitTensor(Operation *op) {
  auto find = [&](Value tensor) -> FailureOr<const TensorSource *> {
    if (const TensorSource *source = getTensor(tensor))
      return source;
    return op->emitOpError("not supported by the Halide target: it reads a "
                           "tensor that is not an argument of the kernel");
  };
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    FailureOr<const TensorSource *> source = find(extract.getTensor());
    if (failed(source))
      return failure();
    SmallVector<Expr> indices;
    for (Value index : extract.getIndices())
      indices.push_back(scalars.lookup(index));
    Expr element = loadClamped(**source, indices);
    Halide::Type type = *getHalideType(extract.getType());
    // i1 is a byte in memory: any value but 0 is true.
    return type.is_bool() && !element.type().is_bool() ? Expr(element != 0)
                                                       : element;
  }
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    FailureOr<const TensorSource *> source = find(dim.getSource());
    if (failed(source))
      return failure();
    std::optional<int64_t> number = dim.getConstantIndex();
    if (!number || *number < 0 || *number >= int64_t((*source)->sizes.size()))
      return op->emitOpError("not supported by the Halide target: the number "
                             "of the dimension is not a valid constant");
    return (*source)->sizes[*number];
  }
  return Expr();
}
