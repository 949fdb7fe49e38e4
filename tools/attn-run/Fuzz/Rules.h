//===- Rules.h - the rules that a random attention is made of --*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One table a kind of rule: to fuzz a new rule is to add a row.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_FUZZ_RULES_H
#define ATTN_TOOLS_ATTN_RUN_FUZZ_RULES_H

#include "Fuzz/Kernel.h"
#include "Random.h"

namespace attn::run::fuzz {

/// A random attn.mask, perhaps of several rules.
Part randomMask(Random &random);
/// A random rule that changes scores. `heads` is that of the kernel.
Part randomScoreRule(Random &random);
/// A random attn.scores or attn.additive_scores.
Part randomScores(Random &random);
/// A random attn.softmax; of its two results the caller takes what it needs.
Part randomSoftmax(Random &random);
/// A random attn.mix.
Part randomMix(Random &random);

} // namespace attn::run::fuzz

#endif // ATTN_TOOLS_ATTN_RUN_FUZZ_RULES_H
