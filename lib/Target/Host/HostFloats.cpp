//===- HostFloats.cpp - floats that the CPU does not compute with -*- C++
//-*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Loops of the host function store floats of 16, 8 and 4 bits. LLVM would turn
// their arithmetic into calls of a compiler's run-time, which an object must
// not need. Here arithmetic is done in f32, and conversions are integer
// operations on the bits, the same for every format: only the numbers of
// exponent and mantissa bits and the codes of infinity and NaN differ.
//
//===----------------------------------------------------------------------===//

#include "HostScalars.h"

#include "attn-c/cpu.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

static bool isNarrow(Type type) {
  auto number = dyn_cast<FloatType>(type);
  return number && number.getWidth() < 32;
}

namespace {

/// What the bits of a float type mean.
struct Format {
  explicit Format(FloatType type);

  unsigned width, mantissa;
  int64_t bias;
  bool hasInfinity, hasNaN, hasMinusZero;
  /// Magnitudes, without the sign.
  uint64_t largest, infinity, nan;

  uint64_t magnitude() const { return (uint64_t(1) << (width - 1)) - 1; }
};

/// Builds the conversions of one operation.
struct Converter {
  OpBuilder &builder;
  Location loc;

  Value widen(Value narrow, FloatType wide);
  Value narrow(Value wide, FloatType type);

private:
  Value constant(Type type, uint64_t bits) {
    unsigned width = type.getIntOrFloatBitWidth();
    return arith::ConstantOp::create(
        builder, loc,
        builder.getIntegerAttr(type, APInt(width, bits, /*isSigned=*/false,
                                           /*implicitTrunc=*/true)));
  }
  template <typename Op, typename... Args> Value make(Args &&...args) {
    return Op::create(builder, loc, std::forward<Args>(args)...);
  }
  Value select(Value condition, Value yes, Value no) {
    return make<arith::SelectOp>(condition, yes, no);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, uint64_t b) {
    return make<arith::CmpIOp>(predicate, a, constant(a.getType(), b));
  }
};

} // namespace

Format::Format(FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  width = type.getWidth();
  mantissa = llvm::APFloat::semanticsPrecision(semantics) - 1;
  bias = 1 - llvm::APFloat::semanticsMinExponent(semantics);
  hasInfinity = llvm::APFloat::semanticsHasInf(semantics);
  hasNaN = llvm::APFloat::semanticsHasNaN(semantics);
  auto bitsOf = [&](const llvm::APFloat &value) {
    return value.bitcastToAPInt().getZExtValue();
  };
  largest = bitsOf(llvm::APFloat::getLargest(semantics));
  infinity = hasInfinity ? bitsOf(llvm::APFloat::getInf(semantics)) : 0;
  nan = hasNaN ? bitsOf(llvm::APFloat::getNaN(semantics)) : 0;
  // Where -0 would be, these types have their NaN.
  hasMinusZero = nan != uint64_t(1) << (width - 1);
}

/// The bits in the place of the wide type, scaled by the difference of the
/// exponents' biases: exact, for denormal numbers too.
Value Converter::widen(Value narrow, FloatType wide) {
  Format from(cast<FloatType>(narrow.getType())), to(wide);
  Type narrowBits = builder.getIntegerType(from.width);
  Type bits = builder.getIntegerType(to.width);
  Value all =
      make<arith::ExtUIOp>(bits, make<arith::BitcastOp>(narrowBits, narrow));
  Value size = make<arith::AndIOp>(all, constant(bits, from.magnitude()));
  Value sign = make<arith::ShLIOp>(
      make<arith::ShRUIOp>(all, constant(bits, from.width - 1)),
      constant(bits, to.width - 1));
  Value placed =
      make<arith::ShLIOp>(size, constant(bits, to.mantissa - from.mantissa));
  Value value = placed;
  if (to.bias != from.bias) {
    llvm::APFloat scale =
        llvm::scalbn(llvm::APFloat(wide.getFloatSemantics(), "1"),
                     static_cast<int>(to.bias - from.bias),
                     llvm::APFloat::rmNearestTiesToEven);
    Value factor =
        arith::ConstantOp::create(builder, loc, FloatAttr::get(wide, scale));
    Value scaled =
        make<arith::MulFOp>(make<arith::BitcastOp>(wide, placed), factor);
    value = make<arith::BitcastOp>(bits, scaled);
  }
  using Predicate = arith::CmpIPredicate;
  if (from.hasInfinity)
    value = select(compare(Predicate::eq, size, from.infinity),
                   constant(bits, to.infinity), value);
  if (from.hasNaN && from.hasMinusZero) {
    // Every code above the largest number or infinity.
    uint64_t last = std::max(from.largest, from.infinity);
    value = select(compare(Predicate::ugt, size, last), constant(bits, to.nan),
                   value);
  }
  value = make<arith::OrIOp>(value, sign);
  if (!from.hasMinusZero)
    value = select(compare(Predicate::eq, all, from.nan),
                   constant(bits, to.nan), value);
  return make<arith::BitcastOp>(wide, value);
}

