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

void DimClasses::broadcast(Operation *op, Value operand, Value full) {
  auto type = cast<RankedTensorType>(operand.getType());
  int64_t skipped = rankOf(full) - type.getRank();
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.getDimSize(dim) != 1 && dim + skipped >= 0)
      equal(op, operand, dim, full, dim + skipped);
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
        equal(op, o.getInput(), 0, o.getResult(), 0);
        equal(op, o.getInput(), 1, o.getResult(), sequenceDim(o.getLayout()));
      })
      .Case([&](MergeHeadsOp o) {
        equal(op, o.getInput(), 0, o.getResult(), 0);
        equal(op, o.getInput(), sequenceDim(o.getLayout()), o.getResult(), 1);
      })
      .Case([&](ScoresOp o) {
        unsigned sequence = sequenceDim(o.getLayout());
        equal(op, o.getQuery(), 0, o.getKey(), 0);
        equal(op, o.getQuery(), 0, o.getResult(), 0);
        equal(op, o.getQuery(), sequence, o.getResult(), 2);
        equal(op, o.getKey(), sequence, o.getResult(), 3);
      })
      .Case([&](MaskOp o) {
        equalShapes(op, o.getScores(), o.getResult());
        if (!o.getOperand())
          return;
        if (isa<DenseMaskAttr>(o.getRule()))
          return broadcast(op, o.getOperand(), o.getScores());
        equal(op, o.getOperand(), 0, o.getScores(), 0);
        if (isa<KeyPaddingAttr>(o.getRule()))
          equal(op, o.getOperand(), 1, o.getScores(), 3);
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
        unsigned sequence = sequenceDim(o.getLayout());
        equal(op, o.getWeights(), 0, o.getValue(), 0);
        equal(op, o.getWeights(), 3, o.getValue(), sequence);
        equal(op, o.getWeights(), 0, o.getResult(), 0);
        equal(op, o.getWeights(), 2, o.getResult(), sequence);
      })
      .Case([&](AttentionOp o) {
        unsigned sequence = sequenceDim(o.getLayout());
        equal(op, o.getQuery(), 0, o.getKey(), 0);
        equal(op, o.getQuery(), 0, o.getValue(), 0);
        equal(op, o.getKey(), sequence, o.getValue(), sequence);
        equal(op, o.getQuery(), 0, o.getResult(), 0);
        equal(op, o.getQuery(), sequence, o.getResult(), sequence);
        if (o.getLse()) {
          equal(op, o.getQuery(), 0, o.getLse(), 0);
          equal(op, o.getQuery(), sequence, o.getLse(), 2);
        }
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
        int64_t limit = rows - static_cast<int64_t>(o.getFirst());
        if (!ShapedType::isDynamic(rows) && limit < sequence.limit) {
          sequence.limit = limit;
          sequence.limitedBy = op;
        }
      })
      .Case([&](PoolOp o) {
        equal(op, o.getInput(), 0, o.getResult(), 0);
        if (o.getMask())
          equalLeading(op, o.getInput(), o.getMask(), 2);
      })
      .Case<LayerNormOp, SinusoidalOp, L2NormalizeOp>(
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
        for (auto [i, size] : llvm::enumerate(o.getMixedSizes()))
          if (!dropped.test(i))
            equalSize(op, o.getResult(), dim++, size);
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
