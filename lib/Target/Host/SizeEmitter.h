//===- SizeEmitter.h - sizes of temporaries from the dims -------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HOST_SIZEEMITTER_H
#define ATTN_LIB_TARGET_HOST_SIZEEMITTER_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include <map>
#include <vector>

namespace attn {

/// Clones the index arithmetic behind sizes in front of everything else, with
/// dims taken from elsewhere, and adds up an overflow flag where asked.
struct SizeEmitter {
  SizeEmitter(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;
  /// Where dims come from.
  mlir::IRMapping mapping;
  /// i1, set where a product passes 64 bits; null: no checks.
  mlir::Value overflow;

  mlir::Value constant(int64_t value);
  mlir::Value multiply(mlir::Value a, mlir::Value b);
  /// The value at the builder's position; fails where it depends on more than
  /// the dims.
  mlir::FailureOr<mlir::Value> emit(mlir::Value value);
  /// Bytes of an allocation.
  mlir::FailureOr<mlir::Value> bytes(mlir::memref::AllocOp alloc);

private:
  /// Sizes by static bytes and dynamic sizes: temporaries come in a few kinds.
  std::map<std::pair<int64_t, std::vector<void *>>, mlir::Value> known;
};

} // namespace attn

#endif // ATTN_LIB_TARGET_HOST_SIZEEMITTER_H
