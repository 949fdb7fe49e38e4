//===- DimClasses.cpp - sizes that operations force to be equal *- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One case an operation says which of its dimensions must be equal. What has
// no case states nothing: a size that depends on it stays without a name.
//
//===----------------------------------------------------------------------===//

#include "DimClasses.h"
#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// The union-find
//===----------------------------------------------------------------------===//

unsigned DimClasses::node(Value value, unsigned dim) {
  auto [it, inserted] = nodes.try_emplace({value, dim}, parents.size());
  if (inserted) {
    parents.push_back(parents.size());
    infos.emplace_back();
    int64_t size = cast<RankedTensorType>(value.getType()).getDimSize(dim);
    if (!ShapedType::isDynamic(size))
      infos.back().size = size;
  }
  return it->second;
}

unsigned DimClasses::find(unsigned node) {
  while (parents[node] != node)
    node = parents[node] = parents[parents[node]];
  return node;
}

bool DimClasses::areEqual(Value a, unsigned i, Value b, unsigned j) {
  return find(node(a, i)) == find(node(b, j));
}

DimClasses::Info &DimClasses::info(Value value, unsigned dim) {
  return infos[find(node(value, dim))];
}

LogicalResult DimClasses::name(Value value, unsigned dim, StringRef name,
                               const Twine &where, Operation *op) {
  Info &known = info(value, dim);
  if (known.name.empty())
    known.name = name.str();
  if (known.name == name) {
    // Sizes of one name are equal, whatever operations say.
    auto [it, inserted] = named.try_emplace(name, node(value, dim));
    if (!inserted)
      merge(it->second, node(value, dim));
    return success();
  }
  return op->emitError() << "expected dimension " << dim << " of " << where
                         << " to be called '" << known.name
                         << "' (because the operations of the function force "
                            "the two sizes to be equal), got '"
                         << name << "'";
}

void DimClasses::equal(Operation *op, Value a, unsigned i, Value b,
                       unsigned j) {
  unsigned x = node(a, i), y = node(b, j);
  const Info &kept = infos[find(x)], &merged = infos[find(y)];
  if (!kept.name.empty() && !merged.name.empty() && kept.name != merged.name) {
    op->emitError() << "expected sizes '" << kept.name << "' and '"
                    << merged.name
                    << "' to have one name (because this operation forces them "
                       "to be equal), got two: use one name in attn.dims";
    conflict = true;
    return;
  }
  merge(x, y);
}

void DimClasses::merge(unsigned x, unsigned y) {
  x = find(x);
  y = find(y);
  if (x == y)
    return;
  if (y < x) // The older one stays: arguments come first.
    std::swap(x, y);
  parents[y] = x;
  Info &kept = infos[x];
  const Info &merged = infos[y];
  if (kept.name.empty())
    kept.name = merged.name;
  if (!kept.size)
    kept.size = merged.size;
  if (merged.limit < kept.limit) {
    kept.limit = merged.limit;
    kept.limitedBy = merged.limitedBy;
  }
}

//===----------------------------------------------------------------------===//
// Kinds of constraints
//===----------------------------------------------------------------------===//

static int64_t rankOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}

void DimClasses::equalLeading(Operation *op, Value a, Value b, unsigned count) {
  for (unsigned dim = 0; dim < count; ++dim)
    equal(op, a, dim, b, dim);
}

void DimClasses::equalShapes(Operation *op, Value a, Value b) {
  equalLeading(op, a, b, std::min(rankOf(a), rankOf(b)));
}

void DimClasses::broadcast(Operation *op, Value operand, Value full,
                           bool shortLast) {
  auto type = cast<RankedTensorType>(operand.getType());
  int64_t skipped = rankOf(full) - type.getRank();
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (type.getDimSize(dim) == 1 || dim + skipped < 0)
      continue;
    // Sizes of different names, and those of a mask that ends early, meet
    // without being equal.
    Info own = info(operand, dim), met = info(full, dim + skipped);
    bool differ =
        (own.size && met.size && own.size != met.size) ||
        (!own.name.empty() && !met.name.empty() && own.name != met.name);
    bool isLast = dim + 1 == type.getRank();
    differ |= shortLast && isLast && own.size && !met.size;
    if (!differ)
      equal(op, operand, dim, full, dim + skipped);
  }
}

