//===- AttnOps.cpp - definitions of the operations -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "attn/Dialect/IR/Attn.h"

#include "AttnAsm.h"

using namespace mlir;
using namespace attn;

#define GET_OP_CLASSES
#include "attn/Dialect/IR/AttnOps.cpp.inc"

//===----------------------------------------------------------------------===//
// attn.call
//===----------------------------------------------------------------------===//

// On tensors a call is a value; on memrefs it reads its inputs and writes its
// outputs, whose former contents it never reads.
void CallOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &input : getInputsMutable())
    if (isa<BaseMemRefType>(input.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &input,
                           SideEffects::DefaultResource::get());
  for (OpOperand &output : getOutputsMutable())
    if (isa<BaseMemRefType>(output.get().getType()))
      effects.emplace_back(MemoryEffects::Write::get(), &output,
                           SideEffects::DefaultResource::get());
}

//===----------------------------------------------------------------------===//
// Builders of attention without what is rare
//===----------------------------------------------------------------------===//

void ScoresOp::build(OpBuilder &builder, OperationState &state, Type result,
                     Value query, Value key, Value scale, Layout layout) {
  build(builder, state, result, query, key, scale, /*relative=*/Value(),
        /*offsets=*/Value(), layout, Alignment::TopLeft);
}

void SoftmaxOp::build(OpBuilder &builder, OperationState &state, Type result,
                      Type lse, Value input) {
  build(builder, state, result, lse, input, /*sinks=*/Value());
}

void MixOp::build(OpBuilder &builder, OperationState &state, Type result,
                  Value weights, Value value, Layout layout) {
  build(builder, state, result, weights, value, /*relative=*/Value(),
        /*offsets=*/Value(), layout, Alignment::TopLeft);
}
