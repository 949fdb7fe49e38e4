//===- CostModel.h - the work of a model, kernel by kernel -----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Counted from the fused level, as formulas of the model's dims.
//
// Operations are the multiplications and additions of sums of products:
//
//     attn.fused_linear        2 M N K
//     attn.attention           2 B H N M (D + Dv)
//     a sum in linalg.generic  2 for each step of its loops
//
// whether or not a mask hides a part; CallCost has what else must be known to
// count visible pairs. What is element-wise or row-wise counts
// as none: it is a small part of a model's work, and there is no agreed way to
// count it. Bytes are those of the inputs and results, each read or written
// once and in full; of an embedding's table, the rows that the ids select, and
// of a table of positions as many as there are positions.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_COSTMODEL_H
#define ATTN_ANALYSIS_COSTMODEL_H

#include "attn/Analysis/SizePolynomial.h"
#include "attn/Dialect/IR/Attn.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>

namespace attn {

class SizeReader;

/// The cost of a number of kernel calls. A count is none where it depends on a
/// size that is no polynomial of dims, or on an operation that cannot be
/// counted.
struct Cost {
  int64_t calls = 0;
  std::optional<SizePolynomial> flops = SizePolynomial();
  std::optional<SizePolynomial> bytes = SizePolynomial();

  Cost &operator+=(const Cost &other);
};

/// The sizes of a call's attention. The product of all but `queries` and `keys`
/// is what a pair costs: 2 B H (D + Dv).
struct AttentionCost {
  AttentionOp op;
  SizePolynomial batches, queries, keys;
  int64_t heads = 0, channels = 0, valueChannels = 0;

  /// Operations where `pairs` of a head are visible.
  SizePolynomial flops(const SizePolynomial &pairs) const {
    return pairs * batches * double(2 * heads * (channels + valueChannels));
  }
};

/// Calls of a kernel that cost the same.
struct CallCost {
  KernelOp kernel;
  /// The number of calls, and what one of them costs.
  int64_t calls = 0;
  std::optional<SizePolynomial> flops, bytes;
  /// The part of `bytes` that belongs to weights.
  std::optional<SizePolynomial> weightBytes;
  /// Of the kernel's attn.attention, if it has one of known sizes.
  std::optional<AttentionCost> attention;
  /// The sizes of all values in the kernel.
  std::shared_ptr<const SizeReader> sizes;
};

/// The calls in the one public function of a module, in their order; calls that
/// cost the same count once.
std::vector<CallCost> estimateCalls(mlir::ModuleOp module);

/// A kernel and the cost of all its calls in one run.
struct KernelCost {
  std::string kernel;
  Cost cost;
};

/// The kernels in the order of their first calls.
struct ModelCost {
  std::vector<KernelCost> kernels;

  /// Of the whole run.
  Cost total() const;
};

/// Counts the calls in the one public function of a module. At the tiled level
/// the operations of attention are not counted: its loops depend on the mask.
///
/// Example: a layer of 768 channels to 3072, called on 12 layers' rows,
///     attn.fused_linear %x, %w : tensor<?x768xf32>, tensor<3072x768xf32> ->
///     ...
/// costs `56623104*batch*sequence` operations.
ModelCost estimateCost(mlir::ModuleOp module);

} // namespace attn

#endif // ATTN_ANALYSIS_COSTMODEL_H
