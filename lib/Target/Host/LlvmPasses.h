//===- LlvmPasses.h - LLVM's passes over a module ---------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TARGET_HOST_LLVMPASSES_H
#define ATTN_LIB_TARGET_HOST_LLVMPASSES_H

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace attn {

/// Removes what nothing that is visible needs.
void dropDeadCode(llvm::Module &module, llvm::TargetMachine &machine);

/// What a C compiler does at -O2, without assumptions about floats.
void optimize(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace attn

#endif // ATTN_LIB_TARGET_HOST_LLVMPASSES_H
