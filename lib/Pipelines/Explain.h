//===- Explain.h - remarks as text -----------------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_PIPELINES_EXPLAIN_H
#define ATTN_LIB_PIPELINES_EXPLAIN_H

#include "attn/Analysis/CostModel.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace attn {

/// From now on writes each remark of a pass as one line of text to `os`: where,
/// what was done or not, the numbers, and for what was not done the reason and
/// the way out.
void explainTo(llvm::raw_ostream &os, mlir::MLIRContext &context);

/// A remark on each kernel of a module that says what its calls cost, and one
/// on the whole.
void explainCost(mlir::ModuleOp module, const ModelCost &cost);

} // namespace attn

#endif // ATTN_LIB_PIPELINES_EXPLAIN_H
