//===- ElementOps.cpp - what an operator does with one element ------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The operations that are built. Folding is in Fold.cpp.
//
//===----------------------------------------------------------------------===//

#include "ElementOps.h"
#include "Build.h"

#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;

namespace attn::onnx {

namespace {
/// Builds one operation after the other.
struct Emitter {
  ElementType type;
  OpBuilder &builder;
  Location loc;
  ValueRange in;

  mlir::Value emit(ElementOp op);

private:
  bool floating() const { return isFloat(type); }
  mlir::Type like() const { return in[0].getType(); }

  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    return Op::create(builder, loc, std::forward<Args>(args)...);
  }
  mlir::Value number(double value) {
    return constantLike(builder, loc, like(), value);
  }
  mlir::Value integer(int64_t value) {
    return constantLike(builder, loc, like(), value);
  }
  mlir::Value zero() { return floating() ? number(0) : integer(0); }

  /// The operation for floats or for integers.
  template <typename Float, typename Signed, typename Unsigned = Signed>
  mlir::Value binary() {
    if (floating())
      return make<Float>(in[0], in[1]);
    if (isUnsigned(type))
      return make<Unsigned>(in[0], in[1]);
    return make<Signed>(in[0], in[1]);
  }
  mlir::Value compare(arith::CmpFPredicate floats, arith::CmpIPredicate signeds,
                      arith::CmpIPredicate unsigneds, mlir::Value a,
                      mlir::Value b) {
    if (floating())
      return make<arith::CmpFOp>(floats, a, b);
    return make<arith::CmpIOp>(isUnsigned(type) ? unsigneds : signeds, a, b);
  }
  mlir::Value divide();
  mlir::Value sign();
};
} // namespace

/// Integers are divided towards zero. A division by zero gives 0, and the
/// smallest number by -1 gives itself: hardware would trap.
mlir::Value Emitter::divide() {
  if (floating())
    return make<arith::DivFOp>(in[0], in[1]);
  using Predicate = arith::CmpIPredicate;
  mlir::Value isZero = make<arith::CmpIOp>(Predicate::eq, in[1], zero());
  mlir::Value unsafe = isZero;
  if (!isUnsigned(type)) {
    unsigned width = elementTypeBits(type);
    mlir::Value least =
        integer(static_cast<int64_t>(uint64_t(-1) << (width - 1)));
    mlir::Value overflows = make<arith::AndIOp>(
        make<arith::CmpIOp>(Predicate::eq, in[0], least),
        make<arith::CmpIOp>(Predicate::eq, in[1], integer(-1)));
    unsafe = make<arith::OrIOp>(isZero, overflows);
  }
  mlir::Value divisor = make<arith::SelectOp>(unsafe, integer(1), in[1]);
  mlir::Value quotient = isUnsigned(type)
                             ? make<arith::DivUIOp>(in[0], divisor)
                             : make<arith::DivSIOp>(in[0], divisor);
  return make<arith::SelectOp>(isZero, zero(), quotient);
}

/// -1, 0 or 1; NaN for NaN.
mlir::Value Emitter::sign() {
  mlir::Value one = floating() ? number(1) : integer(1);
  mlir::Value positive =
      compare(arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt,
              arith::CmpIPredicate::ugt, in[0], zero());
  // What is neither: zero, or NaN, as it is.
  mlir::Value rest = make<arith::SelectOp>(positive, one, in[0]);
  if (isUnsigned(type))
    return rest;
  mlir::Value negative =
      compare(arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt,
              arith::CmpIPredicate::ult, in[0], zero());
  mlir::Value minusOne = floating() ? number(-1) : integer(-1);
  return make<arith::SelectOp>(negative, minusOne, rest);
}

