//===- Barriers.h - where a block of threads waits -------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_BARRIERS_H
#define ATTN_LIB_TARGET_HALIDE_BARRIERS_H

#include <Halide.h>

namespace attn {

/// Whether a statement holds a barrier.
bool hasBarrier(const Halide::Internal::Stmt &stmt);

/// Makes `pipeline` not wait where no thread did anything that others see since
/// the last barrier.
void dropIdleBarriers(Halide::Pipeline &pipeline);

/// Makes `pipeline` wait once behind the stores of `first` and `second`, if
/// they are the first things that a loop of a block of threads computes, the
/// first of a launch that threads share, and read nothing of that kind. Halide
/// puts a barrier behind each.
void joinStores(Halide::Pipeline &pipeline, const Halide::Func &first,
                const Halide::Func &second);

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_BARRIERS_H
