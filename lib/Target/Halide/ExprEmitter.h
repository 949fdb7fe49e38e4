//===- ExprEmitter.h - scalar operations as Halide expressions -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Regions of attn.fused_linear and of the tile ops, and the index arithmetic
// around them, become Halide::Expr. Values are bound by the caller (block
// arguments, loop counters, tensors); everything else follows from the
// operations. An operation without a counterpart is an error at its location.
//
// Halide compiles with fast-math: NaN and infinity are assumed away. What
// depends on them is therefore written in integer bits here: a comparison with
// an infinite constant, `ord` and `uno`.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_EXPREMITTER_H
#define ATTN_LIB_TARGET_HALIDE_EXPREMITTER_H

#include "HalfFloats.h"
#include "HalideKernel.h"

#include "llvm/ADT/DenseMap.h"

#include <functional>

namespace attn {

/// How expressions read a tensor. Indices and sizes are Int(32), in the order
/// of the tensor's dimensions (not Halide's). An f16 or bf16 is its bits.
struct TensorSource {
  std::function<Halide::Expr(llvm::ArrayRef<Halide::Expr>)> load;
  std::vector<Halide::Expr> sizes;
  /// Says which indices are known to be inside; others are clamped. May be
  /// null.
  std::function<bool(unsigned dim, const Halide::Expr &index)> isInside =
      nullptr;
};

class ExprEmitter {
public:
  explicit ExprEmitter(HalfFloats halves = {}) : halves(halves) {}

  void bind(mlir::Value value, Halide::Expr expr) {
    scalars[value] = std::move(expr);
  }
  void bindTensor(mlir::Value value, TensorSource source) {
    tensors[value] = std::move(source);
  }
  void bindTensor(mlir::Value value, const Halide::ImageParam &param);

  /// The expression of a scalar; its defining operations are emitted as needed.
  mlir::FailureOr<Halide::Expr> get(mlir::Value value);

  /// The tensor bound to `value`, or null.
  const TensorSource *getTensor(mlir::Value value) const;

  /// Emits a single-block region: leading block arguments are `args`, trailing
  /// ones stand for `captures` (values known to this emitter). Returns what
  /// attn.yield or linalg.yield yields.
  mlir::FailureOr<llvm::SmallVector<Halide::Expr>>
  emitRegion(mlir::Region &region, llvm::ArrayRef<Halide::Expr> args,
             mlir::ValueRange captures);

  /// An element with every index clamped into the tensor, so that an index
  /// that no defined result depends on reads nothing outside it.
  static Halide::Expr loadClamped(const TensorSource &source,
                                  llvm::ArrayRef<Halide::Expr> indices);

  /// How numbers of 16 bits are converted.
  HalfFloats halves;

private:
  mlir::LogicalResult emit(mlir::Operation *op);
  mlir::FailureOr<Halide::Expr> emitIndex(mlir::Operation *op);
  mlir::FailureOr<Halide::Expr> emitInteger(mlir::Operation *op);
  mlir::FailureOr<Halide::Expr> emitCast(mlir::Operation *op);
  mlir::FailureOr<Halide::Expr> emitFloat(mlir::Operation *op);
  mlir::FailureOr<Halide::Expr> emitTensor(mlir::Operation *op);
  /// An operand as the number that it is computed with.
  Halide::Expr operand(mlir::Operation *op, unsigned number) const;

  llvm::DenseMap<mlir::Value, Halide::Expr> scalars;
  llvm::DenseMap<mlir::Value, TensorSource> tensors;
};

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_EXPREMITTER_H