mlir::Value Emitter::emit(ElementOp op) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  switch (op) {
  case ElementOp::Abs:
    if (isUnsigned(type))
      return in[0];
    return floating() ? make<math::AbsFOp>(in[0]) : make<math::AbsIOp>(in[0]);
  case ElementOp::Add:
    return binary<arith::AddFOp, arith::AddIOp>();
  case ElementOp::And:
    return make<arith::AndIOp>(in[0], in[1]);
  case ElementOp::Ceil:
    return make<math::CeilOp>(in[0]);
  case ElementOp::Cos:
    return make<math::CosOp>(in[0]);
  case ElementOp::Cosh:
    return make<math::CoshOp>(in[0]);
  case ElementOp::Div:
    return divide();
  case ElementOp::Equal:
    return compare(F::OEQ, I::eq, I::eq, in[0], in[1]);
  case ElementOp::Erf:
    return make<math::ErfOp>(in[0]);
  case ElementOp::Exp:
    return make<math::ExpOp>(in[0]);
  case ElementOp::Floor:
    return make<math::FloorOp>(in[0]);
  case ElementOp::Greater:
    return compare(F::OGT, I::sgt, I::ugt, in[0], in[1]);
  case ElementOp::GreaterOrEqual:
    return compare(F::OGE, I::sge, I::uge, in[0], in[1]);
  case ElementOp::IsNaN:
    return make<arith::CmpFOp>(F::UNO, in[0], in[0]);
  case ElementOp::Less:
    return compare(F::OLT, I::slt, I::ult, in[0], in[1]);
  case ElementOp::LessOrEqual:
    return compare(F::OLE, I::sle, I::ule, in[0], in[1]);
  case ElementOp::Log:
    return make<math::LogOp>(in[0]);
  case ElementOp::Max: // NaN if one is
    return binary<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>();
  case ElementOp::Min:
    return binary<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>();
  case ElementOp::Mul:
    return binary<arith::MulFOp, arith::MulIOp>();
  case ElementOp::Neg:
    return floating() ? make<arith::NegFOp>(in[0])
                      : make<arith::SubIOp>(zero(), in[0]);
  case ElementOp::Not:
    return make<arith::XOrIOp>(in[0], integer(1));
  case ElementOp::Or:
    return make<arith::OrIOp>(in[0], in[1]);
  case ElementOp::Reciprocal:
    return make<arith::DivFOp>(number(1), in[0]);
  case ElementOp::Relu:
    if (floating())
      return make<ReluOp>(in[0].getType(), in[0]);
    return make<arith::MaxSIOp>(in[0], zero());
  case ElementOp::Round: // halves to even
    return make<math::RoundEvenOp>(in[0]);
  case ElementOp::Sigmoid: {
    mlir::Value power = make<math::ExpOp>(make<arith::NegFOp>(in[0]));
    return make<arith::DivFOp>(number(1),
                               make<arith::AddFOp>(number(1), power));
  }
  case ElementOp::Sign:
    return sign();
  case ElementOp::Sin:
    return make<math::SinOp>(in[0]);
  case ElementOp::Sinh:
    return make<math::SinhOp>(in[0]);
  case ElementOp::Sqrt:
    return make<math::SqrtOp>(in[0]);
  case ElementOp::Sub:
    return binary<arith::SubFOp, arith::SubIOp>();
  case ElementOp::Tan:
    return make<math::TanOp>(in[0]);
  case ElementOp::Tanh:
    return make<math::TanhOp>(in[0]);
  case ElementOp::Where:
    return make<arith::SelectOp>(in[0], in[1], in[2]);
  case ElementOp::Xor:
    return make<arith::XOrIOp>(in[0], in[1]);
  }
  llvm_unreachable("all element-wise operators are listed");
}

mlir::Value emitElement(ElementOp op, ElementType type, OpBuilder &builder,
                        Location loc, ValueRange elements) {
  return Emitter{type, builder, loc, elements}.emit(op);
}

//===----------------------------------------------------------------------===//
// Cast
//===----------------------------------------------------------------------===//

/// The largest finite number of an element type of 8 or 4 bits.
static double largest(mlir::Type type) {
  return llvm::APFloat::getLargest(cast<FloatType>(type).getFloatSemantics())
      .convertToDouble();
}

