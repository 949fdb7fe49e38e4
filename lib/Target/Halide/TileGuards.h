//===- TileGuards.h - tiles that are not visited ---------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_TILEGUARDS_H
#define ATTN_LIB_TARGET_HALIDE_TILEGUARDS_H

#include <Halide.h>

namespace attn {

/// Makes `pipeline` compute what follows a function of this name, at its place
/// in the loops, only where the function is not 0. It must be one number there,
/// and what follows must have no effect elsewhere.
///
/// Halide moves a condition that reads a function no further out than to the
/// innermost loop, and computes what only it needs in any case.
void guardBy(const Halide::Func &func, Halide::Pipeline &pipeline);

/// The same where threads of a device share `func`. Its storage has another
/// name there, so that what follows must say how it is read.
void guardThreadsBy(const Halide::Func &func, Halide::Pipeline &pipeline);

/// `value`, in what follows `func`, of which `read` is an element.
Halide::Expr markGuard(const Halide::Func &func, const Halide::Expr &value,
                       const Halide::Expr &read);

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_TILEGUARDS_H
