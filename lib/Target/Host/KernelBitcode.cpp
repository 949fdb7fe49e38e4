//===- KernelBitcode.cpp - what kernels' bitcode needs ----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "KernelBitcode.h"
#include "mlir/Support/LLVM.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace mlir;
using namespace attn;

/// halide_error_code_out_of_memory.
static constexpr int outOfMemory = -11;

void attn::dropHalideFlags(llvm::Module &module) {
  llvm::NamedMDNode *flags = module.getModuleFlagsMetadata();
  if (!flags)
    return;
  SmallVector<llvm::MDNode *> kept;
  for (llvm::MDNode *flag : flags->operands())
    if (!cast<llvm::MDString>(flag->getOperand(1))
             ->getString()
             .starts_with("halide_"))
      kept.push_back(flag);
  flags->clearOperands();
  for (llvm::MDNode *flag : kept)
    flags->addOperand(flag);
}

void attn::checkAllocations(llvm::Module &module) {
  llvm::Function *allocate = module.getFunction("halide_malloc");
  if (!allocate)
    return;
  for (llvm::User *user : llvm::make_early_inc_range(allocate->users())) {
    auto *call = dyn_cast<llvm::CallInst>(user);
    if (!call || call->getCalledFunction() != allocate ||
        !call->getFunction()->getReturnType()->isIntegerTy(32))
      continue;
    llvm::IRBuilder<> builder(call->getNextNode());
    llvm::Instruction *leave = llvm::SplitBlockAndInsertIfThen(
        builder.CreateIsNull(call), call->getNextNode()->getNextNode(),
        /*Unreachable=*/true);
    llvm::ReplaceInstWithInst(
        leave, llvm::ReturnInst::Create(
                   module.getContext(),
                   llvm::ConstantInt::get(builder.getInt32Ty(), outOfMemory,
                                          /*IsSigned=*/true)));
  }
}

void attn::addTargetAttributes(llvm::Module &module, const TargetInfo &target) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    if (!function.hasFnAttribute("target-cpu"))
      function.addFnAttr("target-cpu", target.llvmCpu);
    if (!function.hasFnAttribute("target-features") &&
        !target.llvmFeatures.empty())
      function.addFnAttr("target-features", target.llvmFeatures);
  }
}

void attn::prefetchIntoSecondLevel(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
          call && call->getIntrinsicID() == llvm::Intrinsic::prefetch)
        call->setArgOperand(
            2, llvm::ConstantInt::get(call->getArgOperand(2)->getType(), 2));
}
