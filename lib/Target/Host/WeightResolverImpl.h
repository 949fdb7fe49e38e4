//===- WeightResolverImpl.h - parts of the weight resolver ------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HOST_WEIGHTRESOLVERIMPL_H
#define ATTN_LIB_TARGET_HOST_WEIGHTRESOLVERIMPL_H

#include "attn/Import/Safetensors.h"
#include "attn/Target/Host/WeightResolver.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

namespace attn {

inline mlir::RankedTensorType getTensorType(WeightOp weight) {
  return mlir::cast<mlir::RankedTensorType>(weight.getType());
}

/// What can be asked of a recipe: whether it can be evaluated
/// (WeightResolver.cpp), and its data by ranges (WeightData.cpp).
struct WeightResolver::Impl {
  mlir::ModuleOp module;
  std::string sourceDir;
  mlir::SymbolTable symbols;
  /// Open files by path; a null one failed and was reported.
  llvm::StringMap<std::unique_ptr<SafetensorsFile>> files;
  /// The same of files that are only bytes.
  llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> buffers;

  Impl(mlir::ModuleOp module, llvm::StringRef sourceDir)
      : module(module), sourceDir(sourceDir.str()), symbols(module) {}

  WeightOp lookup(mlir::FlatSymbolRefAttr name) {
    return symbols.lookup<WeightOp>(name.getAttr());
  }
  llvm::SmallString<128> getPath(llvm::StringRef file) const;
  SafetensorsFile *open(WeightOp weight, llvm::StringRef file, bool &reported);
  llvm::MemoryBuffer *open(WeightOp weight, BytesAttr bytes);

  llvm::LogicalResult check(WeightOp weight);
  llvm::LogicalResult check(WeightOp weight, SourceAttr source);
  llvm::LogicalResult check(WeightOp weight, BytesAttr bytes);
  llvm::LogicalResult check(WeightOp weight, ValueAttr value);

  /// Elements [first, first + count) of a checked weight, to `out`.
  llvm::LogicalResult read(WeightOp weight, int64_t first, int64_t count,
                           char *out);
  llvm::LogicalResult read(WeightOp weight, SourceAttr source, int64_t first,
                           int64_t count, char *out);
  llvm::LogicalResult read(WeightOp weight, BytesAttr bytes, int64_t first,
                           int64_t count, char *out);
  llvm::LogicalResult read(WeightOp weight, ValueAttr value, int64_t first,
                           int64_t count, char *out);
  llvm::LogicalResult read(WeightOp weight, ConcatAttr concat, int64_t first,
                           int64_t count, char *out);
  llvm::LogicalResult read(WeightOp weight, PackAttr pack, int64_t first,
                           int64_t count, char *out);
};

} // namespace attn

#endif // ATTN_LIB_TARGET_HOST_WEIGHTRESOLVERIMPL_H
