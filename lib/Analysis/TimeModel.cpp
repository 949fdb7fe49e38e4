//===- TimeModel.cpp - how long a kernel should take -----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Products take the cycles of RegisterTile, what is element-wise those of
// Slots.h.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/TimeModel.h"

#include "SizeReader.h"
#include "Slots.h"

#include "attn/Analysis/AttentionSizes.h"
#include "attn/Analysis/ScheduleModel.h"
#include "attn/Analysis/TileMap.h"
#include "attn/Analysis/Tuning.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Cycles of a step of a matrix unit (lib/Runtime/Matrix.c): four products of
/// 16 cycles, whose 4 KiB of operands come from the second-level cache at 48
/// bytes a cycle.
static constexpr double matrixDepth = matrixSide, matrixCycles = 85;

namespace {

/// Adds up the cycles of one call.
class Cycles {
public:
  Cycles(const TimeModel &model, const SizeReader &sizes)
      : model(model), target(model.target), sizes(sizes) {}

  /// None if a size is not known.
  std::optional<double> count(KernelOp kernel);

private:
  std::optional<SmallVector<double>> shape(Value tensor) const;
  std::optional<double> countOp(Operation &op);
  std::optional<double> countLinear(FusedLinearOp op);
  std::optional<double> countAttention(AttentionOp op);
  std::optional<double> countGeneric(linalg::GenericOp op);
  double decodeCycles(const AttentionTiles &tiles, double channels,
                      double valueChannels) const;
  /// Cycles of that many slots for each of so many elements.
  double elementwise(double elements, double slots) const {
    return elements / double(target.f32Lanes()) * slots * slotsFactor(target) /
           double(target.fmaPorts);
  }

  const TimeModel &model;
  const TargetInfo &target;
  const SizeReader &sizes;
};

} // namespace

std::optional<SmallVector<double>> Cycles::shape(Value tensor) const {
  Shape shape = sizes.shape(tensor);
  if (!shape)
    return std::nullopt;
  SmallVector<double> result;
  for (const SizePolynomial &size : *shape) {
    std::optional<double> value = size.evaluate(model.dims);
    if (!value || *value < 0)
      return std::nullopt;
    result.push_back(*value);
  }
  return result;
}

static double productOf(ArrayRef<double> sizes) {
  double product = 1;
  for (double size : sizes)
    product *= size;
  return product;
}

std::optional<double> Cycles::countLinear(FusedLinearOp op) {
  auto input = shape(op.getInput());
  if (!input)
    return std::nullopt;
  double rows = (*input)[0], inputs = (*input)[1];
  auto outputs = double(op.getResult().getType().getDimSize(1));
  if (getMatrixBlocks(op, target)) {
    double results = rows * outputs;
    double products = std::ceil(rows / matrixDepth) * (outputs / matrixDepth) *
                      (inputs / matrixDepth);
    // Sums are transposed, then go through the epilogue.
    return products * matrixCycles +
           elementwise(results, transposeSlots + slotsOf(op.getEpilogue()) +
                                    (op.getGamma() ? normSlots : 0));
  }
  LinearBlocks blocks =
      getLinearBlocks(op, target, int64_t(inputs), int64_t(outputs));
  RegisterTile tile{blocks.nr / target.f32Lanes(), blocks.mr};
  double panels = std::ceil(outputs / double(blocks.nr));
  double cycles;
  if (rows == 1) {
    // Each multiply-add loads its weights, two loads a cycle.
    cycles = panels * double(tile.vectors) * inputs *
             std::max(0.5, 1 / double(target.fmaPorts));
  } else {
    // The last tile has the rows that are left.
    int64_t whole = int64_t(rows) / tile.scalars;
    cycles = double(whole) * tile.cycles(target);
    if (int64_t left = int64_t(rows) % tile.scalars)
      cycles += RegisterTile{tile.vectors, left}.cycles(target);
    cycles *= panels * inputs;
  }
  double results = rows * outputs;
  cycles += elementwise(results, slotsOf(op.getEpilogue()));
  // Each further block of K loads and stores the sums.
  if (blocks.kc)
    cycles +=
        elementwise(results, 2 * std::ceil(inputs / double(blocks.kc)) - 1);
  if (op.getGamma())
    cycles += elementwise(results, normSlots);
  return cycles;
}

namespace {
/// What the query tiles of a head visit: tiles of keys, and the keys in them,
/// of which `masked` are in tiles that have a mask.
struct Visits {
  double queryTiles = 0, tiles = 0, keys = 0, masked = 0;
};
} // namespace

