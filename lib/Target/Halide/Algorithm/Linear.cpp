//===- Linear.cpp - attn.fused_linear as Halide functions ------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Row and column indices past the edge exist only inside a register tile: rows
// read the last row again, panels the last panel, and neither is stored.
//
//===----------------------------------------------------------------------===//
#include "Linear.h"
#include "../ExprEmitter.h"
#include "../Math.h"
#include "LinearGpu.h"

#include "attn/Analysis/ScheduleModel.h"
#include "attn/Analysis/TargetInfo.h"

using namespace mlir;
using namespace attn;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

LogicalResult attn::checkLinearElements(FusedLinearOp op) {
  for (Type type : {op.getWeight().getType().getElementType(),
                    op.getInput().getType().getElementType(),
                    op.getResult().getType().getElementType()})
    if (!type.isF32() && !isHalfFloat(type))
      return op.emitOpError("not supported by the Halide target: expected "
                            "input, weight and result of f32, f16 or bf16, "
                            "got element type ")
             << type;
  return success();
}

FailureOr<LinearShape> attn::getLinearShape(FusedLinearOp op, KernelOp kernel,
                                            const TargetInfo &target) {
  auto type = cast<RankedTensorType>(op.getWeight().getType());
  auto resultType = cast<RankedTensorType>(op.getResult().getType());
  if (failed(checkLinearElements(op)))
    return failure();
  auto schedule =
      dyn_cast_or_null<LinearScheduleAttr>(kernel.getScheduleAttr());
  if (!schedule)
    return kernel.emitOpError(
        "expected a schedule #attn.linear_schedule (because the register tile "
        "of attn.fused_linear is read from it), got none: run attn-schedule");
  if (type.getRank() != 3 || !type.hasStaticShape())
    return op.emitOpError("expected a weight of packed panels (P, K, panel) of "
                          "static shape (because whole vectors of columns are "
                          "read), got ")
           << type << ": run attn-schedule, which inserts attn.pack";
  LinearShape shape;
  shape.columns = static_cast<int>(resultType.getDimSize(1));
  shape.panels = static_cast<int>(type.getDimSize(0));
  shape.inner = static_cast<int>(type.getDimSize(1));
  shape.nr = static_cast<int>(type.getDimSize(2));
  shape.vector = static_cast<int>(schedule.getVector());
  shape.mr = static_cast<int>(schedule.getMr());
  shape.rowBlock = static_cast<int>(schedule.getMb());
  if (schedule.getNr() != shape.nr)
    return op.emitOpError("expected panels of nr = ")
           << schedule.getNr()
           << " columns (because the kernel's schedule says so), got "
           << shape.nr;
  if (shape.nr % shape.vector != 0)
    return kernel.emitOpError("expected nr to be a multiple of vector (because "
                              "a panel is whole vectors), got ")
           << schedule;
  auto block = static_cast<int>(schedule.getKc());
  shape.block = block > 0 && block < shape.inner ? block : shape.inner;
  // Two steps hide the loop's own instructions. Where product and sum are two
  // instructions, the products of a second step would not fit in registers.
  shape.unroll = target.fusedMultiplyAdd ? 2 : 1;
  shape.blocks = shape.block ? shape.inner / shape.block : 1;
  shape.rest = shape.block ? shape.inner % shape.block : 0;
  return shape;
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

Expr LinearProduct::at(const LinearShape &shape, const Expr &row,
                       const Expr &column) const {
  Expr inPanel = column % shape.nr, panel = column / shape.nr;
  return shape.isBlocked() ? blocks(inPanel, row, panel)
                           : tile(inPanel, row, panel, 0);
}

/// Iterations below which a loop may vanish.
static constexpr int kShortLoop = 8;

/// The start of a sum of row `m`, which belongs to a row tile.
using StartOfRow = llvm::function_ref<Expr(const Expr &m)>;

/// Both forms multiply and add in this order: block after block of K, in a
/// block by rising k. `x(k, row)` reads the input, `w(j, k, panel)` the weight.
template <typename Input, typename Weight>
static LinearProduct emitProduct(const LinearShape &shape, StringRef name,
                                 Input x, Weight w, StartOfRow start,
                                 bool fused) {
  LinearProduct product;
  Halide::Var j = product.j, m = product.m, p = product.p, t = product.t;
  product.tile = Func(name.str());
  // A product and a sum become one instruction only without strict order. Where
  // there is no such instruction, order is free; and a loop so short that LLVM
  // may take it apart has no chain that would keep the order.
  auto accumulate = [&](const Expr &sum, const Expr &value, int depth) {
    return fused && depth > kShortLoop ? sum + value : addInOrder(sum, value);
  };
  RDom k(0, shape.block, name.str() + "_k");
  product.tileK = k.x;
  Expr inner = t * shape.block + k;
  product.tile(j, m, p, t) = start(m);
  product.tile(j, m, p, t) = accumulate(
      product.tile(j, m, p, t), w(j, inner, p) * x(inner, m), shape.block);
  if (!shape.isBlocked())
    return product;
  product.blocks = Func(name.str() + "_blocks");
  RDom block(0, shape.blocks, name.str() + "_block");
  product.blockT = block.x;
  product.blocks(j, m, p) = 0.0f;
  product.blocks(j, m, p) =
      addInOrder(product.blocks(j, m, p), product.tile(j, m, p, block));
  if (shape.rest) {
    product.rest = Func(name.str() + "_rest");
    RDom tail(shape.blocks * shape.block, shape.rest, name.str() + "_tail");
    product.restK = tail.x;
    product.rest(j, m, p) = start(m);
    product.rest(j, m, p) = accumulate(product.rest(j, m, p),
                                       w(j, tail, p) * x(tail, m), shape.rest);
    product.blocks(j, m, p) =
        addInOrder(product.blocks(j, m, p), product.rest(j, m, p));
  }
  return product;
}

//===----------------------------------------------------------------------===//
// Epilogue and norm
//===----------------------------------------------------------------------===//

FailureOr<Expr> attn::emitEpilogue(FusedLinearOp op, ExprEmitter &values,
                                   const LinearShape &shape, const Expr &acc,
                                   const Expr &m, const Expr &n) {
  if (op.getEpilogue().empty())
    return acc;
  FailureOr<SmallVector<Expr>> results =
      values.emitRegion(op.getEpilogue(), {acc, m, n}, op.getCaptures());
  if (failed(results))
    return failure();
  // Of a vector that is stored in part LLVM may compute the stored lanes alone,
  // and forgets then that it may fuse products and sums. Where there are such
  // vectors, nothing is fused.
  Expr result = results->front();
  return shape.columns % shape.vector ? Halide::strict_float(result) : result;
}

void attn::promiseColumns(ExprEmitter &values, ValueRange tensors,
                          const Expr &n, int64_t columns) {
  for (Value tensor : tensors) {
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    const TensorSource *known = values.getTensor(tensor);
    if (!type || !known)
      continue;
    TensorSource source = *known;
    source.isInside = [=](unsigned dim, const Expr &index) {
      return type.getDimSize(dim) == columns && index.same_as(n);
    };
    values.bindTensor(tensor, source);
  }
}

/// A layer norm takes two passes: the mean first, then the squares of the
/// differences. An RMS norm takes the squares of the rows as they are.
void attn::emitNorm(LinearAlgorithm &algorithm, const ExprEmitter &values,
                    FusedLinearOp op) {
  double epsilon = op.getEpsilonAttr().getValueAsDouble();
  Halide::Var n = algorithm.n, m = algorithm.m;
  Func row = algorithm.row;
  int columns = algorithm.shape.columns, vector = algorithm.shape.vector;
  float scale = 1.0f / static_cast<float>(columns);
  // Threads compute no rows past the last one.
  Expr inside = algorithm.form == RowReductionForm::Threads
                    ? Expr(m)
                    : min(m, algorithm.rows - 1);
  auto reduce = [&](const std::string &name, auto element) {
    algorithm.statistics.push_back(reduceRow(name, RowReductionKind::Sum, {m},
                                             columns, vector, element,
                                             algorithm.form));
    return algorithm.statistics.back().total;
  };
  Expr mean;
  if (op.getBeta())
    mean =
        reduce("sum", [&](const Expr &n) { return row(n, inside); })(m) * scale;
  auto centred = [&](const Expr &n, const Expr &m) {
    return mean.defined() ? subtractInOrder(row(n, m), mean) : Expr(row(n, m));
  };
  Func squares = reduce("squares", [&](const Expr &n) {
    Expr difference = centred(n, inside);
    return difference * difference;
  });
  algorithm.inverse = Func("inverse");
  algorithm.inverse(m) =
      1.0f / sqrt(squares(m) * scale + static_cast<float>(epsilon));
  algorithm.output = Func("output");
  auto load = [&](TypedValue<RankedTensorType> tensor) {
    return values.halves.widen(values.getTensor(tensor)->load({Expr(n)}),
                               tensor.getType().getElementType());
  };
  Expr normal = multiplyInOrder(centred(n, m), algorithm.inverse(m)) *
                load(op.getGamma());
  if (op.getBeta())
    normal += load(op.getBeta());
  algorithm.output(n, m) =
      values.halves.narrow(normal, op.getResult().getType().getElementType());
  algorithm.hasNorm = true;
}

FailureOr<LinearOperands> attn::bindLinearOperands(FusedLinearOp op,
                                                   KernelOp kernel,
                                                   ExprEmitter &values) {
  FailureOr<KernelArguments> arguments = bindKernelArguments(kernel, values);
  if (failed(arguments))
    return failure();
  auto find = [&](Value value) -> Halide::ImageParam {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != &kernel.getBody().front())
      return Halide::ImageParam();
    return arguments->tensors[argument.getArgNumber()];
  };
  LinearOperands operands{find(op.getInput()), find(op.getWeight()),
                          arguments->args};
  if (!operands.input.defined() || !operands.weight.defined())
    return op.emitOpError("expected input and weight to be arguments of the "
                          "kernel (because it reads them where they lie)");
  return operands;
}

