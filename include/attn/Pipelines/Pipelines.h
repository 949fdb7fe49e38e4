//===- Pipelines.h - the stages of the compiler ----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each stage ends in a contract pass and can be asked for by name
// (--attn-graph-to-fused). A pass leaves IR of a lower level alone, so that a
// module of any level can enter at the top.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_PIPELINES_PIPELINES_H
#define ATTN_PIPELINES_PIPELINES_H

namespace attn {

/// Makes the pipelines and passes of this project known by their names.
void registerPipelines();

} // namespace attn

#endif // ATTN_PIPELINES_PIPELINES_H