void DimClasses::equalSize(Operation *op, Value value, unsigned dim,
                           OpFoldResult size) {
  auto computed = dyn_cast<Value>(size);
  if (!computed)
    return;
  if (auto other = computed.getDefiningOp<tensor::DimOp>()) {
    std::optional<int64_t> index = other.getConstantIndex();
    if (index && isa<RankedTensorType>(other.getSource().getType()) &&
        *index < rankOf(other.getSource()))
      equal(op, value, dim, other.getSource(), *index);
  } else if (auto named = computed.getDefiningOp<DimSizeOp>()) {
    conflict |=
        failed(name(value, dim, named.getDim(),
                    "the result of " + op->getName().getStringRef(), op));
  }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult DimClasses::unify(func::FuncOp func) {
  func.walk([&](Operation *op) { visit(op); });
  return failure(conflict);
}

void DimClasses::limit(Info &info, int64_t limit, Operation *op) {
  if (limit >= info.limit)
    return;
  info.limit = limit;
  info.limitedBy = op;
}

/// A slice of a dimension with a number of elements cannot be longer than that.
void DimClasses::limitSlice(tensor::ExtractSliceOp op, unsigned source,
                            unsigned result) {
  int64_t size = op.getSourceType().getDimSize(source);
  std::optional<int64_t> offset =
      getConstantIntValue(op.getMixedOffsets()[source]);
  std::optional<int64_t> stride =
      getConstantIntValue(op.getMixedStrides()[source]);
  if (!ShapedType::isDynamic(size) && offset && stride == 1 &&
      op.getType().isDynamicDim(result))
    limit(info(op.getResult(), result), size - *offset, op);
}

void DimClasses::visitLinalg(Operation *op) {
  auto linalgOp = cast<linalg::LinalgOp>(op);
  // The first tensor dimension that runs over each loop.
  SmallVector<std::pair<Value, unsigned>> seen(linalgOp.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        continue;
      auto &first = seen[loop.getPosition()];
      if (first.first)
        equal(op, first.first, first.second, operand.get(), dim);
      else
        first = {operand.get(), static_cast<unsigned>(dim)};
    }
  }
}