FailureOr<HalideKernel> attn::emitLinear(FusedLinearOp op, KernelOp kernel,
                                         const TargetInfo &target) {
  if (target.isGpu())
    return emitLinearGpu(op, kernel, target);
  if (isa_and_nonnull<MatrixLinearScheduleAttr>(kernel.getScheduleAttr()))
    return emitMatrixLinear(op, kernel, target);
  FailureOr<LinearShape> shape = getLinearShape(op, kernel, target);
  if (failed(shape))
    return failure();
  ExprEmitter values{HalfFloats(target)};
  FailureOr<LinearOperands> operands = bindLinearOperands(op, kernel, values);
  if (failed(operands))
    return failure();
  Halide::ImageParam input = operands->input, weight = operands->weight;

  LinearAlgorithm algorithm;
  algorithm.shape = *shape;
  Expr rows = input.dim(1).extent();
  algorithm.rows = rows;
  // Packed panels are dense and start at a cache line (the weights file and the
  // workspace see to both).
  weight.dim(1).set_stride(shape->nr);
  weight.dim(2).set_stride(static_cast<int>(int64_t(shape->nr) * shape->inner));
  weight.set_host_alignment(64);
  const HalfFloats &halves = values.halves;
  auto x = [&](const Expr &k, const Expr &m) {
    return halves.widen(input(k, min(m, rows - 1)),
                        op.getInput().getType().getElementType());
  };
  auto w = [&](const Expr &j, const Expr &k, const Expr &p) {
    return halves.widen(weight(j, k, p),
                        op.getWeight().getType().getElementType());
  };
  auto isUsed = [&](const Expr &m) { return ShortTiles::mark(0.0f, rows - m); };
  algorithm.tiles =
      emitProduct(*shape, "tile", x, w, isUsed, target.fusedMultiplyAdd);
  algorithm.single = emitProduct(
      *shape, "single", x,
      [&](const Expr &j, const Expr &k, const Expr &p) {
        return w(j, k, min(p, shape->panels - 1));
      },
      [](const Expr &) { return Expr(0.0f); }, target.fusedMultiplyAdd);

  Expr n = algorithm.n, m = algorithm.m;
  promiseColumns(values, op.getCaptures(), n, shape->columns);
  FailureOr<Expr> single =
      emitEpilogue(op, values, *shape, algorithm.single.at(*shape, m, n), m, n);
  FailureOr<Expr> tiles =
      emitEpilogue(op, values, *shape, algorithm.tiles.at(*shape, m, n), m, n);
  if (failed(single) || failed(tiles))
    return failure();
  // A loop of one iteration or none is an `if` that Halide can schedule.
  RDom ifSingle(0, select(rows == 1, 1, 0), "if_single");
  RDom ifTiles(0, select(rows == 1, 0, 1), "if_tiles");
  algorithm.ifSingle = ifSingle.x;
  algorithm.ifTiles = ifTiles.x;
  algorithm.row = Func("row");
  // Rows that a norm reads stay f32.
  auto stored = [&](const Expr &number) {
    return op.getGamma()
               ? number
               : halves.narrow(number,
                               op.getResult().getType().getElementType());
  };
  Expr first = stored(*single), second = stored(*tiles);
  Expr zero = Halide::Internal::make_zero(first.type());
  algorithm.row(algorithm.n, algorithm.m) = Halide::undef(first.type());
  algorithm.row(algorithm.n, algorithm.m) = select(ifSingle == 0, first, zero);
  algorithm.row(algorithm.n, algorithm.m) = select(ifTiles == 0, second, zero);
  algorithm.output = algorithm.row;
  if (op.getGamma())
    emitNorm(algorithm, values, op);

  describeOutput(algorithm.output.output_buffer(),
                 cast<RankedTensorType>(op.getResult().getType()));
  scheduleLinearCpu(algorithm, target);
  HalideKernel result;
  result.pipeline = Halide::Pipeline(algorithm.output);
  algorithm.shortTiles.attach(result.pipeline);
  result.args = operands->args;
  return result;
}
