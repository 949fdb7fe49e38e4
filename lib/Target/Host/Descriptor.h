//===- Descriptor.h - a model's descriptor as LLVM constants ----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TARGET_HOST_DESCRIPTOR_H
#define ATTN_LIB_TARGET_HOST_DESCRIPTOR_H

#include "ModelInterface.h"
#include "WeightLayout.h"
#include "attn/Analysis/TargetInfo.h"

namespace llvm {
class Module;
} // namespace llvm

namespace attn {

/// A variant's functions in the module.
struct VariantSymbols {
  const TargetInfo *target;
  std::string driver, workspace;
};

/// Adds the constant `attn_model_descriptor` (attn-c/descriptor.h) to a module
/// that has the drivers. `embedded` is the weights file, or empty.
void emitDescriptor(llvm::Module &module, const ModelInterface &interface,
                    const WeightLayout &layout,
                    llvm::ArrayRef<VariantSymbols> variants,
                    llvm::StringRef info, llvm::StringRef embedded);

} // namespace attn

#endif // ATTN_LIB_TARGET_HOST_DESCRIPTOR_H