/// A float as an integer, towards zero. What no integer of the type is becomes
/// the nearest one, and NaN 0: hardware would give anything.
static mlir::Value toInteger(OpBuilder &builder, Location loc,
                             mlir::Value number, mlir::Type wide,
                             ElementType to) {
  mlir::Type type = number.getType();
  unsigned width = elementTypeBits(to);
  bool isUnsignedType = isUnsigned(to);
  double power = std::ldexp(1.0, isUnsignedType ? width : width - 1);
  auto floatType = cast<FloatType>(getElementTypeOrSelf(type));
  // The largest number of the float type below the power of two.
  llvm::APFloat limit = toAPFloat(floatType, power);
  if (limit.isInfinity())
    limit = llvm::APFloat::getLargest(floatType.getFloatSemantics());
  else if (width >=
           llvm::APFloat::semanticsPrecision(floatType.getFloatSemantics()))
    limit.next(/*nextDown=*/true);
  else
    limit = toAPFloat(floatType, power - 1);
  bool losesInfo;
  limit.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmTowardZero,
                &losesInfo);
  mlir::Value high = constantLike(builder, loc, type, limit.convertToDouble());
  mlir::Value low =
      constantLike(builder, loc, type, isUnsignedType ? 0.0 : -power);
  mlir::Value zero = constantLike(builder, loc, type, 0.0);
  mlir::Value isNaN = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::UNO, number, number);
  number = arith::SelectOp::create(builder, loc, isNaN, zero, number);
  number = arith::MinimumFOp::create(builder, loc, number, high);
  number = arith::MaximumFOp::create(builder, loc, number, low);
  if (isUnsignedType)
    return arith::FPToUIOp::create(builder, loc, wide, number);
  return arith::FPToSIOp::create(builder, loc, wide, number);
}

/// A float as another float.
static mlir::Value toFloat(OpBuilder &builder, Location loc, mlir::Value number,
                           mlir::Type to, bool saturate) {
  auto fromType = cast<FloatType>(getElementTypeOrSelf(number.getType()));
  auto toType = cast<FloatType>(getElementTypeOrSelf(to));
  if (fromType == toType)
    return number;
  if (fromType.getWidth() < toType.getWidth())
    return arith::ExtFOp::create(builder, loc, to, number);
  if (isa<Float4E2M1FNType>(toType)) {
    // The type has no NaN; ONNX's data have -0 for it.
    mlir::Type type = number.getType();
    mlir::Value isNaN = arith::CmpFOp::create(
        builder, loc, arith::CmpFPredicate::UNO, number, number);
    number = arith::SelectOp::create(
        builder, loc, isNaN, constantLike(builder, loc, type, -0.0), number);
  }
  if (saturate && toType.getWidth() <= 8) {
    double limit = largest(toType);
    mlir::Type type = number.getType();
    number = arith::MinimumFOp::create(builder, loc, number,
                                       constantLike(builder, loc, type, limit));
    number = arith::MaximumFOp::create(
        builder, loc, number, constantLike(builder, loc, type, -limit));
  }
  return arith::TruncFOp::create(builder, loc, to, number);
}

mlir::Value emitCast(ElementType from, ElementType to, bool saturate,
                     OpBuilder &builder, Location loc, mlir::Value element) {
  // Halves are f32 here, before and after.
  mlir::Type fromType = element.getType();
  mlir::Type toElement = isHalf(to) ? mlir::Type(builder.getF32Type())
                                    : mlirType(to, builder.getContext());
  mlir::Type toType = typeLike(fromType, toElement);
  bool isFromFloat = isa<FloatType>(getElementTypeOrSelf(fromType));
  bool isToFloat = isa<FloatType>(toElement);
  if (to == ElementType::Bool) {
    if (from == ElementType::Bool)
      return element;
    if (isFromFloat)
      return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE,
                                   element,
                                   constantLike(builder, loc, fromType, 0.0));
    return arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ne, element,
        constantLike(builder, loc, fromType, int64_t(0)));
  }
  if (isFromFloat)
    return isToFloat ? toFloat(builder, loc, element, toType, saturate)
                     : toInteger(builder, loc, element, toType, to);
  if (isToFloat) {
    // Small floats from f32, as from any other float.
    bool isSmall = cast<FloatType>(toElement).getWidth() <= 8;
    mlir::Type via =
        isSmall ? typeLike(fromType, builder.getF32Type()) : toType;
    mlir::Value number =
        isUnsigned(from)
            ? mlir::Value(arith::UIToFPOp::create(builder, loc, via, element))
            : mlir::Value(arith::SIToFPOp::create(builder, loc, via, element));
    return toFloat(builder, loc, number, toType, saturate);
  }
  unsigned a = elementTypeBits(from), b = elementTypeBits(to);
  if (from == ElementType::Bool)
    a = 1;
  if (a == b)
    return element;
  if (a > b)
    return arith::TruncIOp::create(builder, loc, toType, element);
  if (isUnsigned(from))
    return arith::ExtUIOp::create(builder, loc, toType, element);
  return arith::ExtSIOp::create(builder, loc, toType, element);
}

} // namespace attn::onnx