void DimClasses::visit(Operation *op) {
  TypeSwitch<Operation *>(op)
      .Case([&](LinearOp o) {
        equalLeading(op, o.getInput(), o.getResult(),
                     rankOf(o.getResult()) - 1);
      })
      .Case([&](SplitHeadsOp o) {
        bool isFirst = o.getLayout() == Layout::SBHD;
        equal(op, o.getInput(), isFirst, o.getResult(),
              batchDim(o.getLayout()));
        equal(op, o.getInput(), !isFirst, o.getResult(),
              sequenceDim(o.getLayout()));
      })
      .Case([&](MergeHeadsOp o) {
        bool isFirst = o.getLayout() == Layout::SBHD;
        equal(op, o.getInput(), batchDim(o.getLayout()), o.getResult(),
              isFirst);
        equal(op, o.getInput(), sequenceDim(o.getLayout()), o.getResult(),
              !isFirst);
      })
      .Case<ScoresOp, AdditiveScoresOp>([&](auto o) {
        unsigned batch = batchDim(o.getLayout());
        unsigned sequence = sequenceDim(o.getLayout());
        equal(op, o.getQuery(), batch, o.getKey(), batch);
        equal(op, o.getQuery(), batch, o.getResult(), 0);
        equal(op, o.getQuery(), sequence, o.getResult(), 2);
        equal(op, o.getKey(), sequence, o.getResult(), 3);
        if constexpr (std::is_same_v<decltype(o), ScoresOp>)
          if (o.getOffsets())
            equal(op, o.getQuery(), batch, o.getOffsets(), 0);
      })
      .Case([&](MaskOp o) {
        equalShapes(op, o.getScores(), o.getResult());
        for (auto [input, value] :
             llvm::zip(getMaskInputs(o.getRule()), o.getInputs())) {
          if (input.letters.empty())
            broadcast(op, value, o.getScores(), /*shortLast=*/true);
          for (auto [dim, letter] : llvm::enumerate(input.letters))
            equal(op, value, dim, o.getScores(),
                  llvm::StringSwitch<unsigned>(letter)
                      .Case("B", 0)
                      .Case("N", 2)
                      .Case("M", 3));
        }
      })
      .Case([&](SoftcapOp o) { equalShapes(op, o.getScores(), o.getResult()); })
      .Case<AlibiOp, T5BiasOp>([&](auto o) {
        equalShapes(op, o.getScores(), o.getResult());
        if (o.getOffsets())
          equal(op, o.getScores(), 0, o.getOffsets(), 0);
      })
      .Case([&](BiasOp o) {
        equalShapes(op, o.getScores(), o.getResult());
        broadcast(op, o.getBias(), o.getScores());
      })
      .Case([&](SoftmaxOp o) {
        equalShapes(op, o.getInput(), o.getResult());
        if (o.getLse())
          equalLeading(op, o.getInput(), o.getLse(), rankOf(o.getLse()));
      })
      .Case([&](MixOp o) {
        unsigned batch = batchDim(o.getLayout());
        unsigned sequence = sequenceDim(o.getLayout());
        equal(op, o.getWeights(), 0, o.getValue(), batch);
        equal(op, o.getWeights(), 3, o.getValue(), sequence);
        equal(op, o.getWeights(), 0, o.getResult(), batch);
        equal(op, o.getWeights(), 2, o.getResult(), sequence);
        if (o.getOffsets())
          equal(op, o.getWeights(), 0, o.getOffsets(), 0);
      })
      .Case([&](AttentionOp o) {
        unsigned batch = batchDim(o.getLayout());
        unsigned sequence = sequenceDim(o.getLayout());
        equal(op, o.getQuery(), batch, o.getKey(), batch);
        equal(op, o.getQuery(), batch, o.getValue(), batch);
        equal(op, o.getKey(), sequence, o.getValue(), sequence);
        unsigned parts = o.getChunk() ? 1 : 0;
        equal(op, o.getQuery(), batch, o.getResult(), parts + batch);
        equal(op, o.getQuery(), sequence, o.getResult(), parts + sequence);
        if (o.getLse()) {
          equal(op, o.getQuery(), batch, o.getLse(), parts);
          equal(op, o.getQuery(), sequence, o.getLse(), parts + 2);
        }
      })
      .Case([&](RotaryOp o) {
        equalShapes(op, o.getInput(), o.getResult());
        equalShapes(op, o.getCos(), o.getSin());
        // The dimension S of the tables, or of the positions.
        Value rows = o.getPositions() ? Value(o.getPositions()) : o.getCos();
        bool hasBatch = o.getPositions() || rankOf(rows) == 3;
        equal(op, o.getInput(), sequenceDim(o.getLayout()), rows, hasBatch);
        if (hasBatch &&
            cast<RankedTensorType>(rows.getType()).getDimSize(0) != 1)
          equal(op, o.getInput(), batchDim(o.getLayout()), rows, 0);
      })
      .Case([&](CacheAppendOp o) {
        equalShapes(op, o.getCache(), o.getResult());
        unsigned batch = batchDim(o.getLayout());
        equal(op, o.getCache(), batch, o.getUpdate(), batch);
        equal(op, o.getCache(), batch, o.getLength(), 0);
      })
      .Case([&](MergeAttentionOp o) {
        equalShapes(op, o.getFirst(), o.getResult());
        equalShapes(op, o.getFirst(), o.getSecond());
        equalShapes(op, o.getFirstLse(), o.getLse());
        equalShapes(op, o.getFirstLse(), o.getSecondLse());
        equal(op, o.getFirst(), batchDim(o.getLayout()), o.getLse(), 0);
        equal(op, o.getFirst(), sequenceDim(o.getLayout()), o.getLse(), 2);
      })
      .Case([&](FusedLinearOp o) {
        equal(op, o.getInput(), 0, o.getResult(), 0);
      })
      .Case([&](EmbeddingOp o) {
        equalLeading(op, o.getIds(), o.getResult(), rankOf(o.getIds()));
      })
      .Case([&](LearnedPositionsOp o) {
        equalShapes(op, o.getInput(), o.getResult());
        int64_t rows =
            cast<RankedTensorType>(o.getTable().getType()).getDimSize(0);
        Info &sequence = info(o.getInput(), 1);
        if (!ShapedType::isDynamic(rows))
          limit(sequence, rows - static_cast<int64_t>(o.getFirst()), op);
      })
      .Case([&](PoolOp o) {
        equal(op, o.getInput(), 0, o.getResult(), 0);
        if (o.getMask())
          equalLeading(op, o.getInput(), o.getMask(), 2);
      })
      .Case<LayerNormOp, RmsNormOp, SinusoidalOp, L2NormalizeOp>(
          [&](auto o) { equalShapes(op, o.getInput(), o.getResult()); })
      .Case([&](tensor::CastOp o) {
        if (isa<RankedTensorType>(o.getSource().getType()) &&
            isa<RankedTensorType>(o.getType()))
          equalShapes(op, o.getSource(), o.getResult());
      })
      .Case([&](tensor::EmptyOp o) {
        for (auto [dim, size] : llvm::enumerate(o.getMixedSizes()))
          equalSize(op, o.getResult(), dim, size);
      })
      .Case([&](tensor::ExtractSliceOp o) {
        llvm::SmallBitVector dropped = o.getDroppedDims();
        unsigned dim = 0;
        for (auto [i, size] : llvm::enumerate(o.getMixedSizes())) {
          if (dropped.test(i))
            continue;
          equalSize(op, o.getResult(), dim, size);
          limitSlice(o, i, dim++);
        }
      })
      .Case([&](scf::ForOp o) {
        for (OpResult result : o.getResults())
          if (isa<RankedTensorType>(result.getType()))
            equalShapes(op, o.getTiedLoopInit(result)->get(), result);
      })
      .Case([&](tensor::ExpandShapeOp o) {
        for (auto [i, group] : llvm::enumerate(o.getReassociationIndices()))
          if (group.size() == 1)
            equal(op, o.getSrc(), i, o.getResult(), group.front());
        for (auto [dim, size] : llvm::enumerate(o.getMixedOutputShape()))
          equalSize(op, o.getResult(), dim, size);
      })
      .Case([&](tensor::CollapseShapeOp o) {
        for (auto [i, group] : llvm::enumerate(o.getReassociationIndices()))
          if (group.size() == 1)
            equal(op, o.getSrc(), group.front(), o.getResult(), i);
      })
      .Default([&](Operation *) {
        if (isa<linalg::LinalgOp>(op)) {
          visitLinalg(op);
        } else if (op->hasTrait<OpTrait::Elementwise>()) {
          Value first;
          for (Value value :
               llvm::concat<Value>(SmallVector<Value>(op->getOperands()),
                                   SmallVector<Value>(op->getResults()))) {
            if (!isa<RankedTensorType>(value.getType()))
              continue;
            if (first)
              equalShapes(op, first, value);
            else
              first = value;
          }
        }
      });
  // What a destination-passing operation writes has its destination's size.
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
    for (OpResult result : op->getResults())
      if (isa<RankedTensorType>(result.getType()))
        equalShapes(op, dps.getTiedOpOperand(result)->get(), result);
}
