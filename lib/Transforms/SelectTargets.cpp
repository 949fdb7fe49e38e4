//===- SelectTargets.cpp - attn-select-targets -----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// attn-select-targets: from here on everything depends on the CPU (tile sizes,
// panels of packed weights, schedules), so each target gets a module of its own
// that holds all it needs. With one target that is the module itself.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/TargetInfo.h"
#include "attn/Dialect/IR/Attn.h"
#include "attn/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"

#define DEBUG_TYPE "attn-select-targets"

using namespace mlir;

namespace attn {
#define GEN_PASS_DEF_ATTNSELECTTARGETSPASS
#include "attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace attn;

/// Targets that the module, or the modules in it, are made for.
static SmallVector<StringRef> getSelected(ModuleOp module) {
  SmallVector<StringRef> selected;
  if (auto name = module->getAttrOfType<StringAttr>("attn.target"))
    selected.push_back(name.getValue());
  for (auto nested : module.getOps<ModuleOp>())
    if (auto name = nested->getAttrOfType<StringAttr>("attn.target"))
      selected.push_back(name.getValue());
  return selected;
}

namespace {
struct AttnSelectTargetsPass final
    : attn::impl::AttnSelectTargetsPassBase<AttnSelectTargetsPass> {
  using AttnSelectTargetsPassBase::AttnSelectTargetsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<StringRef> wanted(targets.begin(), targets.end());
    if (failed(verifyNames(wanted)))
      return signalPassFailure();

    SmallVector<StringRef> selected = getSelected(module);
    if (!selected.empty()) {
      if (wanted.empty() || wanted == selected)
        return;
      module.emitError() << "expected no other targets (because the module was "
                            "already made for "
                         << llvm::join(selected, ", ") << "), got "
                         << llvm::join(wanted, ", ");
      return signalPassFailure();
    }
    if (wanted.empty())
      wanted.push_back("x86-64-v3");

    Builder builder(&getContext());
    if (wanted.size() == 1) {
      module->setAttr("attn.target", builder.getStringAttr(wanted.front()));
      return;
    }
    split(module, wanted);
  }

private:
  LogicalResult verifyNames(ArrayRef<StringRef> names) {
    for (auto [position, name] : llvm::enumerate(names)) {
      if (!lookupTarget(name))
        return getOperation().emitError()
               << "expected a target of " << targetNames() << ", got '" << name
               << "'";
      if (llvm::is_contained(names.take_front(position), name))
        return getOperation().emitError()
               << "expected each target once, got '" << name << "' twice";
    }
    return success();
  }

  /// Moves the contents into one module a target, copied for all but the last.
  static void split(ModuleOp module, ArrayRef<StringRef> names) {
    OpBuilder builder(module.getContext());
    Block *body = module.getBody();
    SmallVector<Operation *> contents =
        llvm::map_to_vector(*body, [](Operation &op) { return &op; });
    for (auto [position, name] : llvm::enumerate(names)) {
      builder.setInsertionPointToEnd(body);
      std::string symbol = name.str();
      llvm::replace(symbol, '-', '_');
      auto variant = ModuleOp::create(builder, module.getLoc(), symbol);
      variant->setAttr("attn.target", builder.getStringAttr(name));
      builder.setInsertionPointToEnd(variant.getBody());
      for (Operation *op : contents)
        if (position + 1 == names.size())
          op->moveBefore(variant.getBody(), variant.getBody()->end());
        else
          builder.clone(*op);
    }
  }
};
} // namespace
