//===- Transforms.h - what passes share with others ------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_TRANSFORMS_H
#define ATTN_TRANSFORMS_TRANSFORMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace attn {

/// The entry of a model: the only public function of the module, null if there
/// is none. Fails with a diagnostic if there are several.
llvm::FailureOr<mlir::func::FuncOp> findEntry(mlir::ModuleOp module);

/// The sizes that a dimension may have when the model runs, both included.
struct DimRange {
  llvm::StringRef name;
  int64_t min, max;
};

/// Reads `batch=1..8` or `batch=4`; nothing if the text is neither, or a size
/// is negative, above 2147483647, or the range is empty. The name points into
/// the text.
std::optional<DimRange> parseDimRange(llvm::StringRef text);

} // namespace attn

#endif // ATTN_TRANSFORMS_TRANSFORMS_H
