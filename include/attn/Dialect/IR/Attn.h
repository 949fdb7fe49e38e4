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
#include "attn/Dialect/IR/MaskRules.h"
#define GET_TYPEDEF_CLASSES
#include "attn/Dialect/IR/AttnTypes.h.inc"
#define GET_OP_CLASSES
#include "attn/Dialect/IR/AttnOps.h.inc"

namespace attn {

/// Where batch, sequence and heads lie in a tensor of rank 4; channels are
/// always last.
inline unsigned batchDim(Layout layout) {
  return layout == Layout::SBHD ? 1 : 0;
}
inline unsigned sequenceDim(Layout layout) {
  switch (layout) {
  case Layout::BSHD:
    return 1;
  case Layout::BHSD:
    return 2;
  case Layout::SBHD:
    return 0;
  }
  llvm_unreachable("all layouts are above");
}
inline unsigned headDim(Layout layout) {
  return layout == Layout::BHSD ? 1 : 2;
}

/// Entries given by meaning, in the order of a tensor of rank 4.
template <typename T>
llvm::SmallVector<T> inLayout(Layout layout, T batch, T sequence, T heads,
                              T channels) {
  llvm::SmallVector<T> entries(4, channels);
  entries[batchDim(layout)] = batch;
  entries[sequenceDim(layout)] = sequence;
  entries[headDim(layout)] = heads;
  return entries;
}

/// What sums are kept in, and the type of scales and log-sum-exps: f64 for
/// tensors of f64 and f32 for all others.
mlir::FloatType getComputeType(mlir::Type elementType);

/// The number of chunks that an attention with `chunk` cuts so many keys into.
mlir::OpFoldResult countChunks(mlir::OpBuilder &builder, mlir::Location loc,
                               AttentionOp op, mlir::OpFoldResult keys);

} // namespace attn

#endif // ATTN_DIALECT_IR_ATTN_H
