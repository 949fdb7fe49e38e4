//===- Dialects.h - what attn-opt can read ---------------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTN_PIPELINES_DIALECTS_H
#define ATTN_PIPELINES_DIALECTS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace attn {

/// Registers the attn dialect and the upstream dialects that any level or any
/// lowering of this project uses, and nothing else: each dialect costs start-up
/// time and binary size.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace attn

#endif // ATTN_PIPELINES_DIALECTS_H
