//===- ScalarOps.cpp - element-wise operations as functions -----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Floating point is f64 whatever the type is, so conversions between float
// types are the identity. Integers wrap to the width of their type, are kept
// sign-extended, and i1 is 0 or 1.
//
//===----------------------------------------------------------------------===//

#include "ScalarOps.h"

#include "attn/Dialect/IR/Attn.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::reference;

double reference::gelu(double x, bool exact) {
  if (exact)
    return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
  const double c = std::sqrt(2.0 / M_PI);
  return 0.5 * x * (1.0 + std::tanh(c * (x + 0.044715 * x * x * x)));
}

//===----------------------------------------------------------------------===//
// Shapes of functions
//===----------------------------------------------------------------------===//

static ScalarFunction unary(double (*function)(double)) {
  return [=](ArrayRef<Scalar> x) { return Scalar{function(x[0].number), 0}; };
}

static ScalarFunction binary(double (*function)(double, double)) {
  return [=](ArrayRef<Scalar> x) {
    return Scalar{function(x[0].number, x[1].number), 0};
  };
}

/// The width that integers of a type wrap to.
static unsigned widthOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
}

static int64_t wrap(uint64_t value, unsigned width) {
  if (width == 1)
    return value & 1;
  return width >= 64 ? int64_t(value) : llvm::SignExtend64(value, width);
}

/// The value as an unsigned one of its width.
static uint64_t asUnsigned(int64_t value, unsigned width) {
  return width >= 64 ? uint64_t(value)
                     : uint64_t(value) & ((uint64_t(1) << width) - 1);
}

/// A function of two integers, given sign-extended and unsigned.
static ScalarFunction integers(Operation *op,
                               uint64_t (*function)(int64_t, int64_t, uint64_t,
                                                    uint64_t)) {
  unsigned width = widthOf(op->getResult(0).getType());
  return [=](ArrayRef<Scalar> x) {
    int64_t a = x[0].integer, b = x[1].integer;
    // i1 has one bit, which is its sign.
    if (width == 1)
      return Scalar{0.0, wrap(function(-a, -b, a, b), 1)};
    return Scalar{
        0.0, wrap(function(a, b, asUnsigned(a, width), asUnsigned(b, width)),
                  width)};
  };
}

/// Division by zero has no value in the IR; it gives 0 here.
static bool isDivisible(int64_t a, int64_t b) {
  return b != 0 && !(a == INT64_MIN && b == -1);
}

//===----------------------------------------------------------------------===//
// Comparisons and conversions
//===----------------------------------------------------------------------===//

static bool compare(arith::CmpFPredicate predicate, double a, double b) {
  bool unordered = std::isnan(a) || std::isnan(b);
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::AlwaysFalse:
    return false;
  case P::AlwaysTrue:
    return true;
  case P::ORD:
    return !unordered;
  case P::UNO:
    return unordered;
  case P::OEQ:
    return a == b;
  case P::OGT:
    return a > b;
  case P::OGE:
    return a >= b;
  case P::OLT:
    return a < b;
  case P::OLE:
    return a <= b;
  case P::ONE:
    return !unordered && a != b;
  case P::UEQ:
    return unordered || a == b;
  case P::UGT:
    return unordered || a > b;
  case P::UGE:
    return unordered || a >= b;
  case P::ULT:
    return unordered || a < b;
  case P::ULE:
    return unordered || a <= b;
  case P::UNE:
    return unordered || a != b;
  }
  llvm_unreachable("all predicates are above");
}

static bool compare(arith::CmpIPredicate predicate, int64_t a, int64_t b,
                    unsigned width) {
  uint64_t ua = asUnsigned(a, width), ub = asUnsigned(b, width);
  if (width == 1) {
    a = -a;
    b = -b;
  }
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
    return a == b;
  case P::ne:
    return a != b;
  case P::slt:
    return a < b;
  case P::sle:
    return a <= b;
  case P::sgt:
    return a > b;
  case P::sge:
    return a >= b;
  case P::ult:
    return ua < ub;
  case P::ule:
    return ua <= ub;
  case P::ugt:
    return ua > ub;
  case P::uge:
    return ua >= ub;
  }
  llvm_unreachable("all predicates are above");
}

