//===- Build.h - tensors from tensors --------------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the importers of operators have in common. The helpers that move
// elements build nothing where these are known: the result is known then. Two
// dynamic sizes that meet are taken to be equal.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_IMPORT_ONNX_BUILD_H
#define ATTN_LIB_IMPORT_ONNX_BUILD_H

#include "Sizes.h"

namespace attn::onnx {

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

/// A tensor of which all elements are known.
Datum makeKnown(ElementType element, llvm::ArrayRef<Size> sizes,
                Scalars scalars);
/// A tensor without dimensions.
Datum makeScalar(ElementType element, double number);
/// A value of the function.
Datum makeDatum(ElementType element, llvm::ArrayRef<Size> sizes,
                mlir::Value tensor);
mlir::RankedTensorType tensorType(NodeImport &node, ElementType element,
                                  llvm::ArrayRef<Size> sizes);
mlir::Value makeEmpty(NodeImport &node, ElementType element,
                      llvm::ArrayRef<Size> sizes);

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

/// The same elements in row-major order under other sizes.
Datum reshape(NodeImport &node, Datum &operand, llvm::ArrayRef<Size> sizes);
/// result[i0, i1, ...] has dimension d of the result = permutation[d].
Datum transpose(NodeImport &node, Datum &operand,
                llvm::ArrayRef<int64_t> permutation);
/// Repeats sizes of 1. `sizes` must be what the operand broadcasts to.
Datum broadcastTo(NodeImport &node, Datum &operand, llvm::ArrayRef<Size> sizes);
Datum concatenate(NodeImport &node, llvm::MutableArrayRef<Datum> parts,
                  int64_t axis);
/// Elements begin, begin + step, ... of one axis; all must exist.
Datum slice(NodeImport &node, Datum &operand, int64_t axis, Size begin,
            Size size, int64_t step = 1);

/// A tensor whose element at a position is computed from the position, which is
/// one index value a dimension. `body` is in the middle of the operation: what
/// it uses of other values (node.tensor, toIndex) is asked for before.
Datum generate(
    NodeImport &node, ElementType element, llvm::ArrayRef<Size> sizes,
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)> body);

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Computes an element of the result from elements of the operands, which are
/// scalars or, where all shapes are equal, whole tensors: both work with the
/// element-wise operations of arith and math and with constantLike.
using ElementFn = llvm::function_ref<mlir::Value(
    mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;

/// A constant with the type of `like`: a number or a tensor full of it.
mlir::Value constantLike(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Type like, double number);
mlir::Value constantLike(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Type like, int64_t number);
/// i1 for a scalar, a tensor of i1 for a tensor.
mlir::Type boolLike(mlir::Type like);
/// The type of `like` with another element type.
mlir::Type typeLike(mlir::Type like, mlir::Type element);

/// Applies `body` to operands that broadcast. Elements of FLOAT16 and BFLOAT16
/// are f32 inside of it, and are rounded afterwards.
mlir::FailureOr<Datum> elementwise(NodeImport &node,
                                   llvm::MutableArrayRef<Datum> operands,
                                   ElementType result, ElementFn body);

/// Combines the elements along `axes` (sorted), starting from `init`; their
/// sizes become 1 or go. `body` gets an element and what there is so far.
/// FLOAT16 and BFLOAT16 are combined in f32 and rounded once, after `finish`,
/// which, if there, gets the outcome.
Datum reduce(NodeImport &node, Datum &operand, llvm::ArrayRef<int64_t> axes,
             bool keepSizes, Scalar init, ElementFn body,
             ElementFn finish = nullptr);

/// The operand as another type of numbers.
Datum castTo(NodeImport &node, Datum &operand, ElementType type);
/// exp(x - max) / sum(exp(x - max)) along axes, or its logarithm: NaN where all
/// are -inf.
Datum softmax(NodeImport &node, Datum operand, llvm::ArrayRef<int64_t> axes,
              bool isLog);

/// An operand of a linalg.generic over the loops of the result.
struct BroadcastInput {
  mlir::Value tensor;
  mlir::AffineMap map;
};
/// The operand as what broadcasts to `sizes`.
BroadcastInput makeBroadcastInput(NodeImport &node, Datum &operand,
                                  llvm::ArrayRef<Size> sizes);
/// A linalg.generic that writes all of `init`, without reductions. `body` ends
/// in a linalg.yield.
mlir::Value
makeGeneric(NodeImport &node, llvm::ArrayRef<BroadcastInput> inputs,
            mlir::Value init,
            llvm::function_ref<void(mlir::OpBuilder &, mlir::Location,
                                    mlir::ValueRange)>
                body);

/// The element of `tensor` at a position that lies in it.
mlir::Value extract(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value tensor, mlir::ValueRange position);

} // namespace attn::onnx

#endif // ATTN_LIB_IMPORT_ONNX_BUILD_H
