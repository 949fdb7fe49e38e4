//===- Reductions.h - smaller kernels and sets -----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A kernel that fails is its seed; what is left of it when it was shrunk is the
// seed and a list of words:
//
//   rule-1                  without that rule, counted from 0
//   no-lse, no-kept, no-rotary, no-sinks, plain-scores, plain-mix
//   bshd                    the layout
//   heads=H/G, channels=D/V, element=TYPE
//   b=N, n=N, m=N           sizes of sets
//   dense, normal           no strides, normal numbers in sets
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_FUZZ_REDUCTIONS_H
#define ATTN_TOOLS_ATTN_RUN_FUZZ_REDUCTIONS_H

#include "Fuzz/Values.h"
#include "llvm/ADT/ArrayRef.h"

namespace attn::run::fuzz {

/// Applies the words; an error names those that mean nothing.
llvm::Error reduce(Kernel &kernel, llvm::ArrayRef<std::string> words);
void reduce(ValueSet &set, llvm::ArrayRef<std::string> words);

/// Words that make a kernel or a set of it smaller, the boldest first.
std::vector<std::string> candidates(const Kernel &kernel, const ValueSet &set);

} // namespace attn::run::fuzz

#endif // ATTN_TOOLS_ATTN_RUN_FUZZ_REDUCTIONS_H
