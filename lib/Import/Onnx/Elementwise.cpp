//===- Elementwise.cpp - operators that work element by element -----------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Arithmetic, comparisons, logic, activations and casts, with NumPy's
// broadcasting. What a single element becomes is in ElementOps.cpp.
//
//===----------------------------------------------------------------------===//

#include "Build.h"
#include "ElementOps.h"

#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;

namespace attn::onnx {

//===----------------------------------------------------------------------===//
// One operation an operator
//===----------------------------------------------------------------------===//

namespace {
enum : unsigned { Floats = 1, Integers = 2, Bools = 4, Numbers = 3, All = 7 };

/// What an operator of one operation takes and gives.
struct ElementRow {
  StringLiteral name;
  ElementOp op;
  unsigned takes;
  bool givesBool = false;
};
} // namespace

static constexpr ElementRow elementRows[] = {
    {"Abs", ElementOp::Abs, Numbers},
    {"Add", ElementOp::Add, Numbers},
    {"And", ElementOp::And, Bools},
    {"Ceil", ElementOp::Ceil, Floats},
    {"Cos", ElementOp::Cos, Floats},
    {"Cosh", ElementOp::Cosh, Floats},
    {"Div", ElementOp::Div, Numbers},
    {"Equal", ElementOp::Equal, All, true},
    {"Erf", ElementOp::Erf, Floats},
    {"Exp", ElementOp::Exp, Floats},
    {"Floor", ElementOp::Floor, Floats},
    {"Greater", ElementOp::Greater, Numbers, true},
    {"GreaterOrEqual", ElementOp::GreaterOrEqual, Numbers, true},
    {"IsNaN", ElementOp::IsNaN, Floats, true},
    {"Less", ElementOp::Less, Numbers, true},
    {"LessOrEqual", ElementOp::LessOrEqual, Numbers, true},
    {"Log", ElementOp::Log, Floats},
    {"Max", ElementOp::Max, Numbers},
    {"Mean", ElementOp::Add, Floats},
    {"Min", ElementOp::Min, Numbers},
    {"Mul", ElementOp::Mul, Numbers},
    {"Neg", ElementOp::Neg, Numbers},
    {"Not", ElementOp::Not, Bools},
    {"Or", ElementOp::Or, Bools},
    {"Reciprocal", ElementOp::Reciprocal, Floats},
    {"Relu", ElementOp::Relu, Numbers},
    {"Round", ElementOp::Round, Floats},
    {"Sigmoid", ElementOp::Sigmoid, Floats},
    {"Sign", ElementOp::Sign, Numbers},
    {"Sin", ElementOp::Sin, Floats},
    {"Sinh", ElementOp::Sinh, Floats},
    {"Sqrt", ElementOp::Sqrt, Floats},
    {"Sub", ElementOp::Sub, Numbers},
    {"Sum", ElementOp::Add, Floats},
    {"Tan", ElementOp::Tan, Floats},
    {"Tanh", ElementOp::Tanh, Floats},
    {"Where", ElementOp::Where, All},
    {"Xor", ElementOp::Xor, Bools},
};

static unsigned kindOf(ElementType type) {
  return type == ElementType::Bool ? Bools
         : isFloat(type)           ? Floats
         : isInteger(type)         ? Integers
                                   : 0;
}

/// The elements of operands that broadcast, if all are known.
static std::optional<Scalars>
foldElements(NodeImport &node, MutableArrayRef<Datum> operands,
             ArrayRef<Size> sizes,
             llvm::function_ref<std::optional<Scalar>(ArrayRef<Scalar>)> fold) {
  if (!llvm::all_of(operands,
                    [](const Datum &operand) { return bool(operand.known); }))
    return std::nullopt;
  std::vector<Datum> moved;
  for (Datum &operand : operands) {
    moved.push_back(broadcastTo(node, operand, sizes));
    if (!moved.back().known)
      return std::nullopt;
  }
  Scalars result;
  for (size_t i = 0; i < moved.front().known->size(); ++i) {
    SmallVector<Scalar> elements;
    for (const Datum &operand : moved)
      elements.push_back((*operand.known)[i]);
    std::optional<Scalar> scalar = fold(elements);
    if (!scalar)
      return std::nullopt;
    result.push_back(*scalar);
  }
  return result;
}

static FailureOr<Datum> applyElement(NodeImport &node, ElementOp op,
                                     MutableArrayRef<Datum> operands,
                                     bool givesBool) {
  ElementType type = operands.back().element;
  ElementType result = givesBool ? ElementType::Bool : type;
  FailureOr<SmallVector<Size>> sizes = broadcastSizes(node, operands);
  if (failed(sizes))
    return failure();
  if (std::optional<Scalars> scalars =
          foldElements(node, operands, *sizes, [&](ArrayRef<Scalar> elements) {
            return foldElement(node, op, type, elements);
          }))
    return makeKnown(result, *sizes, std::move(*scalars));
  return elementwise(node, operands, result,
                     [&](OpBuilder &builder, Location loc, ValueRange values) {
                       return emitElement(op, type, builder, loc, values);
                     });
}

/// All inputs, which must be tensors of one type; `first` may be of another.
static FailureOr<SmallVector<Datum>>
operandsOf(NodeImport &node, unsigned takes, unsigned first = 0) {
  SmallVector<Datum> operands;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    if (!node.has(i))
      return node.error("expected input " + Twine(i) + ", got none");
    const Datum &operand = node.input(i);
    if (operand.isList)
      return node.error("expected tensors, got a list in input " + Twine(i));
    operands.push_back(operand);
  }
  const Datum &last = operands.back();
  for (auto [i, operand] : llvm::enumerate(operands))
    if (i >= first &&
        (operand.element != last.element || !(kindOf(operand.element) & takes)))
      return node.error("expected inputs of one type of " +
                        Twine(takes == Bools    ? "BOOL"
                              : takes == Floats ? "floating-point numbers"
                              : takes == All    ? "numbers or BOOL"
                                                : "numbers") +
                        ", got " + describe(operand) + " in input " + Twine(i));
  return operands;
}

