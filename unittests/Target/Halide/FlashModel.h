//===- FlashModel.h - attention kernels and their reference ----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An attention is described once, as the regions of attn.attention and as C++
// functions. The text goes through the stage to the tiled level, may be edited
// there, and runs; the functions make the reference in f64.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_UNITTESTS_TARGET_HALIDE_FLASHMODEL_H
#define ATTN_UNITTESTS_TARGET_HALIDE_FLASHMODEL_H

#include "KernelRunner.h"

#include "attn/Dialect/IR/Attn.h"

#include <functional>

namespace attn::testing {

struct FlashModel {
  int64_t heads = 2, keyHeads = 2, headSize = 8, valueSize = 8;
  Layout layout = Layout::BSHD;
  /// Sizes that the types say, or -1.
  int64_t batch = -1, queries = -1, keys = -1;
  /// Of queries, keys, values and result: "f32", "f16" or "bf16".
  std::string element = "f32";
  bool lse = false;
  /// A logit of each head, given as the kernel's argument after the values.
  std::vector<float> sinks;
  /// More arguments of the kernel, "%name: type", and the captures that make
  /// them and index values known to the regions.
  std::string arguments, captures, captureTypes;
  /// Bodies of the regions; block arguments are %s, %b, %h, %i, %j and the
  /// captures as %x0, %x1, ...
  std::string mask, score;
  /// The same with %x, %y (combine) or %x (value) first, and %d after %j. The
  /// reference does not know them.
  std::string combine, value;
  std::function<bool(int64_t b, int64_t h, int64_t i, int64_t j)> visible;
  std::function<double(double s, int64_t b, int64_t h, int64_t i, int64_t j)>
      changed;
  /// exp's base is 2^(scale of tile_exp): changed by edits of that constant.
  double exponent = 1.44269504;

  /// j <= i + m - n. The sizes must be set before the reference is made.
  static FlashModel causal(int64_t headSize);

  /// The kernel at the tiled level.
  std::string tiled(const std::string &target = "x86-64-v3") const;
};

/// Inputs and outputs of one run.
struct FlashCase {
  FlashCase(const FlashModel &model, int64_t batch, int64_t n, int64_t m,
            Placement placement, int64_t padding = 0);

  const FlashModel &model;
  int64_t batch, n, m;
  Tensor query, key, value, result, lse;

  float &at(Tensor &tensor, int64_t b, int64_t position, int64_t head,
            int64_t channel) const;
  /// Runs, and compares each element with the reference. `more` are the tensors
  /// of FlashModel::arguments. Of 16-bit elements, tensors that are given to
  /// the kernel are made of those here, which are rounded.
  void check(const CompiledKernel &kernel, const std::vector<Tensor> &more = {},
             double tolerance = 3e-6, int threads = 1);
  /// The largest difference that `check` saw, relative to numbers above 1.
  double error = 0;
};

} // namespace attn::testing
#endif // ATTN_UNITTESTS_TARGET_HALIDE_FLASHMODEL_H
