//===- TrimLoops.h - loops of a block of threads end early -----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_TRIMLOOPS_H
#define ATTN_LIB_TARGET_HALIDE_TRIMLOOPS_H

#include <Halide.h>

namespace attn {

/// Makes the serial loops of `pipeline` run only from the first to the last
/// step that the condition around their body lets through. Halide does so where
/// the other steps have no effect, and takes waiting for threads for one.
void trimLoops(Halide::Pipeline &pipeline);

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_TRIMLOOPS_H
