//===- ObjectLinker.cpp - parts of an object become one ---------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Kernels, our run-time and Halide's are bitcode. LLVM's linker merges them
// with the drivers in process, so no linker is needed and the object has
// exactly the C API as its symbols. Kernels were optimised by Halide, the
// run-time by clang and drivers with loops when they were made: what follows is
// dead code elimination.
//
//===----------------------------------------------------------------------===//

#include "ObjectLinker.h"
#include "KernelBitcode.h"
#include "LlvmPasses.h"
#include "attn/Dialect/IR/Attn.h"
#include "attn/Runtime/RuntimeBitcode.h"
#include "attn/Target/Halide/HalideTarget.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace mlir;
using namespace attn;

/// Functions of the run-time that start so are the C API.
static constexpr llvm::StringLiteral apiPrefix = "attn_model_";

FailureOr<std::unique_ptr<llvm::Module>>
ObjectLinker::read(llvm::MemoryBufferRef buffer) {
  llvm::Expected<std::unique_ptr<llvm::Module>> module =
      llvm::parseBitcodeFile(buffer, object.context);
  if (!module)
    return top.emitError("cannot read bitcode '")
           << buffer.getBufferIdentifier()
           << "': " << llvm::toString(module.takeError());
  dropHalideFlags(**module);
  (*module)->setTargetTriple(object.machine->getTargetTriple());
  (*module)->setDataLayout(object.machine->createDataLayout());
  return std::move(*module);
}

FailureOr<std::unique_ptr<llvm::Module>>
ObjectLinker::readFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return top.emitError("cannot read '")
           << path << "': " << buffer.getError().message();
  return read((*buffer)->getMemBufferRef());
}

LogicalResult ObjectLinker::link(std::unique_ptr<llvm::Module> module,
                                 unsigned flags) {
  std::string name = module->getName().str();
  if (linker->linkInModule(std::move(module), flags))
    return top.emitError("cannot link '") << name << "'";
  return success();
}

LogicalResult ObjectLinker::add(std::unique_ptr<llvm::Module> module) {
  if (linker)
    return link(std::move(module), llvm::Linker::Flags::None);
  object.module = std::move(module);
  object.module->setPICLevel(llvm::PICLevel::BigPIC);
  linker = std::make_unique<llvm::Linker>(*object.module);
  return success();
}

LogicalResult ObjectLinker::addKernels(Variant variant, StringRef folder) {
  for (KernelOp kernel : variant.module.getOps<KernelOp>()) {
    if (kernel.isLoopKernel()) // Part of the driver.
      continue;
    std::string symbol = getKernelSymbol(kernel, *variant.target);
    SmallString<128> path(folder);
    llvm::sys::path::append(path, symbol + ".bc");
    FailureOr<std::unique_ptr<llvm::Module>> module = readFile(path);
    if (failed(module))
      return failure();
    if (!(*module)->getFunction(symbol))
      return kernel.emitError("expected a function '")
             << symbol << "' in '" << path << "', got none";
    (*module)->setModuleIdentifier(symbol);
    // Helpers of a kernel are compiled for its target: none may stand in for
    // that of another.
    llvm::internalizeModule(**module, [&](const llvm::GlobalValue &value) {
      return value.getName() == symbol;
    });
    addTargetAttributes(**module, *variant.target);
    prefetchIntoSecondLevel(**module);
    checkAllocations(**module);
    if (failed(link(std::move(*module), llvm::Linker::Flags::None)))
      return failure();
  }
  return success();
}

LogicalResult ObjectLinker::addRuntime(StringRef triple) {
  StringRef bitcode = getRuntimeBitcode(triple);
  if (bitcode.empty())
    return top.emitError("expected a target whose run-time this attn-opt has (")
           << llvm::join(getRuntimeTriples(), ", ") << "), got " << triple;
  FailureOr<std::unique_ptr<llvm::Module>> module =
      read(llvm::MemoryBufferRef(bitcode, "run-time"));
  if (failed(module) ||
      failed(link(std::move(*module), llvm::Linker::Flags::None)))
    return failure();
  return success();
}

/// Whether a function answers Halide's run-time for devices behind an interface
/// that no variant has.
static bool isUnusedHook(StringRef name, ArrayRef<Variant> variants) {
  for (auto [part, api] : {std::pair(StringRef("_cl_"), DeviceApi::OpenCL),
                           {"_opencl_", DeviceApi::OpenCL},
                           {"_cuda_", DeviceApi::Cuda},
                           {"_vulkan_", DeviceApi::Vulkan}})
    if (name.contains(part))
      return llvm::none_of(variants, [&, wanted = api](const Variant &variant) {
        return variant.target->api == wanted;
      });
  return false;
}

