//===- RowNorms.h - operations along the last dimension --------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_CONVERSION_ATTNTOLOOPS_ROWNORMS_H
#define ATTN_LIB_CONVERSION_ATTNTOLOOPS_ROWNORMS_H

#include "LinalgBuilder.h"

namespace attn {

/// The tensor with elements of another float type.
mlir::Value convertElements(LinalgBuilder &build, mlir::Value tensor,
                            mlir::Type element);

/// attn.layer_norm of a tensor of its compute type.
mlir::Value buildLayerNorm(LinalgBuilder &build, mlir::Value input,
                           mlir::Value gamma, mlir::Value beta, double epsilon);

/// attn.rms_norm of a tensor of its compute type.
mlir::Value buildRmsNorm(LinalgBuilder &build, mlir::Value input,
                         mlir::Value gamma, double epsilon);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTOLOOPS_ROWNORMS_H
