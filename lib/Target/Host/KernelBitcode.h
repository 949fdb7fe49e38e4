//===- KernelBitcode.h - what kernels' bitcode needs ------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TARGET_HOST_KERNELBITCODE_H
#define ATTN_LIB_TARGET_HOST_KERNELBITCODE_H

#include "attn/Analysis/TargetInfo.h"

namespace llvm {
class Module;
} // namespace llvm

namespace attn {

/// Drops the module flags that only Halide's code generator reads: they differ
/// between kernels and run-time.
void dropHalideFlags(llvm::Module &module);

/// Lets kernels return halide_error_code_out_of_memory where their scratch is
/// not there: they are compiled without assertions, that check among them. The
/// run-time has set the text and frees the rest.
void checkAllocations(llvm::Module &module);

/// Halide asks for memory without a place in the caches. What kernels ask for
/// is read several times: it belongs into the second level.
void prefetchIntoSecondLevel(llvm::Module &module);

/// Gives functions without target attributes those of the target.
void addTargetAttributes(llvm::Module &module, const TargetInfo &target);

} // namespace attn

#endif // ATTN_LIB_TARGET_HOST_KERNELBITCODE_H
