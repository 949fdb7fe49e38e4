//===- MutationSteps.h - rewrites of fused and tiled IR --------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The rewrites behind the table of Mutations.cpp. Each returns whether there
// was something to change.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_FUZZ_MUTATIONSTEPS_H
#define ATTN_TOOLS_ATTN_RUN_FUZZ_MUTATIONSTEPS_H

#include "mlir/IR/BuiltinOps.h"

namespace attn::run::fuzz {

// MutateFused.cpp
bool makeDeadRowsNan(mlir::ModuleOp module);
bool truncateQuotients(mlir::ModuleOp module);
bool includeLengths(mlir::ModuleOp module);
bool hideByLargeNumber(mlir::ModuleOp module);
bool hideBySmallNumber(mlir::ModuleOp module);
bool hideByCap(mlir::ModuleOp module);
bool scaleBias(mlir::ModuleOp module);

// MutateTiled.cpp
bool takeGroupModulo(mlir::ModuleOp module);
bool readFirstValues(mlir::ModuleOp module);
bool keepSum(mlir::ModuleOp module);
bool keepAccumulator(mlir::ModuleOp module);
bool countTailKeys(mlir::ModuleOp module);
bool scaleLse(mlir::ModuleOp module);
bool dropSink(mlir::ModuleOp module);

} // namespace attn::run::fuzz

#endif // ATTN_TOOLS_ATTN_RUN_FUZZ_MUTATIONSTEPS_H