/// The bits of a number in the float type of an operand, and back.
static ScalarFunction bitcast(arith::BitcastOp op) {
  Type from = getElementTypeOrSelf(op.getIn().getType());
  Type to = getElementTypeOrSelf(op.getOut().getType());
  if (from.isF32() && to.isInteger(32))
    return [](ArrayRef<Scalar> x) {
      return Scalar{0.0, llvm::bit_cast<int32_t>(float(x[0].number))};
    };
  if (from.isF64() && to.isInteger(64))
    return [](ArrayRef<Scalar> x) {
      return Scalar{0.0, llvm::bit_cast<int64_t>(x[0].number)};
    };
  if (from.isInteger(32) && to.isF32())
    return [](ArrayRef<Scalar> x) {
      return Scalar{llvm::bit_cast<float>(int32_t(x[0].integer)), 0};
    };
  if (from.isInteger(64) && to.isF64())
    return [](ArrayRef<Scalar> x) {
      return Scalar{llvm::bit_cast<double>(x[0].integer), 0};
    };
  return nullptr;
}

/// Saturates: what is outside the type has no value in the IR.
static int64_t toInteger(double x) {
  if (std::isnan(x))
    return 0;
  if (x >= 9223372036854775808.0)
    return INT64_MAX;
  if (x <= -9223372036854775808.0)
    return INT64_MIN;
  return int64_t(x);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static ScalarFunction getFloatFunction(Operation *op) {
  return TypeSwitch<Operation *, ScalarFunction>(op)
      .Case<arith::AddFOp>(
          [](auto) { return binary([](double a, double b) { return a + b; }); })
      .Case<arith::SubFOp>(
          [](auto) { return binary([](double a, double b) { return a - b; }); })
      .Case<arith::MulFOp>(
          [](auto) { return binary([](double a, double b) { return a * b; }); })
      .Case<arith::DivFOp>(
          [](auto) { return binary([](double a, double b) { return a / b; }); })
      .Case<arith::RemFOp>([](auto) { return binary(std::fmod); })
      .Case<arith::MaximumFOp>([](auto) {
        return binary([](double a, double b) {
          return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b);
        });
      })
      .Case<arith::MinimumFOp>([](auto) {
        return binary([](double a, double b) {
          return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b);
        });
      })
      .Case<arith::MaxNumFOp>([](auto) { return binary(std::fmax); })
      .Case<arith::MinNumFOp>([](auto) { return binary(std::fmin); })
      .Case<math::PowFOp>([](auto) { return binary(std::pow); })
      .Case<math::Atan2Op>([](auto) { return binary(std::atan2); })
      .Case<math::CopySignOp>([](auto) { return binary(std::copysign); })
      .Case<arith::NegFOp>(
          [](auto) { return unary([](double x) { return -x; }); })
      .Case<arith::ExtFOp, arith::TruncFOp>(
          [](auto) { return unary([](double x) { return x; }); })
      .Case<math::AbsFOp>([](auto) { return unary(std::fabs); })
      .Case<math::AtanOp>([](auto) { return unary(std::atan); })
      .Case<math::CeilOp>([](auto) { return unary(std::ceil); })
      .Case<math::CosOp>([](auto) { return unary(std::cos); })
      .Case<math::ErfOp>([](auto) { return unary(std::erf); })
      .Case<math::Exp2Op>([](auto) { return unary(std::exp2); })
      .Case<math::ExpM1Op>([](auto) { return unary(std::expm1); })
      .Case<math::ExpOp>([](auto) { return unary(std::exp); })
      .Case<math::FloorOp>([](auto) { return unary(std::floor); })
      .Case<math::Log1pOp>([](auto) { return unary(std::log1p); })
      .Case<math::Log2Op>([](auto) { return unary(std::log2); })
      .Case<math::LogOp>([](auto) { return unary(std::log); })
      .Case<math::RoundEvenOp>([](auto) { return unary(std::nearbyint); })
      .Case<math::RoundOp>([](auto) { return unary(std::round); })
      .Case<math::RsqrtOp>([](auto) {
        return unary([](double x) { return 1.0 / std::sqrt(x); });
      })
      .Case<math::SinOp>([](auto) { return unary(std::sin); })
      .Case<math::SqrtOp>([](auto) { return unary(std::sqrt); })
      .Case<math::TanOp>([](auto) { return unary(std::tan); })
      .Case<math::TanhOp>([](auto) { return unary(std::tanh); })
      .Case<math::TruncOp>([](auto) { return unary(std::trunc); })
      .Case<math::FmaOp>([](auto) -> ScalarFunction {
        return [](ArrayRef<Scalar> x) {
          return Scalar{std::fma(x[0].number, x[1].number, x[2].number), 0};
        };
      })
      .Case<GeluOp>([](GeluOp gelu) {
        if (gelu.getForm() == GeluForm::Erf)
          return unary([](double x) { return reference::gelu(x, true); });
        return unary([](double x) { return reference::gelu(x, false); });
      })
      .Case<ReluOp>([](auto) {
        return unary(
            [](double x) { return x > 0.0 || std::isnan(x) ? x : 0.0; });
      })
      .Default([](auto) { return ScalarFunction(); });
}

