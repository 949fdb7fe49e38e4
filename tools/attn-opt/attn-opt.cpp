//===- attn-opt.cpp - the compiler's command line --------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Without --emit this is an opt tool: IR and passes in, IR out. Only the
// dialects and upstream passes that this project uses are registered.
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Dialects.h"
#include "attn/Pipelines/Pipelines.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

int main(int argc, char **argv) {
  registerCanonicalizerPass();
  registerCSEPass();
  registerSymbolDCEPass();
  attn::registerPipelines();

  DialectRegistry registry;
  attn::registerDialects(registry);
  return asMainReturnCode(
      MlirOptMain(argc, argv, "attention compiler\n", registry));
}
