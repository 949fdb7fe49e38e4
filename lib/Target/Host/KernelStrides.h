//===- KernelStrides.h - which operands a kernel reads strided --*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Attention kernels address query, key, value and result by strides (the
// innermost is 1), and a linear layer its input rows. All other kernels want
// dense tensors; the host copies where a value is not.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TARGET_HOST_KERNELSTRIDES_H
#define ATTN_LIB_TARGET_HOST_KERNELSTRIDES_H

#include "attn/Dialect/IR/Attn.h"

namespace attn {

/// Whether a kernel (with its body) takes any strides for an argument.
bool takesStrides(KernelOp kernel, unsigned argument);
/// Whether it writes result `number` with any strides.
bool givesStrides(KernelOp kernel, unsigned number);

/// Whether all uses of a value in a host function take strides.
bool takesStrides(mlir::Value value);
/// Whether a returned value can be written with strides where it is made.
bool givesStrides(mlir::Value value);

} // namespace attn

#endif // ATTN_LIB_TARGET_HOST_KERNELSTRIDES_H
