//===- HostScalars.h - scalar operations of host loops ----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TARGET_HOST_HOSTSCALARS_H
#define ATTN_LIB_TARGET_HOST_HOSTSCALARS_H

#include "attn/Analysis/TargetInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attn {

/// Rewrites scalar operations on floats below 32 bits so that no conversion is
/// left that the target's CPU does not have.
void expandNarrowFloats(mlir::func::FuncOp function, const TargetInfo &target);

} // namespace attn

#endif // ATTN_LIB_TARGET_HOST_HOSTSCALARS_H