static LogicalResult importElement(NodeImport &node) {
  const auto *row = llvm::find_if(elementRows, [&](const ElementRow &row) {
    return row.name == node.getNode().opType;
  });
  bool isWhere = row->op == ElementOp::Where;
  FailureOr<SmallVector<Datum>> operands =
      operandsOf(node, row->takes, isWhere ? 1 : 0);
  if (failed(operands))
    return failure();
  if (isWhere && operands->front().element != ElementType::Bool)
    return node.error("expected a condition of BOOL, got " +
                      describe(operands->front()));
  FailureOr<Datum> result =
      applyElement(node, row->op, *operands, row->givesBool);
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

/// Max, Min, Sum, Mean: the operation between all inputs, in order.
static LogicalResult importVariadic(NodeImport &node) {
  const auto *row = llvm::find_if(elementRows, [&](const ElementRow &row) {
    return row.name == node.getNode().opType;
  });
  FailureOr<SmallVector<Datum>> operands = operandsOf(node, row->takes);
  if (failed(operands))
    return failure();
  Datum result = operands->front();
  for (const Datum &operand : ArrayRef(*operands).drop_front()) {
    Datum pair[] = {result, operand};
    FailureOr<Datum> next = applyElement(node, row->op, pair, false);
    if (failed(next))
      return failure();
    result = *next;
  }
  if (row->name == "Mean") {
    Datum pair[] = {result, makeScalar(result.element,
                                       static_cast<double>(operands->size()))};
    FailureOr<Datum> mean = applyElement(node, ElementOp::Div, pair, false);
    if (failed(mean))
      return failure();
    result = *mean;
  }
  node.setResult(0, result);
  return success();
}

//===----------------------------------------------------------------------===//
// Arithmetic of several operations
//===----------------------------------------------------------------------===//

/// base ^ exponent of integers by repeated squaring, modulo 2^width. A negative
/// exponent leaves 1, -1 or 0.
static mlir::Value emitIntegerPower(OpBuilder &builder, Location loc,
                                    mlir::Value base, mlir::Value exponent) {
  mlir::Type type = base.getType(), exponentType = exponent.getType();
  auto number = [&](mlir::Type of, int64_t value) {
    return constantLike(builder, loc, of, value);
  };
  mlir::Value result = number(type, 1), square = base;
  // An exponent of 64 or more: all that counts is the lowest bit, for 1 and -1.
  mlir::Value isNegative =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, exponent,
                            number(exponentType, 0));
  for (int64_t bit = 0; bit < 6; ++bit) {
    mlir::Value mask = number(exponentType, int64_t(1) << bit);
    mlir::Value isSet = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ne,
        arith::AndIOp::create(builder, loc, exponent, mask),
        number(exponentType, 0));
    mlir::Value product = arith::MulIOp::create(builder, loc, result, square);
    result = arith::SelectOp::create(builder, loc, isSet, product, result);
    square = arith::MulIOp::create(builder, loc, square, square);
  }
  // 1 / base ^ -exponent, towards zero.
  auto is = [&](int64_t value) -> mlir::Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, base,
                                 number(type, value));
  };
  mlir::Value isUnit = arith::OrIOp::create(builder, loc, is(1), is(-1));
  mlir::Value inverse =
      arith::SelectOp::create(builder, loc, isUnit, result, number(type, 0));
  return arith::SelectOp::create(builder, loc, isNegative, inverse, result);
}

