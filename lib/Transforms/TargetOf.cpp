//===- TargetOf.cpp - the target an operation is compiled for --*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TargetOf.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace attn;

FailureOr<const TargetInfo *> attn::getTargetOf(Operation *op) {
  for (Operation *module = op->getParentOfType<ModuleOp>(); module;
       module = module->getParentOfType<ModuleOp>()) {
    auto name = module->getAttrOfType<StringAttr>("attn.target");
    if (!name)
      continue;
    if (const TargetInfo *target = lookupTarget(name.getValue()))
      return target;
    return op->emitOpError()
           << "expected attn.target of the module to be one of "
           << targetNames() << ", got " << name;
  }
  return op->emitOpError(
      "expected a module with attn.target (because tile sizes "
      "and schedules depend on the CPU), got none: run "
      "attn-select-targets");
}
