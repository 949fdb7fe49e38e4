//===- FlashMatrix.cpp - products of the matrix unit ----------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The form of tiled attention on a CPU that multiplies tiles of bf16. Three
// functions of a key tile are computed by the run-time (lib/Runtime/Matrix.c):
// scores, weights and mix. What lies between and around them is as in the other
// forms.
//
//     query    queries in pairs of channels, once a query tile
//     values   all values transposed, once a kernel: a copy as large as V
//     scores   products of keys, as they lie in memory, and queries
//     packed   weights in pairs of keys, and behind them their sums
//     mix      products of transposed values and weights
//
// Queries are not scaled, they would have to be rounded again. Where no rule
// needs the scores as they are, their factor goes into the exponent: only the
// sign of the scale is given to the queries, so that maxima stay maxima.
//
//===----------------------------------------------------------------------===//
#include "../MatrixCalls.h"
#include "FlashBuilder.h"

#include "attn/Analysis/ScheduleModel.h"

using namespace mlir;
using namespace attn;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

/// Keys and channels come in steps of so many.
static constexpr int depth = static_cast<int>(matrixSide);

static int wholeSteps(int64_t size) {
  return static_cast<int>(llvm::alignTo(size, depth));
}

LogicalResult FlashBuilder::buildMatrixQuery() {
  for (FlashLoop &loop : nest.loops)
    if (!(loop.exp.getScale().convertToFloat() > 0.0f))
      return loop.exp.emitOpError("expected a scale above 0 with "
                                  "#attn.matrix_schedule (because the greatest "
                                  "score has the greatest weight), got another "
                                  "number");
  FailureOr<Expr> rows = values.get(nest.query.getRows());
  FailureOr<Expr> scale = values.get(nest.loops.front().scores.getScale());
  if (failed(rows) || failed(scale))
    return failure();
  Expr sign = 1.0f;
  out.scoreFactor = Halide::cast<float>(*scale);
  if (folded) {
    sign = Halide::select(out.scoreFactor > 0.0f, 1.0f, out.scoreFactor < 0.0f,
                          -1.0f, 0.0f);
    out.scoreFactor = Halide::select(out.scoreFactor == 0.0f, 1.0f,
                                     Halide::abs(out.scoreFactor)) *
                      foldedScale;
  }
  FailureOr<Expr> first =
      loadStored(nest.query, values, 0, 0, /*clampRow=*/false);
  FailureOr<Expr> second =
      loadStored(nest.query, values, 1, 0, /*clampRow=*/false);
  if (failed(first) || failed(second))
    return failure();
  out.query = Func("query");
  out.query(vars({out.q, out.d})) = Halide::undef<uint32_t>();
  out.query(at({0, 0})) = matrixCall(Halide::UInt(32), "queries",
                                     {*first, matrixStride(*first, *second),
                                      *rows, static_cast<int>(out.rows),
                                      static_cast<int>(out.headSize), sign});
  return success();
}

LogicalResult FlashBuilder::buildTransposedValues() {
  TileLoadOp load = nest.loops.front().value;
  const TensorSource *source = values.getTensor(load.getTensor());
  if (!source)
    return load.emitOpError("not supported by the Halide target: the tensor is "
                            "not an argument of the kernel");
  unsigned rowDim = load.getDims()[0], columnDim = load.getDims()[1];
  Expr keys = source->sizes[rowDim];
  // The last key tile may begin at the last key. An odd number of cache lines,
  // so that channels do not share few sets of the cache.
  int64_t most = 0;
  for (FlashLoop &loop : nest.loops)
    most = std::max(most, loop.keys());
  Expr blocks = (keys + static_cast<int>(most) - 1) / depth + 1;
  out.valueKeys = (blocks | 1) * depth;

  MatrixValues &copy = out.transposed;
  RDom block(0, blocks, "valueBlock");
  copy.block = block.x;
  std::vector<Expr> elements;
  std::vector<Var> pure{copy.key, copy.channel};
  for (int row : {0, 1}) {
    SmallVector<Expr> indices(source->sizes.size(), Expr(0));
    for (unsigned dim = 0; dim < indices.size(); ++dim) {
      if (dim == rowDim)
        indices[dim] = block * depth + row;
      else if (dim != columnDim) {
        if (row == 0) {
          copy.outer.emplace_back("v" + std::to_string(dim));
          copy.outerDims.push_back(dim);
          copy.outerSizes.push_back(source->sizes[dim]);
          pure.push_back(copy.outer.back());
        }
        indices[dim] = copy.outer[llvm::find(copy.outerDims, dim) -
                                  copy.outerDims.begin()];
      }
    }
    elements.push_back(source->load(indices));
  }
  auto place = [&](const Expr &key, const Expr &channel) {
    std::vector<Expr> args{key, channel};
    args.insert(args.end(), copy.outer.begin(), copy.outer.end());
    return args;
  };
  copy.func = Func("values");
  copy.func(pure) = Halide::undef<uint16_t>();
  copy.func(place(block * depth, 0)) =
      matrixCall(Halide::UInt(16), "values",
                 {matrixStride(copy.func(place(0, 0)), copy.func(place(0, 1))),
                  elements[0], matrixStride(elements[0], elements[1]),
                  Halide::clamp(keys - block * depth, 0, depth),
                  static_cast<int>(out.valueSize)});
  return success();
}

