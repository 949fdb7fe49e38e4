//===- AttnAsm.cpp - custom assembly of the dialect -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "AttnAsm.h"

#include "attn/Dialect/IR/Attn.h"

#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/StringExtras.h"

#include <charconv>

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static ParseResult parseFloatAttr(OpAsmParser &parser, FloatType type,
                                  FloatAttr &attribute) {
  APFloat value(type.getFloatSemantics());
  if (parser.parseFloat(type.getFloatSemantics(), value))
    return failure();
  attribute = FloatAttr::get(type, value);
  return success();
}

ParseResult attn::parseF32(OpAsmParser &parser, FloatAttr &attribute) {
  return parseFloatAttr(parser, parser.getBuilder().getF32Type(), attribute);
}

ParseResult attn::parseF64(OpAsmParser &parser, FloatAttr &attribute) {
  return parseFloatAttr(parser, parser.getBuilder().getF64Type(), attribute);
}

/// The fewest decimal digits that parse to the same bits, in the form that
/// MLIR's lexer takes for a number (it wants a point); hexadecimal for what has
/// no digits.
template <typename T>
static void printShortest(OpAsmPrinter &printer, const APFloat &value,
                          T number) {
  if (!value.isFinite()) {
    printer << "0x"
            << llvm::toString(value.bitcastToAPInt(), /*Radix=*/16,
                              /*Signed=*/false);
    return;
  }
  char buffer[64];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), number);
  (void)error; // 64 characters hold any double.
  StringRef digits(buffer, end - buffer);
  auto [mantissa, exponent] = digits.split('e');
  printer << mantissa;
  if (!mantissa.contains('.'))
    printer << ".0";
  if (!exponent.empty())
    printer << 'e' << exponent;
}

void attn::printF32(OpAsmPrinter &printer, Operation *, FloatAttr attribute) {
  APFloat value = attribute.getValue();
  printShortest(printer, value, value.convertToFloat());
}

void attn::printF64(OpAsmPrinter &printer, Operation *, FloatAttr attribute) {
  APFloat value = attribute.getValue();
  printShortest(printer, value, value.convertToDouble());
}

ParseResult attn::parseTileScale(OpAsmParser &parser, FloatAttr &attribute) {
  if (succeeded(parser.parseOptionalKeyword("f64")))
    return parseF64(parser, attribute);
  return parseF32(parser, attribute);
}

void attn::printTileScale(OpAsmPrinter &printer, Operation *op,
                          FloatAttr attribute) {
  if (!attribute.getType().isF64())
    return printF32(printer, op, attribute);
  printer << "f64 ";
  printF64(printer, op, attribute);
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

ParseResult attn::parseLayout(OpAsmParser &parser, LayoutAttr &attribute) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<Layout> layout = symbolizeLayout(keyword);
  if (!layout)
    return parser.emitError(loc)
           << "expected a layout, bshd, bhsd or sbhd, got '" << keyword << "'";
  attribute = LayoutAttr::get(parser.getContext(), *layout);
  return success();
}

void attn::printLayout(OpAsmPrinter &printer, Operation *,
                       LayoutAttr attribute) {
  printer << stringifyLayout(attribute.getValue());
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

ParseResult attn::parseRowNorm(
    OpAsmParser &parser, std::optional<OpAsmParser::UnresolvedOperand> &gamma,
    Type &gammaType, std::optional<OpAsmParser::UnresolvedOperand> &beta,
    Type &betaType, FloatAttr &epsilon) {
  bool isLayerNorm = succeeded(parser.parseOptionalKeyword("layer_norm"));
  if (!isLayerNorm && failed(parser.parseOptionalKeyword("rms_norm")))
    return success();
  if (parser.parseLParen() || parser.parseOperand(gamma.emplace()))
    return failure();
  if (isLayerNorm &&
      (parser.parseComma() || parser.parseOperand(beta.emplace())))
    return failure();
  if (parser.parseColonType(gammaType))
    return failure();
  if (isLayerNorm && (parser.parseComma() || parser.parseType(betaType)))
    return failure();
  return failure(parser.parseRParen() || parser.parseKeyword("epsilon") ||
                 parser.parseLParen() || parseF64(parser, epsilon) ||
                 parser.parseRParen());
}

void attn::printRowNorm(OpAsmPrinter &printer, Operation *op, Value gamma,
                        Type gammaType, Value beta, Type betaType,
                        FloatAttr epsilon) {
  if (!gamma)
    return;
  if (beta)
    printer << "layer_norm(" << gamma << ", " << beta << " : " << gammaType
            << ", " << betaType;
  else
    printer << "rms_norm(" << gamma << " : " << gammaType;
  printer << ") epsilon(";
  printF64(printer, op, epsilon);
  printer << ')';
}

//===----------------------------------------------------------------------===//
// Alignments
//===----------------------------------------------------------------------===//

ParseResult
attn::parseAligned(OpAsmParser &parser, AlignmentAttr &alignment,
                   std::optional<OpAsmParser::UnresolvedOperand> &offsets,
                   Type &type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<Alignment> value = symbolizeAlignment(keyword);
  if (!value)
    return parser.emitError(loc) << "expected an alignment, top_left, "
                                    "bottom_right or offset, got '"
                                 << keyword << "'";
  alignment = AlignmentAttr::get(parser.getContext(), *value);
  if (failed(parser.parseOptionalComma()))
    return success();
  return failure(parser.parseOperand(offsets.emplace()) ||
                 parser.parseColonType(type));
}

void attn::printAligned(OpAsmPrinter &printer, Operation *,
                        AlignmentAttr alignment, Value offsets, Type type) {
  printer << stringifyAlignment(alignment ? alignment.getValue()
                                          : Alignment::TopLeft);
  if (offsets)
    printer << ", " << offsets << " : " << type;
}

//===----------------------------------------------------------------------===//
// attn.kernel: the syntax of a function
//===----------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType =
      [](Builder &builder, ArrayRef<Type> arguments, ArrayRef<Type> results,
         function_interface_impl::VariadicFlag, std::string &) -> Type {
    return builder.getFunctionType(arguments, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}
