//===- Pipelines.cpp - the stages of the compiler --------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Pipelines.h"
#include "attn/Transforms/Passes.h"

void attn::registerPipelines() { attn::registerAttnPasses(); }
