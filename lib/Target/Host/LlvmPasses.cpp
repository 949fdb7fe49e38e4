//===- LlvmPasses.cpp - LLVM's passes over a module -------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "LlvmPasses.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"

using namespace attn;

static void
run(llvm::Module &module, llvm::TargetMachine &machine,
    llvm::function_ref<llvm::ModulePassManager(llvm::PassBuilder &)> build) {
  llvm::PassBuilder passes(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(components);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, components, modules);
  build(passes).run(module, modules);
}

void attn::dropDeadCode(llvm::Module &module, llvm::TargetMachine &machine) {
  run(module, machine, [](llvm::PassBuilder &) {
    llvm::ModulePassManager manager;
    manager.addPass(llvm::GlobalDCEPass());
    return manager;
  });
}

void attn::optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  run(module, machine, [](llvm::PassBuilder &passes) {
    return passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2);
  });
}
