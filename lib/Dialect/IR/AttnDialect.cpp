//===- AttnDialect.cpp - what the dialect consists of -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Registers the dialect's operations, attributes and types.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/IR/Attn.h"

using namespace mlir;
using namespace attn;

#include "attn/Dialect/IR/AttnDialect.cpp.inc"

void AttnDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/IR/AttnOps.cpp.inc"
      >();
}
