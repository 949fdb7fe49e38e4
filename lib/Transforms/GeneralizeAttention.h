//===- GeneralizeAttention.h - attention as linalg.generic -----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The parts of attn-generalize: each writes one operation in terms of linalg,
// puts the new values in its place and erases it.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TRANSFORMS_GENERALIZEATTENTION_H
#define ATTN_LIB_TRANSFORMS_GENERALIZEATTENTION_H

#include "BroadcastDims.h"
#include "attn/Dialect/IR/Attn.h"

namespace attn {

/// The contractions of queries with keys, and of weights with values.
void generalizeScores(mlir::Operation *op, const BroadcastDims &broadcasts);
void generalizeMix(MixOp op, const BroadcastDims &broadcasts);

/// Masks and score rules, element by element.
void generalizeScoreRule(mlir::Operation *op, const BroadcastDims &broadcasts);

/// A softmax with sinks: one without, and a correction.
void generalizeSinks(SoftmaxOp op);

/// Positions, if they are given, are checked before.
void generalizeRotary(RotaryOp op);
void generalizeMerge(MergeAttentionOp op);

/// New rows of a cache, slice by slice, after a check of their places.
void generalizeCacheAppend(CacheAppendOp op);

/// An attn.check_ids, unless there is one already: operations are generalized
/// in their order. `name` is for ids that are no argument.
void checkIdsOnce(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value ids,
                  mlir::OpFoldResult limit, llvm::StringRef name);

/// An element-wise linalg.generic of the shape of `like`: `body` gets the
/// indices, and the elements of `inputs` by their maps.
mlir::Value mapElements(
    mlir::OpBuilder &builder, mlir::Location loc, mlir::Value like,
    mlir::Type element, mlir::ValueRange inputs,
    llvm::ArrayRef<mlir::AffineMap> maps,
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange indices,
                                   mlir::ValueRange elements)>
        body);

} // namespace attn

#endif // ATTN_LIB_TRANSFORMS_GENERALIZEATTENTION_H
