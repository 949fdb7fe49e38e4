//===- Manifest.h - the files that describe a model -------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TARGET_HOST_MANIFEST_H
#define ATTN_LIB_TARGET_HOST_MANIFEST_H

#include "ModelInterface.h"
#include "WeightLayout.h"
#include "attn/Analysis/CostModel.h"
#include "llvm/Support/JSON.h"

namespace attn {

/// The name of an element type in NAME_info, such as "bf16".
llvm::StringRef getTypeName(attn_type type);

/// What NAME_info answers: names, types, sizes, targets.
llvm::json::Object makeInfo(const ModelInterface &interface,
                            const WeightLayout &layout,
                            llvm::ArrayRef<llvm::StringRef> targets,
                            bool embedded);

/// The work of a model: `flops`, `bytes` and the same of each of `kernels`.
llvm::json::Object makeCost(const ModelCost &cost);

/// The C header of a model: C99 and C++17, no include but standard ones.
void writeHeader(const ModelInterface &interface, const WeightLayout &layout,
                 bool embedded, llvm::raw_ostream &os);

} // namespace attn

#endif // ATTN_LIB_TARGET_HOST_MANIFEST_H
