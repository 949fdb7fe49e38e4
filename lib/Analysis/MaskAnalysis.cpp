//===- MaskAnalysis.cpp - the keys that a tile of queries sees --*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "attn/Analysis/MaskAnalysis.h"
#include "KeyRanges.h"
#include "MaskFormula.h"
#include "TileSets.h"
#include "mlir/IR/IntegerSet.h"

using namespace mlir;
using namespace attn;

MaskSummary attn::analyzeMask(AttentionOp op) {
  MaskSummary summary;
  if (op.getMask().empty())
    return summary;
  MLIRContext *context = op.getContext();
  MaskReader reader(op);
  FormulaRef visible = reader.visible(), hidden = reader.hidden();
  summary.affineAtoms = reader.getNumAffineAtoms();
  summary.opaqueAtoms = reader.getNumOpaqueAtoms();

  unsigned numSymbols = 2 + reader.getLeaves().size();
  Prover prover(numSymbols, context);
  TileProjection visibleTiles = findTiles(*visible, prover, context);
  KeyRanges found =
      findKeyRanges(visibleTiles, findTiles(*hidden, prover, context),
                    numSymbols, prover, context);
  bool opaque = summary.opaqueAtoms != 0;
  summary.tooLarge = !visibleTiles.exact && !opaque;

  auto map = [&](ArrayRef<AffineExpr> bounds) {
    return AffineMapAttr::get(AffineMap::get(2, numSymbols, bounds, context));
  };
  auto set = [&](unsigned dims, ArrayRef<AffineExpr> constraints) {
    SmallVector<AffineExpr> list(constraints);
    if (list.empty()) // A set has a constraint.
      list.push_back(getAffineConstantExpr(0, context));
    SmallVector<bool> equalities(list.size(), false);
    return IntegerSetAttr::get(
        IntegerSet::get(dims, numSymbols, list, equalities));
  };
  SmallVector<KeyRangeAttr> ranges;
  for (const KeyRange &range : found.ranges)
    ranges.push_back(KeyRangeAttr::get(
        context, range.where.empty() ? IntegerSetAttr() : set(2, range.where),
        map(range.begin), map(range.fullBegin), map(range.fullEnd),
        map(range.end)));
  SmallVector<IntegerSetAttr> visibleSets, hiddenSets;
  for (ArrayRef<AffineExpr> constraints : found.visible)
    visibleSets.push_back(set(4, constraints));
  for (ArrayRef<AffineExpr> constraints : found.hidden)
    hiddenSets.push_back(set(4, constraints));
  summary.ranges = KeyRangesAttr::get(context, ranges, visibleSets, hiddenSets,
                                      visibleTiles.exact, opaque);
  return summary;
}

SmallVector<Value> attn::getMaskLeaves(AttentionOp op) {
  if (op.getMask().empty())
    return {};
  MaskReader reader(op);
  // Leaves are found in the order in which the predicate is read.
  reader.visible();
  reader.hidden();
  return llvm::to_vector(reader.getLeaves());
}