/// The exponent may be of another type; the result has that of the base.
static LogicalResult importPow(NodeImport &node) {
  Datum operands[] = {node.input(0), node.input(1)};
  ElementType base = operands[0].element, exponent = operands[1].element;
  if (!(kindOf(base) & Numbers) || !(kindOf(exponent) & Numbers))
    return node.error("expected numbers, got " + describe(operands[0]) +
                      " and " + describe(operands[1]));
  auto body = [&](OpBuilder &builder, Location loc,
                  ValueRange values) -> mlir::Value {
    if (isInteger(base) && isInteger(exponent))
      return emitIntegerPower(builder, loc, values[0], values[1]);
    // Integers with a float: as f64, which holds what can come out.
    ElementType type = isInteger(base) ? ElementType::Double : base;
    mlir::Value x = emitCast(base, type, true, builder, loc, values[0]);
    // A double exponent of a float base is rounded to it.
    mlir::Value y = emitCast(exponent, type, true, builder, loc, values[1]);
    mlir::Value power = math::PowFOp::create(builder, loc, x, y);
    return isInteger(base)
               ? emitCast(ElementType::Double, base, true, builder, loc, power)
               : power;
  };
  FailureOr<Datum> result = elementwise(node, operands, base, body);
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

/// The remainder with the sign of the divisor, or with fmod of the dividend.
static LogicalResult importMod(NodeImport &node) {
  bool isC = node.integer("fmod", 0) != 0;
  FailureOr<SmallVector<Datum>> operands = operandsOf(node, Numbers);
  if (failed(operands))
    return failure();
  ElementType type = operands->front().element;
  if (isFloat(type) && !isC)
    return node.error("expected fmod = 1 for floating-point numbers, got 0");
  FailureOr<SmallVector<Size>> sizes = broadcastSizes(node, *operands);
  if (failed(sizes))
    return failure();
  auto fold = [&](ArrayRef<Scalar> in) -> std::optional<Scalar> {
    if (isFloat(type) || isUnsigned(type) || in[0].isSize() || in[1].isSize() ||
        in[1].integer == 0 || in[1].integer == -1)
      return std::nullopt;
    int64_t rest = in[0].integer % in[1].integer;
    if (!isC && rest != 0 && (rest < 0) != (in[1].integer < 0))
      rest += in[1].integer;
    return Scalar::ofInteger(rest);
  };
  if (std::optional<Scalars> scalars =
          foldElements(node, *operands, *sizes, fold)) {
    node.setResult(0, makeKnown(type, *sizes, std::move(*scalars)));
    return success();
  }
  auto body = [&](OpBuilder &builder, Location loc,
                  ValueRange values) -> mlir::Value {
    if (isFloat(type))
      return arith::RemFOp::create(builder, loc, values[0], values[1]);
    // a - (a / b) b, where b is not 0 and nothing traps.
    mlir::Value quotient =
        emitElement(ElementOp::Div, type, builder, loc, values);
    mlir::Value rest = arith::SubIOp::create(
        builder, loc, values[0],
        arith::MulIOp::create(builder, loc, quotient, values[1]));
    if (isC || isUnsigned(type))
      return rest;
    using Predicate = arith::CmpIPredicate;
    mlir::Value zero = constantLike(builder, loc, rest.getType(), int64_t(0));
    auto compare = [&](Predicate predicate, mlir::Value a, mlir::Value b) {
      return arith::CmpIOp::create(builder, loc, predicate, a, b).getResult();
    };
    mlir::Value differ =
        arith::XOrIOp::create(builder, loc, compare(Predicate::slt, rest, zero),
                              compare(Predicate::slt, values[1], zero));
    mlir::Value moves = arith::AndIOp::create(
        builder, loc, compare(Predicate::ne, rest, zero), differ);
    return arith::SelectOp::create(
        builder, loc, moves,
        arith::AddIOp::create(builder, loc, rest, values[1]), rest);
  };
  FailureOr<Datum> result = elementwise(node, *operands, type, body);
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

/// min(max(x, low), high): where low > high, high.
static LogicalResult importClip(NodeImport &node) {
  Datum result = node.input(0);
  ElementOp ops[] = {ElementOp::Max, ElementOp::Min};
  for (unsigned i = 1; i <= 2; ++i) {
    if (!node.has(i))
      continue;
    Datum pair[] = {result, node.input(i)};
    if (pair[0].element != pair[1].element ||
        !(kindOf(pair[0].element) & Numbers))
      return node.error("expected inputs of one type of numbers, got " +
                        describe(pair[0]) + " and " + describe(pair[1]));
    FailureOr<Datum> next = applyElement(node, ops[i - 1], pair, false);
    if (failed(next))
      return failure();
    result = *next;
  }
  node.setResult(0, result);
  return success();
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

static LogicalResult importGelu(NodeImport &node) {
  StringRef form = node.text("approximate", "none");
  if (form != "none" && form != "tanh")
    return node.error("expected approximate = none or tanh, got '" + form +
                      "'");
  FailureOr<SmallVector<Datum>> operands = operandsOf(node, Floats);
  if (failed(operands))
    return failure();
  auto body = [&](OpBuilder &builder, Location loc,
                  ValueRange values) -> mlir::Value {
    return GeluOp::create(builder, loc, values[0].getType(), values[0],
                          form == "tanh" ? GeluForm::Tanh : GeluForm::Erf);
  };
  FailureOr<Datum> result =
      elementwise(node, *operands, operands->front().element, body);
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

/// x * sigmoid(alpha * x), for SwiGLU times a second operand.
static LogicalResult importSwish(NodeImport &node) {
  double alpha = node.number("alpha", 1);
  FailureOr<SmallVector<Datum>> operands = operandsOf(node, Floats);
  if (failed(operands))
    return failure();
  ElementType type = operands->front().element;
  auto body = [&](OpBuilder &builder, Location loc,
                  ValueRange values) -> mlir::Value {
    mlir::Value x = values[0];
    ElementType inner = isHalf(type) ? ElementType::Float : type;
    mlir::Value factor = constantLike(builder, loc, x.getType(), alpha);
    mlir::Value scaled =
        alpha == 1 ? x : arith::MulFOp::create(builder, loc, x, factor);
    mlir::Value gate =
        emitElement(ElementOp::Sigmoid, inner, builder, loc, scaled);
    mlir::Value result = arith::MulFOp::create(builder, loc, x, gate);
    if (values.size() == 2)
      result = arith::MulFOp::create(builder, loc, result, values[1]);
    return result;
  };
  FailureOr<Datum> result = elementwise(node, *operands, type, body);
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static LogicalResult importCastTo(NodeImport &node, ElementType to,
                                  bool saturate) {
  Datum operand = node.input(0);
  ElementType from = operand.element;
  if (operand.isList || !kindOf(from) || !mlirType(to, node.context()))
    return node.error("expected a cast from numbers or BOOL to numbers or "
                      "BOOL, got one from " +
                      describe(operand) + " to " + elementTypeName(to));
  if (from == to) {
    node.setResult(0, operand);
    return success();
  }
  if (std::optional<Scalars> scalars = foldElements(
          node, operand, operand.sizes, [&](ArrayRef<Scalar> elements) {
            return foldCast(from, to, elements.front());
          }))
    if (kindOf(to)) {
      node.setResult(0, makeKnown(to, operand.sizes, std::move(*scalars)));
      return success();
    }
  auto body = [&](OpBuilder &builder, Location loc, ValueRange values) {
    return emitCast(from, to, saturate, builder, loc, values[0]);
  };
  FailureOr<Datum> result = elementwise(node, operand, to, body);
  if (failed(result))
    return failure();
  node.setResult(0, *result);
  return success();
}

static LogicalResult importCast(NodeImport &node) {
  auto to = static_cast<ElementType>(node.integer("to", 0));
  if (node.hasAttribute("round_mode") && node.text("round_mode", "up") != "up")
    return node.error("expected round_mode = up, got '" +
                      node.text("round_mode", "") + "'");
  return importCastTo(node, to, node.integer("saturate", 1) != 0);
}

static LogicalResult importCastLike(NodeImport &node) {
  node.ignore("round_mode"); // Of a type that has none.
  return importCastTo(node, node.input(1).element,
                      node.integer("saturate", 1) != 0);
}

static LogicalResult importIdentity(NodeImport &node) {
  node.setResult(0, node.input(0));
  return success();
}

/// In inference nothing is dropped.
static LogicalResult importDropout(NodeImport &node) {
  node.ignore("seed");
  node.ignore("ratio"); // Version 10.
  if (node.has(2)) {
    const Datum &training = node.input(2);
    std::optional<Scalar> mode = training.splat();
    if (!mode)
      return node.unknown(2, "decides what is computed");
    if (mode->integer != 0)
      return node.error("expected training_mode to be false, got true");
  }
  const Datum &operand = node.input(0);
  node.setResult(0, operand);
  if (node.wants(1)) {
    Datum all = makeScalar(ElementType::Bool, 1);
    node.setResult(1, broadcastTo(node, all, operand.sizes));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static constexpr StringLiteral none = "";

ArrayRef<Operator> elementwiseOperators() {
  static const Operator rows[] = {
      {"Abs", 6, 1, 1, 1, importElement, none},
      {"Add", 7, 2, 2, 1, importElement, none},
      {"And", 7, 2, 2, 1, importElement, none},
      {"Cast", 6, 1, 1, 1, importCast, "no strings; round_mode is up"},
      {"CastLike", 15, 2, 2, 1, importCastLike, "no strings"},
      {"Ceil", 6, 1, 1, 1, importElement, none},
      {"Clip", 11, 1, 3, 1, importClip, none},
      {"Cos", 7, 1, 1, 1, importElement, none},
      {"Cosh", 9, 1, 1, 1, importElement, none},
      {"Div", 7, 2, 2, 1, importElement, "integers: x / 0 is 0"},
      {"Dropout", 10, 1, 3, 2, importDropout, "inference only"},
      {"Equal", 7, 2, 2, 1, importElement, "no strings"},
      {"Erf", 9, 1, 1, 1, importElement, none},
      {"Exp", 6, 1, 1, 1, importElement, none},
      {"Floor", 6, 1, 1, 1, importElement, none},
      {"Gelu", 20, 1, 1, 1, importGelu, none},
      {"Greater", 7, 2, 2, 1, importElement, none},
      {"GreaterOrEqual", 12, 2, 2, 1, importElement, none},
      {"Identity", 1, 1, 1, 1, importIdentity, none},
      {"IsNaN", 9, 1, 1, 1, importElement, none},
      {"Less", 7, 2, 2, 1, importElement, none},
      {"LessOrEqual", 12, 2, 2, 1, importElement, none},
      {"Log", 6, 1, 1, 1, importElement, none},
      {"Max", 8, 1, -1, 1, importVariadic, none},
      {"Mean", 8, 1, -1, 1, importVariadic, none},
      {"Min", 8, 1, -1, 1, importVariadic, none},
      {"Mod", 10, 2, 2, 1, importMod, "integers: x mod 0 is x"},
      {"Mul", 7, 2, 2, 1, importElement, none},
      {"Neg", 6, 1, 1, 1, importElement, none},
      {"Not", 1, 1, 1, 1, importElement, none},
      {"Or", 7, 2, 2, 1, importElement, none},
      {"Pow", 7, 2, 2, 1, importPow, none},
      {"Reciprocal", 6, 1, 1, 1, importElement, none},
      {"Relu", 6, 1, 1, 1, importElement, none},
      {"Round", 11, 1, 1, 1, importElement, none},
      {"Sigmoid", 6, 1, 1, 1, importElement, none},
      {"Sign", 9, 1, 1, 1, importElement, none},
      {"Sin", 7, 1, 1, 1, importElement, none},
      {"Sinh", 9, 1, 1, 1, importElement, none},
      {"Sqrt", 6, 1, 1, 1, importElement, none},
      {"Sub", 7, 2, 2, 1, importElement, none},
      {"Sum", 8, 1, -1, 1, importVariadic, none},
      {"SwiGLU", 28, 2, 2, 1, importSwish, none},
      {"Swish", 24, 1, 1, 1, importSwish, none},
      {"Tan", 7, 1, 1, 1, importElement, none},
      {"Tanh", 6, 1, 1, 1, importElement, none},
      {"Where", 9, 3, 3, 1, importElement, "no strings"},
      {"Xor", 7, 2, 2, 1, importElement, none},
  };
  return rows;
}

} // namespace attn::onnx
