//===- LinearModel.h - linear layers and their reference -------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_UNITTESTS_TARGET_HALIDE_LINEARMODEL_H
#define ATTN_UNITTESTS_TARGET_HALIDE_LINEARMODEL_H

#include "KernelRunner.h"

namespace attn::testing {

enum class Epilogue { None, BiasGelu, BiasResidual };
enum class Norm { None, Layer, Rms };

/// A kernel with one attn.fused_linear.
struct LinearModel {
  int64_t n, k;
  int64_t panel;
  std::string schedule; ///< An attribute.
  Epilogue epilogue = Epilogue::None;
  Norm norm = Norm::None;
  /// The type of all tensors.
  std::string element = "f32";

  int64_t panels() const { return (n + panel - 1) / panel; }
  std::string text() const;
};

/// Tensors of a layer, in f32 but with numbers that its type has.
struct LinearCase {
  Tensor input, weight, bias, residual, gamma, beta;

  LinearCase(const LinearModel &model, int64_t m, Placement placement,
             int64_t stride);

  /// The kernel's arguments with `output` as the result.
  std::vector<Tensor> arguments(const LinearModel &model, Placement placement,
                                const Tensor &output) const;
  std::vector<double> reference(const LinearModel &model) const;
};

/// One row of a matrix, as a matrix of its own.
Tensor takeRow(const Tensor &tensor, int64_t row, Placement placement);

} // namespace attn::testing
#endif // ATTN_UNITTESTS_TARGET_HALIDE_LINEARMODEL_H