LogicalResult FlashBuilder::buildMatrixScores(FlashStage &stage,
                                              ExprEmitter &inside) {
  FailureOr<Expr> first =
      loadStored(stage.loop.key, inside, 0, 0, /*clampRow=*/false);
  FailureOr<Expr> second =
      loadStored(stage.loop.key, inside, 1, 0, /*clampRow=*/false);
  FailureOr<Expr> rows = validKeys(stage, inside);
  if (failed(first) || failed(second) || failed(rows))
    return failure();
  Expr after = Halide::reinterpret<int32_t>(zeroAfterTests(stage));
  std::string suffix = std::to_string(stage.update);
  stage.scores = Func("scores" + suffix);
  stage.scores(vars({out.q, out.kk, out.t})) = Halide::undef<float>();
  stage.scores(at({0, 0, out.t})) = matrixCall(
      Halide::Float(32), "scores",
      {out.query(at({0, 0})), *first, matrixStride(*first, *second),
       *rows + after, static_cast<int>(out.rows), static_cast<int>(stage.keys),
       static_cast<int>(out.headSize)});
  return success();
}

void FlashBuilder::buildMatrixWeights(FlashStage &stage, ExprEmitter &inside) {
  std::string suffix = std::to_string(stage.update);
  stage.tileMax = reduceKeys(stage, inside, /*isMaximum=*/true);
  Expr maximum = stage.tileMax(at({out.q, out.t}));
  // In units of the exponent. A tile without a visible key stays at the lowest
  // number.
  Expr factor = folded ? out.scoreFactor
                       : Expr(stage.loop.exp.getScale().convertToFloat());
  // Strict: Halide would divide the lowest number by the factor.
  Expr exponent = Halide::strict_float(
      Halide::max(Halide::strict_float(maximum * factor), lowest));
  stage.exponent = Func("exponent" + suffix);
  stage.exponent(vars({out.q, out.t})) =
      folded ? Halide::ceil(exponent) : exponent;
  stage.offset = Func("offset" + suffix);
  stage.offset(vars({out.q, out.t})) =
      folded ? Expr(stage.exponent(at({out.q, out.t}))) : maximum;

  int pairs = static_cast<int>(stage.keys) / 2;
  stage.packed = Func("packed" + suffix);
  stage.packed(vars({out.q, out.kk, out.t})) = Halide::undef<uint32_t>();
  stage.packed(at({0, 0, out.t})) = matrixCall(
      Halide::UInt(32), "weights",
      {stage.visible(at({0, 0, out.t})), stage.exponent(at({0, out.t})), factor,
       static_cast<int>(out.rows), static_cast<int>(stage.keys)});
  Expr pair = stage.packed(at({out.q, out.kk / 2, out.t}));
  Expr bits =
      Halide::select(out.kk % 2 == 0, pair << 16, pair & Expr(0xffff0000u));
  stage.weights = Func("weights" + suffix);
  stage.weights(vars({out.q, out.kk, out.t})) =
      Halide::reinterpret<float>(bits);
  stage.tileSum = Func("tileSum" + suffix);
  stage.tileSum(vars({out.q, out.t})) =
      Halide::reinterpret<float>(stage.packed(at({out.q, pairs, out.t})));
}

/// The mix of a tile, of all channels: block dg of it is what the update of X
/// asks for.
LogicalResult FlashBuilder::buildMatrixMix(FlashStage &stage,
                                           ExprEmitter &inside) {
  TileLoadOp load = stage.loop.value;
  std::vector<Expr> place, next;
  unsigned rowDim = load.getDims()[0];
  for (int channel : {0, 1}) {
    std::vector<Expr> &args = channel ? next : place;
    FailureOr<Expr> key = inside.get(load.getIndices()[rowDim]);
    if (failed(key))
      return failure();
    args = {*key, channel};
    for (unsigned dim : out.transposed.outerDims) {
      FailureOr<Expr> index = inside.get(load.getIndices()[dim]);
      if (failed(index))
        return failure();
      args.push_back(*index);
    }
  }
  FailureOr<Expr> rows = validKeys(stage, inside);
  if (failed(rows))
    return failure();
  Expr first = out.transposed.func(place);
  std::string suffix = std::to_string(stage.update);
  int columns = static_cast<int>(out.columns);
  stage.product = Func("product" + suffix);
  stage.product(vars({out.q, out.d, out.t})) = Halide::undef<float>();
  stage.product(at({0, 0, out.t})) =
      matrixCall(Halide::Float(32), "mix",
                 {stage.packed(at({0, 0, out.t})), first,
                  matrixStride(first, out.transposed.func(next)), *rows,
                  static_cast<int>(out.rows), wholeSteps(out.valueSize)});
  stage.mix = Func("mix" + suffix);
  // The block in front of the first one holds no channels and asks for none.
  stage.mix(vars({out.q, out.di, out.dg, out.t})) = stage.product(
      at({out.q, Halide::max(out.dg, 0) * columns + out.di, out.t}));
  return success();
}
