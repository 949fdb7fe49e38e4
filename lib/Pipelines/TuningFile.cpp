//===- TuningFile.cpp - reads measured tile sizes --------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A tuning file is an MLIR module with an attribute `attn.tuning` and nothing
// in it: the parser and the attributes' verifiers say what is wrong, and where.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/TargetInfo.h"
#include "attn/Dialect/IR/Attn.h"
#include "attn/Pipelines/Driver.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace attn;

static StringRef targetOfEntry(Attribute entry) {
  return llvm::TypeSwitch<Attribute, StringRef>(entry)
      .Case<TunedAttentionAttr, TunedLinearAttr>(
          [](auto tuned) { return tuned.getTarget(); })
      .Default([](Attribute) { return StringRef(); });
}

LogicalResult attn::readTuning(StringRef path, ModuleOp model,
                               llvm::function_ref<void(const Twine &)> report) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer) {
    report("expected a file that attn-run --tune wrote for --tuning, got '" +
           path + "': " + buffer.getError().message());
    return failure();
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  OwningOpRef<ModuleOp> file =
      parseSourceFile<ModuleOp>(sources, model.getContext());
  if (!file)
    return failure();
  auto entries = (*file)->getAttrOfType<ArrayAttr>("attn.tuning");
  if (!entries) {
    report("expected a module with attn.tuning in '" + path +
           "' (attn-run --tune writes such files), got none");
    return failure();
  }
  for (Attribute entry : entries)
    if (!lookupTarget(targetOfEntry(entry))) {
      report("expected a target of " + targetNames() + " in '" + path +
             "', got '" + targetOfEntry(entry) + "'");
      return failure();
    }
  model->setAttr("attn.tuning", entries);
  return success();
}
