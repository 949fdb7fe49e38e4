//===- AttnToLoops.h - from the tiled level to linalg ----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The patterns behind convert-attn-to-loops, one set a family of operations.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_CONVERSION_ATTNTOLOOPS_ATTNTOLOOPS_H
#define ATTN_CONVERSION_ATTNTOLOOPS_ATTNTOLOOPS_H

namespace mlir {
class RewritePatternSet;
class TypeConverter;
} // namespace mlir

namespace attn {

/// A tile of rank 1 becomes a tensor; one of rank 2 a tensor of its shape and
/// the numbers of rows and columns that are inside the tensor it was loaded
/// from.
void addTileConversions(mlir::TypeConverter &converter);

/// Operations on tiles, which `converter` converts.
void populateTileToLinalgPatterns(const mlir::TypeConverter &converter,
                                  mlir::RewritePatternSet &patterns);

/// attn.fused_linear and attn.pack.
void populateLinearToLinalgPatterns(mlir::RewritePatternSet &patterns);

/// Norms and softmax.
void populateRowNormsToLinalgPatterns(mlir::RewritePatternSet &patterns);

/// Embeddings, positions and pooling.
void populatePositionsToLinalgPatterns(mlir::RewritePatternSet &patterns);

/// attn.gelu and attn.relu of scalars.
void populateActivationPatterns(mlir::RewritePatternSet &patterns);

/// Element-wise operations of any dialect on tensors, and activations of
/// scalars.
void populateElementwiseToLinalgPatterns(mlir::RewritePatternSet &patterns);

} // namespace attn

#endif // ATTN_CONVERSION_ATTNTOLOOPS_ATTNTOLOOPS_H
