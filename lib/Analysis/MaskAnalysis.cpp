//===- MaskAnalysis.cpp - the keys that a tile of queries sees --*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "attn/Analysis/MaskAnalysis.h"
#include "KeyRanges.h"
#include "MaskFormula.h"

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

  unsigned numLeaves = reader.getLeaves().size();
  std::optional<KeyRanges> ranges =
      findKeyRanges(*visible, *hidden, numLeaves, context);
  summary.tooLarge = !ranges;
  if (!ranges) {
    // Every key, and none for certain.
    AffineExpr zero = getAffineConstantExpr(0, context);
    ranges =
        KeyRanges{{zero}, {zero}, {zero}, {getAffineSymbolExpr(1, context)}};
  }
  auto map = [&](ArrayRef<AffineExpr> bounds) {
    return AffineMapAttr::get(
        AffineMap::get(2, 2 + numLeaves, bounds, context));
  };
  bool opaque = summary.opaqueAtoms != 0 || summary.tooLarge;
  summary.ranges = KeyRangesAttr::get(
      context, map(ranges->begin), map(ranges->fullBegin), map(ranges->fullEnd),
      map(ranges->end), ranges->exact && !opaque, opaque);
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
