//===- ReferenceRun.h - what the outputs should be -------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Runs the evaluator of lib/Reference on a case. It takes the model as it was
// read and the weights from where it says, and shares nothing with compiled
// code.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_REFERENCERUN_H
#define ATTN_TOOLS_ATTN_RUN_REFERENCERUN_H

#include "Cases.h"
#include "Model.h"

namespace attn::run {

/// The outputs, in the order of the interface: f64 where the model has floating
/// point. `isPlain` rounds as EvaluatorOptions says.
llvm::Expected<std::vector<NpyArray>> runReference(Model &model,
                                                   const Interface &interface,
                                                   const Case &testCase,
                                                   bool isPlain = false);

/// The array in the type that the model declares.
NpyArray convertTo(NpyType type, const NpyArray &array);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_REFERENCERUN_H