void ObjectLinker::dropUnusedRuntime(ArrayRef<Variant> variants) {
  llvm::internalizeModule(*object.module, [&](const llvm::GlobalValue &value) {
    StringRef name = value.getName();
    return name.starts_with(apiPrefix) ||
           (name.starts_with("halide_") && !isUnusedHook(name, variants));
  });
  dropDeadCode(*object.module, *object.machine);
}

/// Halide's run-time for devices registers itself in constructors. They become
/// the body of a function that ours calls when it needs a device: an object
/// does nothing when a program starts.
static void callConstructors(llvm::Module &module) {
  llvm::LLVMContext &context = module.getContext();
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  auto *all = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                     "attn_rt_run_constructors", module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", all));
  if (llvm::GlobalVariable *list = module.getNamedGlobal("llvm.global_ctors")) {
    for (llvm::Use &entry :
         llvm::cast<llvm::ConstantArray>(list->getInitializer())->operands())
      builder.CreateCall(type, llvm::cast<llvm::Constant>(entry)
                                   ->getOperand(1)
                                   ->stripPointerCasts());
    list->eraseFromParent();
  }
  builder.CreateRetVoid();
}

/// Only what is still undefined, and only if anything is: kernels rarely need
/// more than our own definitions.
LogicalResult ObjectLinker::addHalideRuntime(ArrayRef<Variant> variants,
                                             StringRef folder) {
  dropUnusedRuntime(variants);
  bool needed = llvm::any_of(*object.module, [](const llvm::Function &f) {
    return f.isDeclaration() && !f.use_empty() &&
           f.getName().starts_with("halide_");
  });
  if (!needed)
    return success();
  SmallString<128> path(folder);
  llvm::sys::path::append(path, "halide_runtime.bc");
  auto targets = llvm::map_to_vector(
      variants, [](const Variant &variant) { return variant.target; });
  if (failed(emitHalideRuntime(targets, path, [&] { return top.emitError(); })))
    return failure();
  FailureOr<std::unique_ptr<llvm::Module>> module = readFile(path);
  if (failed(module))
    return failure();
  if (llvm::any_of(variants, [](const Variant &variant) {
        return variant.target->isGpu();
      }))
    callConstructors(**module);
  // Ours looks at launches first, and at errors of Vulkan.
  if (llvm::Function *run = (*module)->getFunction("halide_cuda_run"))
    run->setName("attn_rt_run_cuda");
  if (llvm::Function *run = (*module)->getFunction("halide_vulkan_run")) {
    run->setName("attn_rt_run_vulkan");
    llvm::Function *error = (*module)->getFunction("halide_error");
    error->deleteBody();
    error->setName("halide_vulkan_error");
  }
  // Its global destructors and forced symbols keep a thread pool alive that
  // nobody uses.
  for (StringRef name : {"llvm.global_dtors", "llvm.used"})
    if (llvm::GlobalVariable *variable = (*module)->getNamedGlobal(name))
      variable->eraseFromParent();
  return link(std::move(*module), llvm::Linker::Flags::LinkOnlyNeeded);
}

/// Names, visibility, dead code.
LogicalResult ObjectLinker::finish() {
  llvm::Module &module = *object.module;
  SmallVector<llvm::Function *> api;
  for (llvm::Function &function : module)
    if (!function.isDeclaration() && function.getName().starts_with(apiPrefix))
      api.push_back(&function);
  for (llvm::Function *function : api)
    function->setName(object.interface.name + "_" +
                      function->getName().drop_front(apiPrefix.size()));
  llvm::internalizeModule(module, [&](const llvm::GlobalValue &value) {
    return llvm::is_contained(api, &value);
  });
  dropDeadCode(module, *object.machine);

  bool failed = false;
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() &&
        (function.getName().starts_with("halide_") ||
         function.getName().starts_with("attn_"))) {
      top.emitError("expected kernels that need nothing but libc, libm and "
                    "pthread, got one that calls ")
          << function.getName();
      failed = true;
    }
  std::string text;
  llvm::raw_string_ostream os(text);
  if (llvm::verifyModule(module, &os)) {
    top.emitError("the merged module is not valid: ") << text;
    failed = true;
  }
  return failure(failed);
}
