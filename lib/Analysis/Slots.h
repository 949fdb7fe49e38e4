//===- Slots.h - what element-wise operations take -------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A slot is what one of a core's multiply-add units does in a cycle on one
// vector.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_ANALYSIS_SLOTS_H
#define ATTN_LIB_ANALYSIS_SLOTS_H

#include "attn/Analysis/TargetInfo.h"
#include "mlir/IR/Operation.h"

namespace attn {

/// An exponential is a range reduction, a polynomial of degree 5 and a shift of
/// the exponent.
inline constexpr double expSlots = 14;

/// Of a vector of scores, beside the rule and the mask: scale, maximum,
/// exponential, sum, and storing and loading the tile of scores and that of
/// weights.
inline constexpr double softmaxSlots = expSlots + 16;

/// Of a vector of a query tile or its result: queries are the lanes inside of a
/// kernel, channels outside, and it takes shuffles from one to the other.
/// Measured, with what else a query tile takes once.
inline constexpr double transposeSlots = 20;

/// Of a vector of rows that are normalised: two passes for mean and variance,
/// one for the result.
inline constexpr double normSlots = 12;

/// What the numbers, which are for AVX2, are multiplied by. Where product and
/// sum are two instructions, polynomials take twice as many, and as many
/// copies, because an instruction overwrites an operand. With vectors of 64
/// bytes loads, stores and counters beside the arithmetic are half as many.
/// Both measured, on attention.
double slotsFactor(const TargetInfo &target);

/// Slots of an operation for a vector of elements.
double slotsOf(mlir::Operation &op);

/// Slots of a region for a vector of elements; none without a region.
double slotsOf(mlir::Region &region);

} // namespace attn

#endif // ATTN_LIB_ANALYSIS_SLOTS_H
