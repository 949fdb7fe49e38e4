//===- attn-lsp-server.cpp - language server for .mlir files ---*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Upstream's MLIR language server with this project's dialects: an editor shows
// errors, definitions and documentation while a model is edited.
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Dialects.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

using namespace mlir;

int main(int argc, char **argv) {
  DialectRegistry registry;
  attn::registerDialects(registry);
  return failed(MlirLspServerMain(argc, argv, registry));
}
