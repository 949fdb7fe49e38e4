//===- MatrixLinear.cpp - a linear layer with a matrix unit ---------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// y[m, n] = epilogue(sum_k x[m, k] w[n, k]) of bf16 numbers. The rows of x are
// the columns of the unit's product and come in pairs of channels; the weights
// are its rows and need no packing. Every row is summed in the same order,
// alone or in a batch. One form serves any number of rows: with a few, reading
// the weights is what takes time.
//
//===----------------------------------------------------------------------===//
#include "../MatrixCalls.h"
#include "Linear.h"

#include "attn/Analysis/TargetInfo.h"

using namespace mlir;
using namespace attn;
using Halide::Expr;
using Halide::Func;

/// Verifies what the calls promise to the run-time.
static LogicalResult check(FusedLinearOp op, KernelOp kernel,
                           MatrixLinearScheduleAttr schedule,
                           const TargetInfo &target) {
  if (!target.hasMatrixUnit())
    return kernel.emitOpError("expected a target with a matrix unit for "
                              "#attn.matrix_linear_schedule, got ")
           << target.name << ": choose #attn.linear_schedule";
  RankedTensorType weight = op.getWeight().getType();
  if (weight.getRank() != 2 || !weight.hasStaticShape() ||
      !weight.getElementType().isBF16() ||
      !op.getInput().getType().getElementType().isBF16())
    return op.emitOpError("expected input and weight of bf16 and a weight (N, "
                          "K) of static shape for "
                          "#attn.matrix_linear_schedule, got ")
           << op.getInput().getType() << " and " << weight;
  int64_t outputs = weight.getDimSize(0), inputs = weight.getDimSize(1);
  if (inputs % matrixRows || schedule.getNb() % matrixRows ||
      schedule.getMb() % matrixRows || outputs % schedule.getNb())
    return op.emitOpError("expected K, nb and mb to be multiples of ")
           << matrixRows << " and nb to divide N, got K = " << inputs
           << ", N = " << outputs << " and " << schedule;
  return success();
}

FailureOr<HalideKernel> attn::emitMatrixLinear(FusedLinearOp op,
                                               KernelOp kernel,
                                               const TargetInfo &target) {
  auto schedule = cast<MatrixLinearScheduleAttr>(kernel.getScheduleAttr());
  if (failed(check(op, kernel, schedule, target)))
    return failure();
  ExprEmitter values{HalfFloats(target)};
  FailureOr<LinearOperands> operands = bindLinearOperands(op, kernel, values);
  if (failed(operands))
    return failure();
  Halide::ImageParam input = operands->input, weight = operands->weight;

  MatrixLinearAlgorithm algorithm;
  LinearAlgorithm &layer = algorithm.layer;
  algorithm.nb = static_cast<int>(schedule.getNb());
  algorithm.mb = static_cast<int>(schedule.getMb());
  layer.rows = input.dim(1).extent();
  LinearShape &shape = layer.shape;
  shape.columns = static_cast<int>(op.getResult().getType().getDimSize(1));
  shape.inner = static_cast<int>(op.getWeight().getType().getDimSize(1));
  shape.vector = static_cast<int>(schedule.getVector());
  shape.mr = matrixRows;

  Halide::Var t = algorithm.block, p = algorithm.group;
  Expr first = min(t * matrixRows, layer.rows - 1);
  algorithm.pairs = Func("pairs");
  algorithm.pairs(algorithm.row, algorithm.pair, t) = Halide::undef<uint32_t>();
  algorithm.pairs(0, 0, t) =
      matrixCall(Halide::UInt(32), "queries",
                 {input(0, first), matrixStride(input(0, 0), input(0, 1)),
                  Halide::clamp(layer.rows - t * matrixRows, 0, matrixRows),
                  matrixRows, shape.inner, 1.0f});
  algorithm.product = Func("product");
  algorithm.product(algorithm.column, algorithm.row, p, t) =
      Halide::undef<float>();
  algorithm.product(0, 0, p, t) = matrixCall(
      Halide::Float(32), "product",
      {algorithm.pairs(0, 0, t), weight(0, p * algorithm.nb),
       matrixStride(weight(0, 0), weight(0, 1)), algorithm.nb, shape.inner});

  Expr n = layer.n, m = layer.m;
  promiseColumns(values, op.getCaptures(), n, shape.columns);
  Expr sum = algorithm.product(n % algorithm.nb, m % matrixRows,
                               n / algorithm.nb, m / matrixRows);
  FailureOr<Expr> result = emitEpilogue(op, values, shape, sum, m, n);
  if (failed(result))
    return failure();
  layer.row = Func("row");
  // Rows that a norm reads stay f32.
  layer.row(layer.n, layer.m) =
      op.getGamma() ? *result
                    : values.halves.narrow(
                          *result, op.getResult().getType().getElementType());
  layer.output = layer.row;
  if (op.getGamma())
    emitNorm(layer, values, op);
  describeOutput(layer.output.output_buffer(), op.getResult().getType());
  scheduleMatrixLinearCpu(algorithm, target);
  HalideKernel kernelOfLayer;
  kernelOfLayer.pipeline = Halide::Pipeline(layer.output);
  kernelOfLayer.args = operands->args;
  attachMatrixCalls(kernelOfLayer.pipeline);
  return kernelOfLayer;
}
