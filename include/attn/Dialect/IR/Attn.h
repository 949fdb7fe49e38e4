//===- Attn.h - the attn dialect: attributes, types, operations -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_IR_ATTN_H
#define ATTN_DIALECT_IR_ATTN_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

#include "attn/Dialect/IR/AttnDialect.h.inc"
#include "attn/Dialect/IR/AttnEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "attn/Dialect/IR/AttnAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "attn/Dialect/IR/AttnTypes.h.inc"
#define GET_OP_CLASSES
#include "attn/Dialect/IR/AttnOps.h.inc"

namespace attn {

/// Where the sequence and the heads lie in a tensor of rank 4.
inline unsigned sequenceDim(Layout layout) {
  return layout == Layout::BSHD ? 1 : 2;
}
inline unsigned headDim(Layout layout) {
  return layout == Layout::BSHD ? 2 : 1;
}

} // namespace attn

#endif // ATTN_DIALECT_IR_ATTN_H
