//===- Onnx.h - import of ONNX models --------------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A graph of ONNX operators becomes a function of attn graph operations and
// upstream tensor, linalg, arith and math operations. What the model computes
// about shapes is computed at import; what is left are sizes with names.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_IMPORT_ONNX_H
#define ATTN_IMPORT_ONNX_H

#include "attn/Import/OnnxModel.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <string>
#include <vector>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace attn {

struct OnnxOptions {
  /// Inputs whose values are known now, as numbers with commas between them
  /// ("1,-1,64"). They are no inputs of the compiled model. An input of which
  /// the shape of a result or the axis of an operator depends must be one.
  std::map<std::string, std::string> inputValues;
  /// The same with the data of a tensor.
  std::map<std::string, const onnx::Tensor *> inputTensors;
  /// Number of tensors in each input that is a sequence or an optional.
  std::map<std::string, size_t> inputLengths;
};

/// Imports the model in the file at `path` as a module at graph level: one
/// public function named after the file, its initializers as weights that are
/// read from the file, its named sizes (dim_param) as attn.dim. Calls `report`
/// for every problem, with the text of an error message; returns null if there
/// was any.
///
/// Example: a Relu of FLOAT (n, 4) gives
/// ```mlir
/// attn.dim @n range(0, 2147483647)
/// func.func @model(%arg0: tensor<?x4xf32> {attn.name = "x", attn.dims = ["n",
/// ""]})
///     -> (tensor<?x4xf32> {attn.name = "y", ...})
/// ```
mlir::OwningOpRef<mlir::ModuleOp>
importOnnx(llvm::StringRef path, mlir::MLIRContext *context,
           llvm::function_ref<void(llvm::StringRef)> report,
           const OnnxOptions &options = {});

/// The same for a model that was read from `path`. `unknownInputs`, if given,
/// receives the names of the inputs whose values must be known and are not.
mlir::OwningOpRef<mlir::ModuleOp>
importOnnx(const onnx::Model &model, llvm::StringRef path,
           mlir::MLIRContext *context,
           llvm::function_ref<void(llvm::StringRef)> report,
           const OnnxOptions &options = {},
           std::vector<std::string> *unknownInputs = nullptr);

/// Adds the command line options of the importer to a tool: --input-value.
void registerOnnxFlags();
/// What the command line said.
OnnxOptions onnxOptionsFromFlags();

/// The operators that can be imported, a line each: the name, the first version
/// of the operator set, limits.
std::string describeOnnxOperators();

} // namespace attn

#endif // ATTN_IMPORT_ONNX_H
