//===- LinearGpu.h - a linear layer on a device ----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// y[m, n] = epilogue(sum_k x[m, k] w[n, k]), then perhaps a norm of each row. A
// block of threads computes a tile of rows of one panel of columns, each thread
// mr rows and nr columns. All sums run over rising k, for any number of rows.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_ALGORITHM_LINEARGPU_H
#define ATTN_LIB_TARGET_HALIDE_ALGORITHM_LINEARGPU_H

#include "Linear.h"
#include "attn/Analysis/GpuModel.h"

namespace attn {

struct LinearGpuAlgorithm {
  LinearAlgorithm layer; ///< `row`, `output` and what a norm needs.
  GpuLinearBlocks blocks;

  /// sums(i, x, j, p, b): row of the tile, the thread of a column, which of its
  /// columns, panel, tile of rows. Each thread has its own (ThreadPrivate.h).
  Halide::Func sums;
  Halide::Var i{"i"}, x{"tx"}, j{"j"}, panel{"p"}, tile{"b"};
  /// A step and all steps of K.
  Halide::RVar k, step;

  /// What a step reads: x (k, row of tile, step, tile), weight (column of
  /// panel, k, step, panel). Zero past the end of K.
  Halide::Func inputTile, weightTile;
  Halide::Var inner{"k"}, row{"i"}, column{"j"}, kStep{"t"};

  int tileRows() const { return static_cast<int>(blocks.y * blocks.mr); }
};

mlir::FailureOr<HalideKernel> emitLinearGpu(FusedLinearOp op, KernelOp kernel,
                                            const TargetInfo &target);

/// Schedule/LinearGpu.cpp.
void scheduleLinearGpu(LinearGpuAlgorithm &algorithm);

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_ALGORITHM_LINEARGPU_H
