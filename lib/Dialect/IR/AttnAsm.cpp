//===- AttnAsm.cpp - custom assembly of the dialect -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "AttnAsm.h"

#include "attn/Dialect/IR/Attn.h"

#include "mlir/Interfaces/FunctionImplementation.h"

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

void attn::printF32(OpAsmPrinter &printer, Operation *, FloatAttr attribute) {
  printer.printFloat(attribute.getValue());
}

void attn::printF64(OpAsmPrinter &printer, Operation *, FloatAttr attribute) {
  printer.printFloat(attribute.getValue());
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
