//===- TestModel.h - modules and cases of the evaluator's tests -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_UNITTESTS_REFERENCE_TESTMODEL_H
#define ATTN_UNITTESTS_REFERENCE_TESTMODEL_H

#include "attn/Reference/Evaluator.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringMap.h"
#include "gtest/gtest.h"

#include <cmath>

namespace attn::test {

inline void loadDialects(mlir::MLIRContext &context) {
  context.loadDialect<AttnDialect, mlir::cf::ControlFlowDialect,
                      mlir::func::FuncDialect, mlir::linalg::LinalgDialect>();
}

/// A tensor of numbers.
inline Tensor numbers(llvm::ArrayRef<int64_t> shape,
                      std::vector<double> values) {
  Tensor result = Tensor::zeros(Tensor::Kind::F64, shape);
  EXPECT_EQ(result.numbers.size(), values.size());
  result.numbers = std::move(values);
  return result;
}

inline Tensor integers(llvm::ArrayRef<int64_t> shape,
                       std::vector<int64_t> values) {
  Tensor result = Tensor::zeros(Tensor::Kind::I64, shape);
  EXPECT_EQ(result.integers.size(), values.size());
  result.integers = std::move(values);
  return result;
}

/// `attn.name` of arguments or results of a function.
inline llvm::StringRef nameOf(mlir::DictionaryAttr attributes) {
  return attributes.getAs<mlir::StringAttr>("attn.name").getValue();
}

/// The arrays of a .npz file by name, `in.q`, `out.o`.
inline llvm::StringMap<Tensor> readCase(llvm::StringRef path) {
  llvm::StringMap<Tensor> result;
  llvm::Expected<std::vector<NpyArray>> arrays = readNpz(path);
  if (!arrays) {
    ADD_FAILURE() << llvm::toString(arrays.takeError());
    return result;
  }
  for (const NpyArray &array : *arrays)
    result[array.name] = tensorOf(array);
  return result;
}

/// Evaluates the public function of a module on the arrays `in.NAME`, by the
/// names of its arguments; the results come by their names.
inline llvm::StringMap<Tensor> runCase(mlir::ModuleOp module,
                                       const llvm::StringMap<Tensor> &arrays,
                                       const EvaluatorOptions &options = {}) {
  llvm::StringMap<Tensor> result;
  mlir::func::FuncOp entry;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (function.isPublic())
      entry = function;
  llvm::SmallVector<Tensor> inputs;
  for (unsigned index = 0; index < entry.getNumArguments(); ++index)
    inputs.push_back(
        arrays.lookup(("in." + nameOf(entry.getArgAttrDict(index))).str()));
  llvm::Expected<llvm::SmallVector<Tensor>> outputs =
      evaluate(module, inputs, options);
  if (!outputs) {
    ADD_FAILURE() << llvm::toString(outputs.takeError());
    return result;
  }
  for (auto [index, output] : llvm::enumerate(*outputs))
    result[nameOf(entry.getResultAttrDict(index))] = std::move(output);
  return result;
}

/// Checks each number against the expected one; a NaN or an infinity must be
/// the same. `compare` are the leading positions that count, all if null.
inline void expectNear(const Tensor &actual, const Tensor &expected,
                       double tolerance, llvm::StringRef name,
                       const Tensor *compare = nullptr) {
  ASSERT_EQ(actual.shape, expected.shape) << name.str();
  double largest = 0.0;
  int64_t block = compare ? expected.numElements() / compare->numElements() : 1;
  for (int64_t index = 0; index < expected.numElements(); ++index) {
    if (compare && !compare->integers[index / block])
      continue;
    double a = actual.numbers[index], e = expected.numbers[index];
    if (a == e || (std::isnan(a) && std::isnan(e)))
      continue;
    largest =
        std::fmax(largest, std::fabs(a - e) / std::fmax(1.0, std::fabs(e)));
    if (!std::isfinite(a) || !std::isfinite(e))
      largest = INFINITY;
  }
  EXPECT_LE(largest, tolerance) << name.str();
}

} // namespace attn::test

#endif // ATTN_UNITTESTS_REFERENCE_TESTMODEL_H
