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

#include "../PrivateSums.h"
#include "Linear.h"
#include "attn/Analysis/GpuModel.h"

namespace attn {

struct LinearGpuAlgorithm {
  LinearAlgorithm layer; ///< `row`, `output` and what a norm needs.
  GpuLinearBlocks blocks;

  /// sums(j, i, x, y, p, b): column and row of a thread, the thread, panel,
  /// tile of rows.
  Halide::Func sums;
  Halide::Var j{"j"}, i{"i"}, x{"tx"}, y{"ty"}, panel{"p"}, tile{"b"};
  /// A step and all steps of K.
  Halide::RVar k, step;
  PrivateSums registers;

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
