//===- Rowwise.h - groups of row-wise operations ---------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every tensor of the group is a function of its indices. Element-wise
// operations and gathers stay expressions; what a row needs first (a sum, a
// maximum, the row itself where it is expensive and used again) becomes a stage
// that the schedule computes for a few rows at a time. Each result of a kernel
// has stages of its own: they would otherwise have to outlive its loops.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_ALGORITHM_ROWWISE_H
#define ATTN_LIB_TARGET_HALIDE_ALGORITHM_ROWWISE_H

#include "../ExprEmitter.h"
#include "RowReduction.h"

namespace attn {

/// Something computed for a group of rows before the rows themselves.
struct RowStage {
  enum class Kind { Reduction, Scalar, Row, Pool } kind;
  Halide::Func func;      // Scalar: (rows...), Row and Pool: (n, rows...)
  RowReduction reduction; // Reduction
  Halide::RVar position;  // Pool: the summed dimension
  int storage = 0;        // Row: the most columns, where their number varies
};

/// Who computes rows.
struct RowPlan {
  /// Lanes of a vector, or threads of a block; rows in flight.
  int vector, group;
  RowReductionForm form = RowReductionForm::Vectors;
  /// Bytes of scratch that the rows in flight may take. Of a CPU, above 16 KiB
  /// Halide takes them from the context and not from the stack: once for each
  /// group of rows, with a lock that waits for the stores of the group before.
  int64_t rowBytes = 64 * 1024;

  bool isGpu() const { return form == RowReductionForm::Threads; }
};

/// One result of a row-wise kernel.
struct RowwiseAlgorithm {
  Halide::Func output;
  Halide::Var column{"n"};
  /// Innermost first.
  std::vector<Halide::Var> rows;
  bool hasColumns = true;
  /// In the order they depend on each other.
  std::vector<RowStage> stages;
  /// Chooses between two forms of the result, if there are two.
  Halide::Expr isNarrow;
  RowPlan plan;
};

/// Turns the operations of a kernel into stages and a result.
class RowwiseEmitter {
public:
  /// `stored`, if there is one, is the result `number` of the kernel.
  RowwiseEmitter(ExprEmitter &values, const RowPlan &plan,
                 mlir::Value stored = {}, int number = 0)
      : values(values), plan(plan), number(number), stored(stored) {}

  /// The tensor `value` as a function of its indices; 16-bit numbers as f32.
  mlir::FailureOr<TensorSource> get(mlir::Value value);

  std::vector<RowStage> takeStages() { return std::move(stages); }

  /// Whether rows are short enough to be kept, where their length varies and
  /// a form for either case is there; otherwise undefined.
  Halide::Expr narrowness() const { return isNarrow; }

private:
  TensorSource widened(const TensorSource &source, mlir::Value value) const;
  mlir::FailureOr<TensorSource> emit(mlir::OpResult value);
  mlir::FailureOr<TensorSource> emitElementwise(mlir::Operation *op);
  mlir::FailureOr<TensorSource> emitConstant(mlir::Operation *op);
  mlir::FailureOr<TensorSource> emitEmbedding(EmbeddingOp op);
  mlir::FailureOr<TensorSource> emitPositions(LearnedPositionsOp op);
  mlir::FailureOr<TensorSource> emitSinusoidal(SinusoidalOp op);
  mlir::FailureOr<TensorSource> emitLayerNorm(LayerNormOp op);
  mlir::FailureOr<TensorSource> emitRmsNorm(RmsNormOp op);
  mlir::FailureOr<TensorSource> emitL2Normalize(L2NormalizeOp op);
  mlir::FailureOr<TensorSource> emitSoftmax(SoftmaxOp op, bool wantsLse);
  mlir::FailureOr<TensorSource> emitPool(PoolOp op);

  /// A tensor whose elements are read several times: stored for the rows in
  /// flight if that costs something and fits.
  TensorSource keepRow(const TensorSource &source, mlir::Value value);
  /// A tensor whose rows in flight are stored. A size of the rows that varies
  /// is at most `columns`.
  TensorSource storeRow(const TensorSource &source, int columns);
  RowReduction reduce(RowReductionKind kind, const TensorSource &source,
                      std::function<Halide::Expr(Halide::Expr)> map);
  /// A value a row, computed once.
  Halide::Func scalar(const TensorSource &source, Halide::Expr value);

  ExprEmitter &values;
  RowPlan plan;
  int number, count = 0;
  mlir::Value stored;
  std::vector<RowStage> stages;
  llvm::DenseMap<mlir::Value, TensorSource> tensors;
  Halide::Expr isNarrow;
};

/// Variables for the leading dimensions of a tensor, innermost first.
std::vector<Halide::Var> rowVariables(size_t count);

/// An element-wise operation of tensors, applied to scalars.
mlir::FailureOr<Halide::Expr>
emitScalarOf(mlir::Operation *op, llvm::ArrayRef<Halide::Expr> operands);

/// Schedule/RowwiseCpu.cpp.
void scheduleRowwiseCpu(RowwiseAlgorithm &algorithm);

/// Schedule/RowwiseGpu.cpp.
void scheduleRowwiseGpu(RowwiseAlgorithm &algorithm);

/// The plan of a kernel's schedule, or of the target if it has none.
RowPlan getRowPlan(KernelOp kernel, const TargetInfo &target);

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_ALGORITHM_ROWWISE_H
