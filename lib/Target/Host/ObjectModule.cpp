//===- ObjectModule.cpp - everything of a model in one module ---*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Drivers come from MLIR, kernels and run-time are bitcode. Target features are
// attributes of functions, so code for several targets lives in one module, for
// which there is one code generation.
//
//===----------------------------------------------------------------------===//

#include "ObjectModule.h"
#include "Descriptor.h"
#include "Driver.h"
#include "KernelBitcode.h"
#include "LlvmPasses.h"
#include "ObjectLinker.h"
#include "attn/Support/TemporaryFolder.h"
#include "attn/Target/Halide/HalideTarget.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;
using namespace attn;

std::string attn::getModelName(const ObjectOptions &options) {
  if (!options.name.empty())
    return makeIdentifier(options.name);
  StringRef last = llvm::sys::path::filename(options.prefixPath);
  return makeIdentifier(last.empty() ? "model" : last);
}

namespace {
/// Builds an ObjectModule; a method a step.
struct ObjectBuilder {
  ModuleOp top;
  const ObjectOptions &options;
  ObjectModule &result;
  ObjectLinker linker;
  SmallVector<Variant> variants;
  SmallVector<VariantSymbols> symbols;
  /// For the kernels' bitcode.
  TemporaryFolder folder;

  ObjectBuilder(ModuleOp top, const ObjectOptions &options,
                ObjectModule &result)
      : top(top), options(options), result(result), linker(top, result) {}

  LogicalResult run();
  LogicalResult createMachine();
  LogicalResult buildDrivers();
  LogicalResult compileKernels();
  LogicalResult emitData();
};
} // namespace

LogicalResult ObjectBuilder::createMachine() {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  llvm::InitializeAllAsmParsers();
  llvm::Triple triple(variants.front().target->triple);
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return top.emitError("no code generator for ")
           << triple.str() << ": " << error;
  result.machine.reset(target->createTargetMachine(
      triple, triple.isX86() ? "x86-64" : "generic", /*Features=*/"",
      llvm::TargetOptions(), llvm::Reloc::PIC_, /*CM=*/std::nullopt,
      llvm::CodeGenOptLevel::Default));
  return success();
}

/// One LLVM module with all drivers.
LogicalResult ObjectBuilder::buildDrivers() {
  SmallVector<Driver> drivers;
  for (const Variant &variant : variants) {
    FailureOr<Driver> driver =
        buildDriver(variant.module, result.interface, *variant.target);
    if (failed(driver))
      return failure();
    driver->kernelHook = options.kernelHook;
    if (failed(bufferizeDriver(*driver)) || failed(planMemory(*driver)))
      return failure();
    shareInputs(*driver);
    if (failed(placeOnDevice(*driver)) || failed(lowerDriver(*driver)))
      return failure();
    drivers.push_back(std::move(*driver));
    symbols.push_back({variant.target, drivers.back().driverName(),
                       drivers.back().workspaceName()});
  }
  // What holds for the variant that load chooses must hold for each.
  for (size_t i = 0; i < result.interface.outputs.size(); ++i) {
    std::optional<unsigned> input = drivers.front().inPlace[i];
    if (llvm::all_of(drivers, [&](const Driver &driver) {
          return driver.inPlace[i] == input;
        }))
      result.interface.outputs[i].inPlace = input;
  }
  SmallVector<VariantWeights> weights;
  for (auto [variant, driver] : llvm::zip_equal(variants, drivers))
    weights.push_back({variant.module, driver.weights});
  FailureOr<WeightLayout> layout =
      computeWeightLayout(weights, options.sourceDir);
  if (failed(layout))
    return failure();
  result.layout = std::move(*layout);
  for (auto [variant, driver] : llvm::zip_equal(variants, drivers)) {
    std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(
        *driver.module, result.context, result.interface.name);
    if (!module)
      return driver.module->emitError("cannot translate the driver to LLVM IR");
    module->setSourceFileName(result.interface.name);
    module->setTargetTriple(result.machine->getTargetTriple());
    module->setDataLayout(result.machine->createDataLayout());
    addTargetAttributes(*module, *variant.target);
    if (driver.hasLoops)
      optimize(*module, *result.machine);
    if (failed(linker.add(std::move(module))))
      return failure();
  }
  return success();
}

LogicalResult ObjectBuilder::compileKernels() {
  if (std::error_code error = folder.create("attn-kernels"))
    return top.emitError("cannot make a directory for kernels: ")
           << error.message();
  for (const Variant &variant : variants)
    if (failed(attn::compileKernels(variant.module, *variant.target,
                                    folder.path(), KernelOptions())))
      return failure();
  return success();
}

/// The descriptor, and the weights where they are embedded.
LogicalResult ObjectBuilder::emitData() {
  bool embeds = options.embedWeights && !result.layout.stored.empty();
  std::string file;
  if (embeds) {
    // Addresses inside an object are 32 bits apart.
    if (result.layout.fileSize >= (uint64_t(1) << 31) - (1 << 24))
      return top.emitError("expected less than 2 GiB of embedded weights, got ")
             << result.layout.fileSize << " bytes: use --weights=file";
    llvm::raw_string_ostream os(file);
    if (failed(writeWeights(result.layout, result.interface.name,
                            options.sourceDir, os)))
      return failure();
  }
  result.info =
      makeInfo(result.interface, result.layout, result.targets, embeds);
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::json::Value(llvm::json::Object(result.info));
  emitDescriptor(*result.module, result.interface, result.layout, symbols, text,
                 file);
  return success();
}

LogicalResult ObjectBuilder::run() {
  FailureOr<SmallVector<Variant>> found = getVariants(top);
  if (failed(found))
    return failure();
  variants = std::move(*found);
  for (const Variant &variant : variants)
    result.targets.push_back(variant.target->name);
  FailureOr<func::FuncOp> entry = getEntry(variants.front().module);
  if (failed(entry))
    return failure();
  FailureOr<ModelInterface> interface =
      getModelInterface(*entry, getModelName(options));
  if (failed(interface))
    return failure();
  result.interface = std::move(*interface);
  if (failed(createMachine()) || failed(buildDrivers()) ||
      failed(compileKernels()) || failed(emitData()))
    return failure();
  for (const Variant &variant : variants)
    if (failed(linker.addKernels(variant, folder.path())))
      return failure();
  return failure(failed(linker.addRuntime(variants.front().target->triple)) ||
                 failed(linker.addHalideRuntime(variants, folder.path())) ||
                 failed(linker.finish()));
}

LogicalResult attn::buildObjectModule(ModuleOp module,
                                      const ObjectOptions &options,
                                      ObjectModule &result) {
  return ObjectBuilder(module, options, result).run();
}

LogicalResult attn::generateCode(ObjectModule &object, ModuleOp module,
                                 llvm::CodeGenFileType type,
                                 llvm::raw_pwrite_stream &os) {
  llvm::legacy::PassManager manager;
  if (object.machine->addPassesToEmitFile(manager, os, /*DwoOut=*/nullptr,
                                          type))
    return module.emitError("no code generation for ")
           << object.machine->getTargetTriple().str();
  manager.run(*object.module);
  return success();
}
