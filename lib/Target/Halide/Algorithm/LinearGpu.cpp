//===- LinearGpu.cpp - attn.fused_linear on a device -----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Rows past the last one exist only inside a tile: they read the last row
// again, and are not stored. Nor are columns past the last one, which are zero
// in the last panel. What is past the end of K is zero in both tiles, so that
// infinity in a row adds nothing there.
//
//===----------------------------------------------------------------------===//
#include "LinearGpu.h"

#include "../Barriers.h"
#include "../ThreadPrivate.h"

#include "attn/Analysis/TargetInfo.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;
using Halide::Expr;
using Halide::Func;

/// The blocks of a kernel, or an error about its types or its schedule.
static FailureOr<GpuLinearBlocks> getBlocks(FusedLinearOp op, KernelOp kernel) {
  if (failed(checkLinearElements(op)))
    return failure();
  auto schedule =
      dyn_cast_or_null<GpuLinearScheduleAttr>(kernel.getScheduleAttr());
  if (!schedule)
    return kernel.emitOpError(
        "expected a schedule #attn.gpu_linear_schedule (because the thread "
        "blocks of attn.fused_linear are read from it), got none: run "
        "attn-schedule");
  GpuLinearBlocks blocks{schedule.getX(), schedule.getY(), schedule.getMr(),
                         schedule.getNr(), schedule.getKc()};
  RankedTensorType weight = op.getWeight().getType();
  if (weight.getRank() != 3 || !weight.hasStaticShape())
    return op.emitOpError("expected a weight of packed panels (P, K, panel) of "
                          "static shape (because a block of threads reads "
                          "whole panels), got ")
           << weight << ": run attn-schedule, which inserts attn.pack";
  if (weight.getDimSize(2) != blocks.panel())
    return op.emitOpError("expected panels of x * nr = ")
           << blocks.panel()
           << " columns (because the kernel's schedule says so), got "
           << weight.getDimSize(2);
  return blocks;
}

/// The sums, and the tiles of the operands that each step reads.
static void emitSums(LinearGpuAlgorithm &algorithm, int inner,
                     llvm::function_ref<Expr(Expr k, Expr row)> input,
                     llvm::function_ref<Expr(Expr j, Expr k, Expr p)> weight) {
  const GpuLinearBlocks &blocks = algorithm.blocks;
  auto kc = static_cast<int>(blocks.kc), nr = static_cast<int>(blocks.nr);
  Expr k = algorithm.kStep * kc + algorithm.inner;
  auto inside = [&](const Expr &value) {
    return inner % kc ? select(k < inner, value, 0.0f) : value;
  };
  Expr readable = inner % kc ? min(k, inner - 1) : k;
  algorithm.inputTile = Func("input_tile");
  algorithm.inputTile(algorithm.inner, algorithm.row, algorithm.kStep,
                      algorithm.tile) =
      inside(input(readable,
                   algorithm.tile * algorithm.tileRows() + algorithm.row));
  algorithm.weightTile = Func("weight_tile");
  algorithm.weightTile(algorithm.column, algorithm.inner, algorithm.kStep,
                       algorithm.panel) =
      inside(weight(algorithm.column, readable, algorithm.panel));

  Halide::RDom r(0, kc, 0, static_cast<int>(llvm::divideCeil(inner, kc)), "r");
  algorithm.k = r.x;
  algorithm.step = r.y;
  Halide::Var i = algorithm.i, x = algorithm.x, j = algorithm.j,
              p = algorithm.panel, b = algorithm.tile;
  Func sums("sums");
  sums(i, x, j, p, b) = 0.0f;
  sums(i, x, j, p, b) += algorithm.inputTile(r.x, i, r.y, b) *
                         algorithm.weightTile(x * nr + j, r.x, r.y, p);
  algorithm.sums = sums;
}

FailureOr<HalideKernel> attn::emitLinearGpu(FusedLinearOp op, KernelOp kernel,
                                            const TargetInfo &target) {
  FailureOr<GpuLinearBlocks> blocks = getBlocks(op, kernel);
  if (failed(blocks))
    return failure();
  ExprEmitter values{HalfFloats(target)};
  FailureOr<LinearOperands> operands = bindLinearOperands(op, kernel, values);
  if (failed(operands))
    return failure();
  Halide::ImageParam input = operands->input, weight = operands->weight;

  LinearGpuAlgorithm algorithm;
  algorithm.blocks = *blocks;
  LinearAlgorithm &layer = algorithm.layer;
  layer.rows = input.dim(1).extent();
  layer.shape.columns =
      static_cast<int>(op.getResult().getType().getDimSize(1));
  layer.shape.inner = static_cast<int>(op.getWeight().getType().getDimSize(1));
  layer.shape.vector = 1;
  auto panel = static_cast<int>(blocks->panel());
  weight.dim(1).set_stride(panel);
  weight.dim(2).set_stride(
      static_cast<int>(int64_t(panel) * layer.shape.inner));
  const HalfFloats &halves = values.halves;
  emitSums(
      algorithm, layer.shape.inner,
      [&](const Expr &k, const Expr &row) {
        return halves.widen(input(k, min(row, layer.rows - 1)),
                            op.getInput().getType().getElementType());
      },
      [&](const Expr &j, const Expr &k, const Expr &p) {
        return halves.widen(weight(j, k, p),
                            op.getWeight().getType().getElementType());
      });

  Expr n = layer.n, m = layer.m;
  promiseColumns(values, op.getCaptures(), n, layer.shape.columns);
  auto nr = static_cast<int>(blocks->nr), mr = static_cast<int>(blocks->mr);
  int tileRows = algorithm.tileRows();
  Expr column = n % panel;
  Expr sum = 0.0f;
  if (layer.shape.inner > 0)
    sum = algorithm.sums(m % tileRows, column / nr, column % nr, n / panel,
                         m / tileRows);
  FailureOr<Expr> result = emitEpilogue(op, values, layer.shape, sum, m, n);
  if (failed(result))
    return failure();
  layer.row = Func("row");
  // Rows that a norm reads stay f32.
  layer.row(layer.n, layer.m) =
      op.getGamma()
          ? *result
          : halves.narrow(*result, op.getResult().getType().getElementType());
  layer.output = layer.row;
  if (op.getGamma()) {
    layer.shape.vector = static_cast<int>(chooseGpuRowThreads(target));
    layer.form = RowReductionForm::Threads;
    emitNorm(layer, values, op);
  }
  describeOutput(layer.output.output_buffer(), op.getResult().getType());
  scheduleLinearGpu(algorithm);
  HalideKernel resultKernel;
  resultKernel.pipeline = Halide::Pipeline(layer.output);
  if (layer.shape.inner > 0) {
    makeThreadPrivate(resultKernel.pipeline, algorithm.sums,
                      {tileRows, static_cast<int>(blocks->x), mr});
    joinStores(resultKernel.pipeline, algorithm.inputTile,
               algorithm.weightTile);
  }
  resultKernel.args = operands->args;
  return resultKernel;
}
