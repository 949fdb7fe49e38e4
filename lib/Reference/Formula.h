//===- Formula.h - scalar regions as programs -------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The regions of fused and linalg operations run once an element, so they are
// translated once: each value gets a slot, each operation a function of slots.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_REFERENCE_FORMULA_H
#define ATTN_LIB_REFERENCE_FORMULA_H

#include "ScalarOps.h"

#include "mlir/IR/Region.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>

namespace attn::reference {

using TensorRef = std::shared_ptr<const Tensor>;

class Formula {
public:
  /// Translates a region of one block. `captures` are the values of its last
  /// arguments; those before vary from element to element.
  static llvm::Expected<Formula> build(mlir::Region &region,
                                       llvm::ArrayRef<TensorRef> captures) {
    return build(region, captures, {}, {});
  }
  /// The same of a region that is not isolated: `outer` are the values from
  /// outside that it reads, `outerTensors` what they are.
  static llvm::Expected<Formula> build(mlir::Region &region,
                                       llvm::ArrayRef<TensorRef> captures,
                                       llvm::ArrayRef<mlir::Value> outer,
                                       llvm::ArrayRef<TensorRef> outerTensors);

  /// Runs the region: `leading` are the arguments that vary, the first
  /// yielded value is returned.
  Scalar run(llvm::ArrayRef<Scalar> leading) { return runAll(leading)[0]; }
  llvm::ArrayRef<Scalar> runAll(llvm::ArrayRef<Scalar> leading);

  /// The place in an enclosing loop nest, which linalg.index reads.
  void setPosition(llvm::ArrayRef<int64_t> indices) {
    position.assign(indices.begin(), indices.end());
  }

  /// What went wrong in a run so far, such as a load outside a tensor.
  llvm::Error takeError();

private:
  struct Step {
    mlir::Operation *op;
    llvm::SmallVector<unsigned> operands;
    unsigned result;
    /// Of an element-wise operation.
    ScalarFunction function;
    /// Of a tensor.extract: what it reads.
    TensorRef tensor;
    /// Of a linalg.index: the loop.
    unsigned loop = 0;
  };

  llvm::Error add(mlir::Operation &op);
  unsigned slotOf(mlir::Value value);
  /// Gives a value that does not vary.
  void bind(mlir::Value value, TensorRef tensor);
  Scalar extract(const Step &step, llvm::ArrayRef<Scalar> indices);

  llvm::DenseMap<mlir::Value, unsigned> slots;
  llvm::DenseMap<mlir::Value, TensorRef> tensors;
  std::vector<Step> steps;
  llvm::SmallVector<unsigned> yielded;
  std::vector<Scalar> values;
  std::vector<Scalar> results;
  llvm::SmallVector<int64_t> position;
  std::string problem;
};

/// An error that says where `op` stands and which it is.
llvm::Error makeError(mlir::Operation *op, const llvm::Twine &message);

} // namespace attn::reference

#endif // ATTN_LIB_REFERENCE_FORMULA_H
