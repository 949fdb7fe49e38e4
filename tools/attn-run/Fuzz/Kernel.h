//===- Kernel.h - a random attention ---------------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the fuzzer compiles: an attention of the graph level as a list of parts,
// each a line of IR with the inputs that it reads. A part can be taken out
// without touching the others, which is what shrinking does.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_FUZZ_KERNEL_H
#define ATTN_TOOLS_ATTN_RUN_FUZZ_KERNEL_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace attn::run::fuzz {

/// What an input means, which decides the values that it gets.
enum class Role {
  Query,
  Key,
  Value,
  Number,     // Any finite number: tables and vectors.
  Sink,       // Any finite number, also where others are NaN.
  Bias,       // A number, or -inf, which hides a pair.
  Factor,     // A scalar that scales: not near zero, perhaps negative.
  Slope,      // Positive and small.
  FloatMask,  // Finite or -inf.
  Flags,      // 0 or 1.
  Ids,        // Few different ones.
  KeyCount,   // From below 0 to above M.
  QueryCount, // From below 0 to above N.
  Offset,     // From below -N to above M.
  Cosine,
  Sine,
};

/// A letter of B, N, M (known when the kernel runs; N is static where the kernel
/// has a number of queries), H, G, D, V (static), or `size`.
struct Extent {
  char letter = 0;
  int64_t size = 1;
};

struct Input {
  Role role;
  /// `E` for the element type of the kernel, or a type.
  std::string type;
  llvm::SmallVector<Extent, 4> shape;
};

/// A line of IR. In its text {s} is the value in front of it, {S} the type of
/// scores, {0} and {T0} the first input and its type, {f} the type of
/// scalars.
struct Part {
  /// What it is called in messages: `causal`, `alibi`, ...
  std::string feature;
  std::string text;
  std::vector<Input> inputs;
};

struct Kernel {
  uint64_t seed = 0;
  std::string element = "f32", layout = "bshd";
  int64_t heads = 1, keyHeads = 1, channels = 8, valueChannels = 8;
  /// Number of queries where the kernel is compiled for it, as in decoding, or
  /// 0.
  int64_t queries = 0;
  /// Lines in front of the scores: `rotary` or nothing.
  bool hasRotary = false;
  bool isInterleaved = false;
  int64_t rotaryPairs = 0;
  Part scores, softmax, mix;
  std::vector<Part> rules;
  bool hasLse = false, keepsWeights = false, keepsScores = false;

  /// Whether a part of it is called that.
  bool has(llvm::StringRef feature) const;
  /// One line: layout, sizes and parts.
  std::string describe() const;
};

/// The kernel of a seed.
Kernel randomKernel(uint64_t seed);

/// Inputs in the order of the function's arguments, with their names.
struct NamedInput {
  std::string name;
  Input input;
};
std::vector<NamedInput> inputsOf(const Kernel &kernel);

/// The graph as text. `forOracle` adds to the results the product of queries
/// and keys, the scores in front of the softmax, and the weights.
std::string kernelText(const Kernel &kernel, bool forOracle);

} // namespace attn::run::fuzz

#endif // ATTN_TOOLS_ATTN_RUN_FUZZ_KERNEL_H
