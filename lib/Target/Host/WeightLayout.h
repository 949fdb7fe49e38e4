//===- WeightLayout.h - which weights are stored, and where -----*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The weights file holds what the first variant reads. Another variant finds
// each of its weights there as it is, as panels of another width (repacked when
// the model is loaded), or, where neither is so, stored beside the others.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TARGET_HOST_WEIGHTLAYOUT_H
#define ATTN_LIB_TARGET_HOST_WEIGHTLAYOUT_H

#include "attn-c/descriptor.h"
#include "attn-c/weights.h"
#include "attn/Target/Host/WeightResolver.h"
#include <array>
#include <string>

namespace attn {

struct StoredWeight {
  std::string name;
  WeightOp weight;
  uint64_t offset, size;
};

struct WeightLayout {
  std::vector<StoredWeight> stored;
  /// One list a variant, in the order of its driver's weights.
  std::vector<std::vector<attn_variant_weight>> variants;
  uint64_t fileSize = 0;
  std::array<uint8_t, 32> hash = {};
};

/// What a variant's driver reads: names of attn.weight in its module.
struct VariantWeights {
  mlir::ModuleOp module;
  llvm::ArrayRef<std::string> names;
};

/// Decides what is stored. Reports recipes that cannot be evaluated, all of
/// them.
mlir::FailureOr<WeightLayout>
computeWeightLayout(llvm::ArrayRef<VariantWeights> variants,
                    llvm::StringRef sourceDir);

/// Writes the weights file. Fails early, and without a diagnostic, when
/// `isBroken` says that what is written gets nowhere.
llvm::LogicalResult writeWeights(const WeightLayout &layout,
                                 llvm::StringRef modelName,
                                 llvm::StringRef sourceDir,
                                 llvm::raw_ostream &os,
                                 llvm::function_ref<bool()> isBroken = {});

} // namespace attn

#endif // ATTN_LIB_TARGET_HOST_WEIGHTLAYOUT_H
