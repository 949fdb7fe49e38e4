//===- AttnVerifiers.cpp - checks of the operations -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "attn/Dialect/IR/Attn.h"

using namespace mlir;
using namespace attn;

LogicalResult AttentionOp::verify() { return success(); }
LogicalResult BiasOp::verify() { return success(); }
LogicalResult DimOp::verify() { return success(); }
LogicalResult EmbeddingOp::verify() { return success(); }
LogicalResult FusedLinearOp::verify() { return success(); }
LogicalResult KernelOp::verify() { return success(); }
LogicalResult L2NormalizeOp::verify() { return success(); }
LogicalResult LayerNormOp::verify() { return success(); }
LogicalResult LearnedPositionsOp::verify() { return success(); }
LogicalResult LinearOp::verify() { return success(); }
LogicalResult MaskOp::verify() { return success(); }
LogicalResult MergeHeadsOp::verify() { return success(); }
LogicalResult MixOp::verify() { return success(); }
LogicalResult PackOp::verify() { return success(); }
LogicalResult PoolOp::verify() { return success(); }
LogicalResult ScoresOp::verify() { return success(); }
LogicalResult SinusoidalOp::verify() { return success(); }
LogicalResult SoftmaxOp::verify() { return success(); }
LogicalResult SplitHeadsOp::verify() { return success(); }
LogicalResult TileExpOp::verify() { return success(); }
LogicalResult TileFinishOp::verify() { return success(); }
LogicalResult TileLoadOp::verify() { return success(); }
LogicalResult TileMaskOp::verify() { return success(); }
LogicalResult TileMaxOp::verify() { return success(); }
LogicalResult TileMixOp::verify() { return success(); }
LogicalResult TileScoreOp::verify() { return success(); }
LogicalResult TileScoresOp::verify() { return success(); }
LogicalResult TileSumOp::verify() { return success(); }
LogicalResult WeightOp::verify() { return success(); }
LogicalResult AttentionOp::verifyRegions() { return success(); }
LogicalResult FusedLinearOp::verifyRegions() { return success(); }

LogicalResult
WeightRefOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto weight =
      symbolTable.lookupNearestSymbolFrom<WeightOp>(*this, getWeightAttr());
  if (!weight)
    return emitOpError() << "expected the name of an attn.weight, got "
                         << getWeightAttr();
  if (weight.getType() != getResult().getType())
    return emitOpError() << "expected a result of type " << weight.getType()
                         << " (because " << getWeightAttr()
                         << " has that type), got " << getResult().getType();
  return success();
}

LogicalResult DimSizeOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  if (symbolTable.lookupNearestSymbolFrom<DimOp>(*this, getDimAttr()))
    return success();
  return emitOpError() << "expected the name of an attn.dim, got "
                       << getDimAttr();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto kernel =
      symbolTable.lookupNearestSymbolFrom<KernelOp>(*this, getCalleeAttr());
  if (!kernel)
    return emitOpError() << "expected the name of an attn.kernel, got "
                         << getCalleeAttr();
  return success();
}