static ScalarFunction getIntegerFunction(Operation *op) {
  using I = int64_t;
  using U = uint64_t;
#define ATTN_INTEGERS(OP, EXPRESSION)                                          \
  .Case<OP>([&](auto) {                                                        \
    return integers(op, [](I a, I b, U ua, U ub) -> U {                        \
      (void)a, (void)b, (void)ua, (void)ub;                                    \
      return EXPRESSION;                                                       \
    });                                                                        \
  })
  return TypeSwitch<Operation *, ScalarFunction>(op)
      // clang-format off
      ATTN_INTEGERS(arith::AddIOp, ua + ub)
      ATTN_INTEGERS(arith::SubIOp, ua - ub)
      ATTN_INTEGERS(arith::MulIOp, ua * ub)
      ATTN_INTEGERS(arith::AndIOp, ua & ub)
      ATTN_INTEGERS(arith::OrIOp, ua | ub)
      ATTN_INTEGERS(arith::XOrIOp, ua ^ ub)
      ATTN_INTEGERS(arith::ShLIOp, ub < 64 ? ua << ub : 0)
      ATTN_INTEGERS(arith::ShRUIOp, ub < 64 ? ua >> ub : 0)
      ATTN_INTEGERS(arith::ShRSIOp, ub < 64 ? U(a >> ub) : 0)
      ATTN_INTEGERS(arith::MaxSIOp, U(std::max(a, b)))
      ATTN_INTEGERS(arith::MinSIOp, U(std::min(a, b)))
      ATTN_INTEGERS(arith::MaxUIOp, std::max(ua, ub))
      ATTN_INTEGERS(arith::MinUIOp, std::min(ua, ub))
      ATTN_INTEGERS(arith::DivUIOp, ub ? ua / ub : 0)
      ATTN_INTEGERS(arith::RemUIOp, ub ? ua % ub : 0)
      ATTN_INTEGERS(arith::CeilDivUIOp, ub ? ua / ub + (ua % ub != 0) : 0)
      ATTN_INTEGERS(arith::DivSIOp, isDivisible(a, b) ? U(a / b) : 0)
      ATTN_INTEGERS(arith::RemSIOp, isDivisible(a, b) ? U(a % b) : 0)
      ATTN_INTEGERS(arith::FloorDivSIOp,
                    isDivisible(a, b) ? U(llvm::divideFloorSigned(a, b)) : 0)
      ATTN_INTEGERS(arith::CeilDivSIOp,
                    isDivisible(a, b) ? U(llvm::divideCeilSigned(a, b)) : 0)
                                      // clang-format on
                                      .Case<math::AbsIOp>(
                                          [](auto abs) -> ScalarFunction {
                                            unsigned width =
                                                widthOf(abs.getType());
                                            return [=](ArrayRef<Scalar> x) {
                                              return Scalar{
                                                  0.0,
                                                  wrap(x[0].integer < 0
                                                           ? -uint64_t(
                                                                 x[0].integer)
                                                           : uint64_t(
                                                                 x[0].integer),
                                                       width)};
                                            };
                                          })
                                      .Default([](auto) {
                                        return ScalarFunction();
                                      });
#undef ATTN_INTEGERS
}

