//===- ThreadPrivate.h - what each thread keeps for itself -----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_THREADPRIVATE_H
#define ATTN_LIB_TARGET_HALIDE_THREADPRIVATE_H

#include <Halide.h>

namespace attn {

/// The elements of a function that is stored in registers outside the loops
/// over threads, as (row, column, number): thread x has column x, thread y the
/// `rowsEach` rows from y * rowsEach on.
struct PrivateLayout {
  int rows, columns, rowsEach;
};

/// Makes `pipeline` give each thread its own part of `func` and no more. Halide
/// knows registers that outlive a loop over threads, but gives each thread all
/// elements. A part that another thread touches is an internal error.
void makeThreadPrivate(Halide::Pipeline &pipeline, const Halide::Func &func,
                       PrivateLayout layout);

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_THREADPRIVATE_H
