//===- RuntimeBitcode.h - the run-time of generated objects -----*- C++ -*-===//
//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C sources in lib/Runtime are compiled to LLVM bitcode when attn-opt is
// built and are part of the program. This header hands the modules out.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_RUNTIMEBITCODE_H
#define ATTN_RUNTIME_RUNTIMEBITCODE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace attn {

/// Returns the bitcode module of the run-time for a target triple, e.g.
/// `x86_64-unknown-linux-gnu`; empty where this build has none for it. A null
/// byte follows the data, as llvm::MemoryBuffer wants.
llvm::StringRef getRuntimeBitcode(llvm::StringRef triple);

/// Returns the triples that `getRuntimeBitcode` knows.
llvm::SmallVector<llvm::StringRef> getRuntimeTriples();

} // namespace attn

#endif // ATTN_RUNTIME_RUNTIMEBITCODE_H