/// Rounds to nearest, ties to even. What passes the largest number becomes
/// infinity, or NaN, or the largest number, whichever the type has first.
Value Converter::narrow(Value wide, FloatType type) {
  auto wideType = cast<FloatType>(wide.getType());
  Format from(wideType), to(type);
  Type bits = builder.getIntegerType(from.width);
  Value all = make<arith::BitcastOp>(bits, wide);
  Value size = make<arith::AndIOp>(all, constant(bits, from.magnitude()));
  Value sign = make<arith::ShRUIOp>(all, constant(bits, from.width - 1));

  // Normal numbers: add just less than half of the last bit that stays, and one
  // more where that bit is odd; a carry into the exponent is right.
  unsigned shift = from.mantissa - to.mantissa;
  Value odd = make<arith::AndIOp>(
      make<arith::ShRUIOp>(size, constant(bits, shift)), constant(bits, 1));
  Value rounded = make<arith::AddIOp>(
      make<arith::AddIOp>(size,
                          constant(bits, (uint64_t(1) << (shift - 1)) - 1)),
      odd);
  Value result = make<arith::SubIOp>(
      make<arith::ShRUIOp>(rounded, constant(bits, shift)),
      constant(bits, uint64_t(from.bias - to.bias) << to.mantissa));

  using Predicate = arith::CmpIPredicate;
  if (from.bias != to.bias) {
    // Smaller numbers: an addition that leaves the unit of the denormal numbers
    // in the last bit rounds them.
    auto power = [&](int64_t exponent) {
      return llvm::scalbn(llvm::APFloat(wideType.getFloatSemantics(), "1"),
                          static_cast<int>(exponent),
                          llvm::APFloat::rmNearestTiesToEven);
    };
    llvm::APFloat magic =
        power(int64_t(from.mantissa) + 1 - to.bias - int64_t(to.mantissa));
    Value number = make<arith::BitcastOp>(wideType, size);
    Value sum = make<arith::AddFOp>(
        number, arith::ConstantOp::create(builder, loc,
                                          FloatAttr::get(wideType, magic)));
    Value small = make<arith::SubIOp>(
        make<arith::BitcastOp>(bits, sum),
        constant(bits, magic.bitcastToAPInt().getZExtValue()));
    uint64_t least = power(1 - to.bias).bitcastToAPInt().getZExtValue();
    result = select(compare(Predicate::ult, size, least), small, result);
  }
  uint64_t past = to.hasInfinity ? to.infinity
                  : to.hasNaN    ? to.nan
                                 : to.largest;
  Value overflows =
      make<arith::OrIOp>(compare(Predicate::ugt, result, to.largest),
                         compare(Predicate::uge, size, from.infinity));
  result = select(overflows, constant(bits, past), result);
  Value isNaN = compare(Predicate::ugt, size, from.infinity);
  result =
      select(isNaN, constant(bits, to.hasNaN ? to.nan : to.largest), result);

  Value signBit = make<arith::ShLIOp>(sign, constant(bits, to.width - 1));
  if (to.hasMinusZero) {
    result = make<arith::OrIOp>(result, signBit);
  } else {
    // Zero has no sign, and NaN is its own.
    Value hasSign = make<arith::AndIOp>(compare(Predicate::ne, result, 0),
                                        compare(Predicate::ne, result, to.nan));
    result = select(hasSign, make<arith::OrIOp>(result, signBit), result);
  }
  return make<arith::BitcastOp>(
      type, make<arith::TruncIOp>(builder.getIntegerType(to.width), result));
}

//===----------------------------------------------------------------------===//
// The rewrite
//===----------------------------------------------------------------------===//

/// Arithmetic on narrow floats as the same on f32.
static void computeInSingle(Operation *op) {
  OpBuilder builder(op);
  Type single = builder.getF32Type();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isNarrow(operand.getType())
                           ? Value(arith::ExtFOp::create(builder, op->getLoc(),
                                                         single, operand))
                           : operand);
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    types.push_back(isNarrow(type) ? single : type);
  Operation *wide = builder.create(op->getLoc(), op->getName().getIdentifier(),
                                   operands, types, op->getAttrs());
  for (auto [result, value] :
       llvm::zip_equal(op->getResults(), wide->getResults())) {
    Value replacement = value;
    if (isNarrow(result.getType()))
      replacement = arith::TruncFOp::create(builder, op->getLoc(),
                                            result.getType(), value);
    result.replaceAllUsesWith(replacement);
  }
  op->erase();
}

/// Whether the CPU converts between the types itself.
static bool isNative(FloatType from, FloatType to, const TargetInfo &target) {
  bool isHalf = (from.isF16() && to.isF32()) || (from.isF32() && to.isF16());
  bool isArm = StringRef(target.triple).starts_with("aarch64");
  return isHalf && (isArm || (target.cpuFeatures & ATTN_CPU_F16C));
}

void attn::expandNarrowFloats(func::FuncOp function, const TargetInfo &target) {
  SmallVector<Operation *> arithmetic;
  function.walk([&](Operation *op) {
    bool isArithmetic = isa_and_present<arith::ArithDialect, math::MathDialect>(
                            op->getDialect()) &&
                        !isa<arith::ExtFOp, arith::TruncFOp, arith::BitcastOp,
                             arith::ConstantOp, arith::SelectOp>(op);
    if (isArithmetic && (llvm::any_of(op->getOperandTypes(), isNarrow) ||
                         llvm::any_of(op->getResultTypes(), isNarrow)))
      arithmetic.push_back(op);
  });
  for (Operation *op : arithmetic)
    computeInSingle(op);

  SmallVector<Operation *> casts;
  function.walk([&](Operation *op) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op) &&
        (isNarrow(op->getOperand(0).getType()) ||
         isNarrow(op->getResult(0).getType())))
      casts.push_back(op);
  });
  for (Operation *op : casts) {
    auto from = cast<FloatType>(op->getOperand(0).getType());
    auto to = cast<FloatType>(op->getResult(0).getType());
    if (isNative(from, to, target))
      continue;
    OpBuilder builder(op);
    Converter converter{builder, op->getLoc()};
    // Narrow to narrow by way of f32, which holds all of them.
    Value value = op->getOperand(0);
    if (isNarrow(from))
      value = converter.widen(value, isNarrow(to) ? builder.getF32Type() : to);
    if (isNarrow(to))
      value = converter.narrow(value, to);
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }
}
