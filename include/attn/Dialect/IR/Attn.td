//===- Attn.td - the attn dialect, all of it ---------------*- tablegen -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_IR_ATTN_TD
#define ATTN_DIALECT_IR_ATTN_TD
include "attn/Dialect/IR/AttnDialect.td"
include "attn/Dialect/IR/AttnEnums.td"
include "attn/Dialect/IR/AttnMaskAttrs.td"
include "attn/Dialect/IR/AttnAttrs.td"
include "attn/Dialect/IR/AttnTuningAttrs.td"
include "attn/Dialect/IR/AttnTypes.td"
include "attn/Dialect/IR/AttnOps.td"
include "attn/Dialect/IR/AttnScoreOps.td"
include "attn/Dialect/IR/AttnCacheOps.td"
include "attn/Dialect/IR/AttnLayerOps.td"
include "attn/Dialect/IR/AttnModelOps.td"
include "attn/Dialect/IR/AttnFusedOps.td"
include "attn/Dialect/IR/AttnTileOps.td"
#endif // ATTN_DIALECT_IR_ATTN_TD
