//===- LinearSteps.h - the steps of attn-fuse-linear -----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What attn-fuse-linear does before the epilogues, one file a step, in this
// order.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TRANSFORMS_LINEARSTEPS_H
#define ATTN_LIB_TRANSFORMS_LINEARSTEPS_H

#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attn {

/// HeadViews.cpp: an attn.attention between split_heads and merge_heads of
/// layout bhsd becomes one of layout bshd, which needs no transposition.
void preferBshd(mlir::func::FuncOp func);

/// ConcatProjections.cpp: linear layers of one input that feed one attention
/// become one layer with a concatenated weight, and slices of its result.
void concatProjections(mlir::func::FuncOp func, mlir::SymbolTable &symbols);

/// HeadViews.cpp: split_heads and merge_heads become views, with a
/// linalg.transpose where the layout is bhsd.
void lowerHeads(mlir::func::FuncOp func);

/// HeadViews.cpp: the rows of a tensor, (..., K) as (M, K). Looks through the
/// views that this and lowerHeads made.
mlir::Value collapseRows(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value tensor);

/// HeadViews.cpp: the opposite, to the type and sizes of `like`.
mlir::Value expandRows(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value rows, mlir::Value like);

} // namespace attn

#endif // ATTN_LIB_TRANSFORMS_LINEARSTEPS_H
