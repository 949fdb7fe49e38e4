//===- MemoryPlan.h - temporaries and the slots they share ------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_HOST_MEMORYPLAN_H
#define ATTN_LIB_TARGET_HOST_MEMORYPLAN_H

#include "Driver.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace attn {

/// An allocation with the operations between which it lives.
struct Temporary {
  mlir::memref::AllocOp alloc;
  mlir::Operation *last;
  double typicalBytes;
  unsigned slot = 0;
};

/// Which temporaries share memory.
struct MemoryPlan {
  llvm::SmallVector<Temporary> temporaries;
  unsigned slots = 0;
};

/// An allocation that is copied to an output of the caller becomes that output,
/// seen through the inverse of the reshapes between both.
void writeOutputsInPlace(mlir::func::FuncOp function);

/// Finds the temporaries of the driver's function and gives each a slot.
mlir::FailureOr<MemoryPlan> chooseSlots(const Driver &driver);

} // namespace attn

#endif // ATTN_LIB_TARGET_HOST_MEMORYPLAN_H
