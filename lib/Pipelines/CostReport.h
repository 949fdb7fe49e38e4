//===- CostReport.h - what each kernel call costs --------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_PIPELINES_COSTREPORT_H
#define ATTN_LIB_PIPELINES_COSTREPORT_H

#include "attn/Pipelines/Cost.h"

namespace attn {

/// Writes the table, the formulas and the comparison of attention with other
/// layers.
void printCostReport(const CostReport &report, llvm::raw_ostream &os);

} // namespace attn

#endif // ATTN_LIB_PIPELINES_COSTREPORT_H