static ScalarFunction getConversion(Operation *op) {
  return TypeSwitch<Operation *, ScalarFunction>(op)
      .Case<arith::CmpFOp>([](auto cmp) -> ScalarFunction {
        auto predicate = cmp.getPredicate();
        return [=](ArrayRef<Scalar> x) {
          return Scalar{0.0, compare(predicate, x[0].number, x[1].number)};
        };
      })
      .Case<arith::CmpIOp>([](auto cmp) -> ScalarFunction {
        auto predicate = cmp.getPredicate();
        unsigned width = widthOf(cmp.getLhs().getType());
        return [=](ArrayRef<Scalar> x) {
          return Scalar{0.0,
                        compare(predicate, x[0].integer, x[1].integer, width)};
        };
      })
      .Case<arith::SelectOp>([](auto) -> ScalarFunction {
        return [](ArrayRef<Scalar> x) { return x[0].integer ? x[1] : x[2]; };
      })
      .Case<arith::ExtSIOp, arith::IndexCastOp, arith::TruncIOp>(
          [](auto cast) -> ScalarFunction {
            unsigned from = widthOf(cast.getIn().getType());
            unsigned to = widthOf(cast.getOut().getType());
            return [=](ArrayRef<Scalar> x) {
              int64_t value = from == 1 ? -x[0].integer : x[0].integer;
              return Scalar{0.0, wrap(value, to)};
            };
          })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>(
          [](auto cast) -> ScalarFunction {
            unsigned from = widthOf(cast.getIn().getType());
            unsigned to = widthOf(cast.getOut().getType());
            return [=](ArrayRef<Scalar> x) {
              return Scalar{0.0, wrap(asUnsigned(x[0].integer, from), to)};
            };
          })
      .Case<arith::SIToFPOp>([](auto cast) -> ScalarFunction {
        unsigned from = widthOf(cast.getIn().getType());
        return [=](ArrayRef<Scalar> x) {
          return Scalar{double(from == 1 ? -x[0].integer : x[0].integer), 0};
        };
      })
      .Case<arith::UIToFPOp>([](auto cast) -> ScalarFunction {
        unsigned from = widthOf(cast.getIn().getType());
        return [=](ArrayRef<Scalar> x) {
          return Scalar{double(asUnsigned(x[0].integer, from)), 0};
        };
      })
      .Case<arith::FPToSIOp, arith::FPToUIOp>([](auto cast) -> ScalarFunction {
        unsigned to = widthOf(cast.getOut().getType());
        return [=](ArrayRef<Scalar> x) {
          return Scalar{0.0, wrap(toInteger(x[0].number), to)};
        };
      })
      .Case<arith::BitcastOp>(
          [](arith::BitcastOp cast) { return bitcast(cast); })
      .Default([](auto) { return ScalarFunction(); });
}

ScalarFunction reference::getScalarFunction(Operation *op) {
  if (ScalarFunction function = getFloatFunction(op))
    return function;
  if (ScalarFunction function = getIntegerFunction(op))
    return function;
  return getConversion(op);
}
