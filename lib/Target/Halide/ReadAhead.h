//===- ReadAhead.h - memory that is asked for early ------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_READAHEAD_H
#define ATTN_LIB_TARGET_HALIDE_READAHEAD_H

#include <Halide.h>

namespace attn {

/// Of every family of processors that is a target.
inline constexpr int cacheLineBytes = 64;

/// `value`; where it is computed, the cache lines of the row of `elements` that
/// begins with `first`, an element of a kernel argument, are asked for.
/// `first` itself is not read. Halide's own prefetches ask for what the loop
/// that they are in reads, and not for what another one will.
///
/// Of values that one loop body computes and that give the same `once`, only
/// the first asks. Without it those do that ask for the same row.
Halide::Expr readAhead(const Halide::Expr &value, const Halide::Expr &first,
                       int elements, const Halide::Expr &once = {});

/// `value`; where it is computed, the cache line of an element of an output is
/// asked for, because it will be stored when there is nothing else to do.
/// `output` numbers the outputs of attachReadAhead, `indices` are Halide's, the
/// innermost first.
Halide::Expr storeAhead(const Halide::Expr &value, int output,
                        const std::vector<Halide::Expr> &indices);

/// Makes prefetches of all calls of readAhead and storeAhead.
void attachReadAhead(Halide::Pipeline &pipeline,
                     const std::vector<Halide::Func> &outputs = {});

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_READAHEAD_H
