//===- GpuBlocks.h - loops on the blocks of a device -----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_SCHEDULE_GPUBLOCKS_H
#define ATTN_LIB_TARGET_HALIDE_SCHEDULE_GPUBLOCKS_H

#include <Halide.h>

#include <vector>

namespace attn {

/// Orders the loops of `func`: `inside` in a block of threads, and `outside`,
/// from the innermost one, on blocks, which a device counts in three
/// dimensions. What does not fit is a loop of the host with a launch a step:
/// dimensions of one entry first, then the outermost ones. (Halide 21 knows too
/// little of the bounds of loops that were fused into one: with the promise
/// that a block computes one row, its code is wrong.) The result is the
/// innermost loop of blocks.
Halide::Var placeOnBlocks(Halide::Func func,
                          std::vector<Halide::VarOrRVar> inside,
                          const std::vector<Halide::Var> &outside);

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_SCHEDULE_GPUBLOCKS_H
