//===- Variants.cpp - a model for several CPUs ------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Variants.h"

using namespace mlir;
using namespace attn;

FailureOr<SmallVector<Variant>> attn::getVariants(ModuleOp module) {
  SmallVector<Variant> variants;
  bool failed = false;
  auto add = [&](ModuleOp variant) {
    auto name = variant->getAttrOfType<StringAttr>("attn.target");
    const TargetInfo *target = name ? lookupTarget(name) : nullptr;
    if (!target) {
      variant.emitError("expected attn.target to be one of ")
          << targetNames() << ", got "
          << (name ? "'" + name.str() + "'" : "none: run attn-select-targets");
      failed = true;
      return;
    }
    if (target->isSourceOnly()) {
      variant.emitError("expected a target that objects are written for, got ")
          << target->name << ", of which there is the source of kernels only: "
          << "use --emit=" << target->name;
      failed = true;
      return;
    }
    for (const Variant &other : variants) {
      if (other.target->triple == target->triple && other.target != target)
        continue;
      variant.emitError("expected different targets of one architecture in an "
                        "object, got ")
          << other.target->name << " and " << target->name;
      failed = true;
      return;
    }
    variants.push_back({variant, target});
  };
  for (ModuleOp nested : module.getOps<ModuleOp>())
    add(nested);
  if (variants.empty() && !failed)
    add(module);
  if (failed)
    return failure();
  return variants;
}
