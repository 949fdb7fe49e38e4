//===- ModelInterface.h - names, types and sizes of a model -----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the entry function says to the outside, in the form that the descriptor,
// the C header, the manifest and the driver need. Sizes are static or the
// number of a named dim.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TARGET_HOST_MODELINTERFACE_H
#define ATTN_LIB_TARGET_HOST_MODELINTERFACE_H

#include "attn-c/descriptor.h"
#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>
#include <string>

namespace attn {

struct ModelDim {
  std::string name;
  int64_t min, max;
};

struct ModelTensor {
  std::string name;
  attn_type type;
  /// As in attn_tensor_info: a static size, or -1 - k for dim k.
  llvm::SmallVector<int64_t> sizes;
  /// The driver takes strides, see attn_tensor_info.
  bool strided = false;
  /// Of an output: the input whose memory it may be given, see shareInputs.
  std::optional<unsigned> inPlace;
};

struct ModelInterface {
  std::string name;
  llvm::SmallVector<ModelDim> dims;
  llvm::SmallVector<ModelTensor> inputs, outputs;
};

/// The public function of a module; reports one that is missing or not alone.
mlir::FailureOr<mlir::func::FuncOp> getEntry(mlir::ModuleOp module);

/// Reads the interface of the entry function, whose dimensions have names
/// (attn-name-dims). Reports all problems.
mlir::FailureOr<ModelInterface> getModelInterface(mlir::func::FuncOp entry,
                                                  llvm::StringRef name);

/// The element type in the C API; reports those without one through
/// `emitError`.
mlir::FailureOr<attn_type>
getElementKind(mlir::Type type,
               llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Bytes of an element in memory; i1 takes one.
int64_t getElementBytes(mlir::Type type);

/// A C identifier made of `text`: other characters become '_', and a keyword
/// of C or C++ gets one at its end.
std::string makeIdentifier(llvm::StringRef text);

} // namespace attn

#endif // ATTN_LIB_TARGET_HOST_MODELINTERFACE_H