static Visits countVisits(AttentionOp op, double queries, double keys,
                          const AttentionTiles &tiles) {
  TileGrid grid;
  grid.queries = int64_t(queries);
  grid.keys = int64_t(keys);
  grid.queryTile = tiles.queries;
  grid.keyTile = tiles.keys;
  auto rows = double(grid.queryTiles());
  Visits all{rows, rows * double(grid.keyTiles()), rows * keys, 0};
  KeyRangesAttr ranges = op.getKeyRangesAttr();
  if (op.getMask().empty())
    return all;
  all.masked = all.keys;
  if (!ranges)
    return all;
  grid.leaves.assign(ranges.getNumSymbols() - 2, std::nullopt);
  // What nobody would wait for. A proof for leaves takes long as well.
  if (all.tiles > (grid.leaves.empty() ? 1 << 20 : 1 << 12))
    return all;
  Visits visits;
  visits.queryTiles = rows;
  std::vector<int64_t> visited;
  for (int64_t query = 0; query < grid.queries; query += grid.queryTile)
    for (auto [number, tile] :
         llvm::enumerate(classifyTiles(ranges, grid, query, &visited))) {
      if (tile == TileClass::Skipped)
        continue;
      ++visits.tiles;
      visits.keys += double(visited[number]);
      if (tile != TileClass::Full)
        visits.masked += double(visited[number]);
    }
  return visits;
}

/// Of a key where channels are lanes: a load and a multiply-add for each vector
/// of channels and each query, a sum over the lanes, and the weight.
double Cycles::decodeCycles(const AttentionTiles &tiles, double channels,
                            double valueChannels) const {
  auto queries = double(tiles.queries);
  double vectors = std::ceil(channels / double(target.f32Lanes())) +
                   std::ceil(valueChannels / double(target.f32Lanes()));
  double multiplyAdds = queries * vectors / double(target.fmaPorts) *
                        (target.fusedMultiplyAdd ? 1 : 2);
  return std::max(multiplyAdds, vectors / 2) +
         elementwise(queries, softmaxSlots) +
         queries * std::log2(double(target.f32Lanes()));
}

std::optional<double> Cycles::countAttention(AttentionOp op) {
  auto query = shape(op.getQuery()), key = shape(op.getKey());
  auto value = shape(op.getValue());
  if (!query || !key || !value)
    return std::nullopt;
  Layout layout = op.getLayout();
  double heads = (*query)[batchDim(layout)] * (*query)[headDim(layout)];
  double queries = (*query)[sequenceDim(layout)];
  double keys = (*key)[sequenceDim(layout)];
  double channels = query->back(), valueChannels = value->back();
  AttentionTiles tiles = getAttentionTiles(op, target);
  Visits visits = countVisits(op, queries, keys, tiles);
  if (tiles.isDecode)
    return heads * visits.keys * decodeCycles(tiles, channels, valueChannels) +
           heads * visits.masked *
               elementwise(double(tiles.queries), slotsOf(op.getMask()) + 2);
  int64_t vectors = tiles.queries / target.f32Lanes();
  RegisterTile scores{vectors, tiles.keyUnroll};
  RegisterTile output{vectors, tiles.valueUnroll};
  // Of a key: scores and the mix of values in register tiles, and what its
  // scores pass through between.
  auto rows = double(tiles.queries);
  double blocks = std::ceil(valueChannels / double(tiles.valueUnroll));
  double products = tiles.isMatrix ? matrixCycles * (channels + valueChannels) /
                                         matrixDepth / matrixDepth
                                   : channels * scores.cycles(target) /
                                             double(tiles.keyUnroll) +
                                         blocks * output.cycles(target);
  // The last tile of a head has the vectors of queries that it needs.
  if (!tiles.isMatrix && visits.queryTiles > 0) {
    double used =
        double(llvm::alignTo(uint64_t(queries), uint64_t(target.f32Lanes()))) /
        visits.queryTiles;
    products *= used / rows;
    rows = used;
  }
  double ofKey =
      products + elementwise(rows, softmaxSlots + slotsOf(op.getScore()) +
                                       channels * slotsOf(op.getCombine()) +
                                       valueChannels * slotsOf(op.getValues()));
  // A mask selects twice: scores, and weights against what is hidden.
  double ofMask = elementwise(rows, slotsOf(op.getMask()) + 2);
  // The accumulator is rescaled with each tile of keys.
  double ofTile = elementwise(rows * valueChannels, 3);
  double ofQueries =
      elementwise(rows * (channels + valueChannels), transposeSlots);
  return heads * (visits.queryTiles * ofQueries + visits.tiles * ofTile +
                  visits.keys * ofKey + visits.masked * ofMask);
}

