//===- consumer.cpp - a tool outside of the project -----------------------===//
//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a module with attn operations and counts them.
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Dialects.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  mlir::DialectRegistry registry;
  attn::registerDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module)
    return 1;
  int count = 0;
  module->walk([&](mlir::Operation *op) {
    if (op->getName().getDialectNamespace() == "attn")
      ++count;
  });
  llvm::outs() << count << " operations of the attn dialect\n";
  return 0;
}
