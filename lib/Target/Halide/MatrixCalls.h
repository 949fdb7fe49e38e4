//===- MatrixCalls.h - functions that the run-time computes ----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HALIDE_MATRIXCALLS_H
#define ATTN_LIB_TARGET_HALIDE_MATRIXCALLS_H

#include <Halide.h>

#include <string>
#include <vector>

namespace attn {

/// What an update of a function at one point stands for: the call of
/// `attn_rt_matrix_<name>` (lib/Runtime/Matrix.c), which fills a whole tile of
/// the function from that point on. It gets the address of the point and then
/// `args`: of an element of a function or tensor its address, in two arguments
/// (base and number of elements), of anything else the value. The function's
/// pure definition must be undefined, and its bounds be told: Halide knows of
/// the one point only.
Halide::Expr matrixCall(Halide::Type type, const std::string &name,
                        const std::vector<Halide::Expr> &args);

/// An argument of it: how many elements lie between two of the same function or
/// tensor.
Halide::Expr matrixStride(const Halide::Expr &first,
                          const Halide::Expr &second);

/// Makes calls of all of them.
void attachMatrixCalls(Halide::Pipeline &pipeline);

} // namespace attn
#endif // ATTN_LIB_TARGET_HALIDE_MATRIXCALLS_H
