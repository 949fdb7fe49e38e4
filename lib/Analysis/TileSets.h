//===- TileSets.h - tiles for which a formula may hold ---------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_ANALYSIS_TILESETS_H
#define ATTN_LIB_ANALYSIS_TILESETS_H

#include "Elimination.h"
#include "MaskFormula.h"
#include "Prover.h"

namespace attn {

/// The tiles that hold a pair for which `formula` holds, Unknown read as true.
/// Without `exact` there may be more.
TileProjection findTiles(const Formula &formula, const Prover &prover,
                         mlir::MLIRContext *context);

} // namespace attn

#endif // ATTN_LIB_ANALYSIS_TILESETS_H