std::optional<double> Cycles::countGeneric(linalg::GenericOp op) {
  double steps = 1;
  SmallVector<double> extents(op.getNumLoops(), 1);
  for (auto [map, operand] :
       llvm::zip_equal(op.getIndexingMapsArray(), op->getOperands())) {
    auto sizes = shape(operand);
    if (!sizes)
      return std::nullopt;
    for (auto [i, result] : llvm::enumerate(map.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(result))
        extents[loop.getPosition()] = (*sizes)[i];
  }
  steps = productOf(extents);
  return elementwise(steps, slotsOf(op.getRegion()));
}

std::optional<double> Cycles::countOp(Operation &op) {
  if (auto linear = dyn_cast<FusedLinearOp>(op))
    return countLinear(linear);
  if (auto attention = dyn_cast<AttentionOp>(op))
    return countAttention(attention);
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return countGeneric(generic);
  if (isa<scf::ForallOp>(op)) // Tiled loops.
    return std::nullopt;
  // A pool reads more than it writes.
  double elements = 0;
  auto add = [&](Value value) {
    if (!isa<RankedTensorType>(value.getType()))
      return true;
    auto sizes = shape(value);
    if (sizes)
      elements = std::max(elements, productOf(*sizes));
    return sizes.has_value();
  };
  for (Value result : op.getResults())
    if (!add(result))
      return std::nullopt;
  if (isa<PoolOp>(op) && !add(op.getOperand(0)))
    return std::nullopt;
  return elementwise(elements, slotsOf(op));
}

std::optional<double> Cycles::count(KernelOp kernel) {
  double cycles = 0;
  for (Operation &op : kernel.getBody().front()) {
    std::optional<double> more = countOp(op);
    if (!more)
      return std::nullopt;
    cycles += *more;
  }
  return cycles;
}

std::optional<double> TimeModel::seconds(const CallCost &call) const {
  std::optional<double> cycles = Cycles(*this, *call.sizes).count(call.kernel);
  if (!cycles || !call.bytes || !call.weightBytes)
    return std::nullopt;
  std::optional<double> bytes = call.bytes->evaluate(dims);
  std::optional<double> weightBytes = call.weightBytes->evaluate(dims);
  if (!bytes || !weightBytes)
    return std::nullopt;
  // Weights come from memory: a model is larger than a cache. What one kernel
  // leaves for the next does too, unless half of L2 holds it. A kernel reads
  // shortly before it computes, so that little of the one hides the other.
  double activations = *bytes - *weightBytes;
  double fromMemory =
      *weightBytes +
      (activations > double(target.l2Bytes) / 2 ? activations : 0);
  return *cycles / (machine.gigahertz(target) * 1e9) +
         fromMemory / (machine.gbytes * 1e9);
}

//===----------------------------------------------------------------------===//
// Scratch
//===----------------------------------------------------------------------===//

static std::optional<double>
evaluateRows(const CallCost &call, Value input,
             const llvm::StringMap<int64_t> &dims) {
  Shape shape = call.sizes->shape(input);
  return shape ? (*shape)[0].evaluate(dims) : std::nullopt;
}

/// Whether a tensor's elements must be converted for each use.
static bool isNarrow(Value tensor) {
  Type type = getElementTypeOrSelf(tensor.getType());
  return type.isF16() || type.isBF16();
}

std::optional<double> TimeModel::scratchBytes(const CallCost &call) const {
  double bytes = 0;
  bool isKnown = true;
  KernelOp(call.kernel).walk([&](Operation *op) {
    if (auto attention = dyn_cast<AttentionOp>(op)) {
      AttentionShape sizes = getAttentionShape(attention);
      bytes += double(attentionScratchBytes(
          getAttentionTiles(attention, target), sizes.headSize, sizes.valueSize,
          isNarrow(attention.getKey()) || isNarrow(attention.getValue())));
    } else if (auto linear = dyn_cast<FusedLinearOp>(op)) {
      int64_t inputs = linear.getInput().getType().getDimSize(1);
      int64_t outputs = linear.getResult().getType().getDimSize(1);
      LinearBlocks blocks = getLinearBlocks(linear, target, inputs, outputs);
      if (auto matrix = getMatrixBlocks(linear, target)) {
        // Sums of 32 rows.
        bytes += 4 * matrixDepth * double(matrix->nb);
        blocks = {int64_t(matrixDepth), matrix->nb, 0, matrix->mb};
      }
      std::optional<double> rows = evaluateRows(call, linear.getInput(), dims);
      isKnown &= rows.has_value();
      if (!rows)
        return;
      bytes +=
          double(linearScratchBytes(target, blocks, outputs, int64_t(*rows),
                                    linear.getGamma() != nullptr));
    }
  });
  return isKnown ? std::optional<double>(bytes) : std::nullopt;
}
