//===- Linear.h - the algorithm of a linear layer --------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// y[m, n] = epilogue(sum_k x[m, k] w[n, k]), then perhaps a layer norm of each
// row. The sum exists in two forms that add in the same order, so that a row
// gives the same bits alone and in a batch: register tiles of mr rows, and one
// row across several panels. Which one runs depends on the number of rows,
// which is known only at run time: the output has one update for each, and the
// other's loop is empty.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_ALGORITHM_LINEAR_H
#define ATTN_LIB_TARGET_HALIDE_ALGORITHM_LINEAR_H

#include "../ExprEmitter.h"
#include "../ShortTiles.h"
#include "RowReduction.h"
#include "attn/Analysis/ScheduleModel.h"

namespace attn {

/// Sizes that are known when a kernel is compiled.
struct LinearShape {
  int columns; // N
  int inner;   // K
  int panels;  // ceil(N / nr)
  int vector, mr, nr;
  /// K is summed in `blocks` blocks of `block`, then a rest of `rest`. One
  /// block without rest: no blocking.
  int block, blocks, rest;
  /// Rows of a cache block, at most.
  int rowBlock;
  /// Steps of k in an iteration of the innermost loop.
  int unroll;

  bool isBlocked() const { return blocks > 1 || rest > 0; }
};

/// One form of the product.
struct LinearProduct {
  Halide::Var j{"j"}, m{"m"}, p{"p"}, t{"t"}; // column of panel, row, panel
  /// tile(j, m, p, t): the sum over block t of K.
  Halide::Func tile;
  Halide::RVar tileK;
  /// Blocked only. blocks(j, m, p): the sum of all tiles and of `rest`, the
  /// tile over what remains of K.
  Halide::Func blocks, rest;
  Halide::RVar blockT, restK;
  /// The product at a row and column.
  Halide::Expr at(const LinearShape &shape, const Halide::Expr &row,
                  const Halide::Expr &column) const;
};

struct LinearAlgorithm {
  LinearShape shape;
  Halide::Expr rows; // M
  LinearProduct tiles, single;
  /// The product with its epilogue, (n, m): update 0 for one row, update 1 for
  /// tiles of mr rows, each under a loop of one iteration or none.
  Halide::Func row;
  Halide::RVar ifSingle, ifTiles;
  /// Rows that the last row tile does not have.
  ShortTiles shortTiles;
  /// `row`, or its norm.
  Halide::Func output;
  Halide::Var n{"n"}, m{"m"};
  /// With a norm only.
  bool hasNorm = false;
  RowReductionForm form = RowReductionForm::Vectors;
  std::vector<RowReduction> statistics;
  Halide::Func inverse;
  Halide::Expr blocksAreTasks; ///< Whether row blocks are what threads share.
};

/// Reports input, weight or result of other elements than the target has.
mlir::LogicalResult checkLinearElements(FusedLinearOp op);

/// The shape of a kernel, or an error about its types or its schedule.
mlir::FailureOr<LinearShape> getLinearShape(FusedLinearOp op, KernelOp kernel,
                                            const TargetInfo &target);

/// The arguments of a kernel, and which of them are input and weight.
struct LinearOperands {
  Halide::ImageParam input, weight;
  std::vector<Halide::Argument> args;
};

/// Binds the kernel's arguments in `values`. Input and weight must be among
/// them.
mlir::FailureOr<LinearOperands>
bindLinearOperands(FusedLinearOp op, KernelOp kernel, ExprEmitter &values);

/// The epilogue region over (acc, m, n). Columns are always inside [0, N), so
/// that a read at column n of a tensor of N columns needs no clamp: a clamp
/// would turn a vector load into a gather.
mlir::FailureOr<Halide::Expr>
emitEpilogue(FusedLinearOp op, ExprEmitter &values, const LinearShape &shape,
             const Halide::Expr &acc, const Halide::Expr &m,
             const Halide::Expr &n);

/// Declares that index `n` is inside dimensions of `columns` elements.
void promiseColumns(ExprEmitter &values, mlir::ValueRange tensors,
                    const Halide::Expr &n, int64_t columns);

/// output(n, m) = (row - mean) / sqrt(variance + epsilon) * gamma + beta;
/// without beta, row / sqrt(mean of squares + epsilon) * gamma.
void emitNorm(LinearAlgorithm &algorithm, const ExprEmitter &values,
              FusedLinearOp op);

/// Schedule/LinearCpu.cpp.
void scheduleLinearCpu(LinearAlgorithm &algorithm, const TargetInfo &target);

/// Splits the rows of the output into blocks of `blockRows` and normalizes each
/// when it is computed. Returns the loop over blocks.
Halide::Var scheduleNorm(LinearAlgorithm &algorithm,
                         const Halide::Expr &blockRows);

/// Schedule/RowwiseGpu.cpp: a launch of its own, with a block of threads a row.
void scheduleNormGpu(LinearAlgorithm &algorithm);

/// Rows of a block: `rows` in equal parts of at most about `limit`, a multiple
/// of mr, never 0 (it is a divisor).
Halide::Expr balancedBlock(const Halide::Expr &rows, int limit, int mr);

//===----------------------------------------------------------------------===//
// With a matrix unit
//===----------------------------------------------------------------------===//

/// A layer of bf16 numbers whose product is one form, for any number of rows:
/// weights as they lie in memory times the rows in pairs of channels, 32 rows
/// at a time (MatrixLinear.cpp).
struct MatrixLinearAlgorithm {
  LinearAlgorithm layer; ///< `row`, `output` and what a norm needs.
  int nb, mb;           ///< Columns of a product, rows that are paired at once.
  Halide::Func pairs;   ///< (row of block, pair, block)
  Halide::Func product; ///< (column, row of block, group of columns, block)
  Halide::Var row{"i"}, pair{"pair"}, block{"t"}, column{"j"}, group{"p"};
};

/// Rows of a product.
inline constexpr int matrixRows = static_cast<int>(matrixSide);

mlir::FailureOr<HalideKernel>
emitMatrixLinear(FusedLinearOp op, KernelOp kernel, const TargetInfo &target);

/// Schedule/MatrixLinearCpu.cpp.
void scheduleMatrixLinearCpu(MatrixLinearAlgorithm &algorithm,
                             const TargetInfo &target);

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_ALGORITHM_LINEAR_H
