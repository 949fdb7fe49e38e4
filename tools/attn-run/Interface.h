//===- Interface.h - what a model takes and gives --------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The same description comes from a compiled object (its NAME_info) and from
// the entry function of a module.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_INTERFACE_H
#define ATTN_TOOLS_ATTN_RUN_INTERFACE_H

#include "attn/Support/Npz.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

namespace attn::run {

/// A size that is known when the model runs; min and max are allowed.
struct DimInfo {
  std::string name;
  int64_t min, max;
};

struct TensorInfo {
  std::string name;
  NpyType type;
  /// A static size, or -1 - k for dim k.
  llvm::SmallVector<int64_t, 4> sizes;
  /// Of an output of a compiled model: the input whose memory it may be given.
  std::optional<size_t> inPlace = {};
};

struct Interface {
  std::string name;
  std::vector<DimInfo> dims;
  std::vector<TensorInfo> inputs, outputs;
};

/// Reads the JSON of NAME_info.
llvm::Expected<Interface> interfaceFromInfo(llvm::StringRef info);

/// Reads the public function of a module whose dimensions are named.
llvm::Expected<Interface> interfaceOfModule(mlir::ModuleOp module);

/// The shape of a tensor when the dims have these values.
llvm::SmallVector<int64_t, 4> shapeOf(const TensorInfo &tensor,
                                      llvm::ArrayRef<int64_t> dims);

/// Bytes of memory that this machine has.
uint64_t memoryOfMachine();

/// `(2, 13, 48)`
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// Values of all dims from the command line: `given` by name, and those with
/// one possible value. Reports all that is missing, unknown, out of range, or
/// makes tensors too large.
llvm::Expected<llvm::SmallVector<int64_t>>
dimsFromCommandLine(const Interface &interface,
                    const llvm::StringMap<int64_t> &given);

/// An error for each tensor that this machine cannot hold.
llvm::Error checkSizes(const Interface &interface,
                       llvm::ArrayRef<int64_t> dims);

/// An array of the shape and type of a tensor, all zero. The sizes were
/// checked.
NpyArray makeArray(const TensorInfo &tensor, llvm::ArrayRef<int64_t> dims);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_INTERFACE_H
