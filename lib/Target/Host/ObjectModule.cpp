//===- ObjectModule.cpp - everything of a model in one LLVM module *- C++
//-*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Drivers come from MLIR; kernels, our run-time and Halide's are bitcode.
// LLVM's linker merges them in process, so no linker is needed and the object
// has exactly the C API as its symbols. Kernels were optimised by Halide and
// the run-time by clang: what follows is dead code elimination and one code
// generation. Target features are attributes of functions, so code for several
// targets lives in one module.
//
//===----------------------------------------------------------------------===//

#include "ObjectModule.h"
#include "Descriptor.h"
#include "Driver.h"
#include "KernelBitcode.h"
#include "attn/Runtime/RuntimeBitcode.h"
#include "attn/Support/TemporaryFolder.h"
#include "attn/Target/Halide/HalideTarget.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace mlir;
using namespace attn;

/// Functions of the run-time that start so are the C API.
static constexpr llvm::StringLiteral apiPrefix = "attn_model_";

FailureOr<SmallVector<Variant>> attn::getVariants(ModuleOp module) {
  SmallVector<Variant> variants;
  bool failed = false;
  auto add = [&](ModuleOp variant) {
    auto name = variant->getAttrOfType<StringAttr>("attn.target");
    const TargetInfo *target = name ? lookupTarget(name) : nullptr;
    if (!target) {
      variant.emitError("expected attn.target to be one of ")
          << targetNames() << ", got "
          << (name ? "'" + name.str() + "'" : "none: run attn-select-targets");
      failed = true;
      return;
    }
    for (const Variant &other : variants) {
      if (other.target->triple == target->triple && other.target != target)
        continue;
      variant.emitError("expected different targets of one architecture in an "
                        "object, got ")
          << other.target->name << " and " << target->name;
      failed = true;
      return;
    }
    variants.push_back({variant, target});
  };
  for (ModuleOp nested : module.getOps<ModuleOp>())
    add(nested);
  if (variants.empty() && !failed)
    add(module);
  if (failed)
    return failure();
  return variants;
}

std::string attn::getModelName(const ObjectOptions &options) {
  if (!options.name.empty())
    return makeIdentifier(options.name);
  StringRef last = llvm::sys::path::filename(options.prefixPath);
  return makeIdentifier(last.empty() ? "model" : last);
}

namespace {
struct ObjectBuilder {
  ModuleOp top;
  const ObjectOptions &options;
  ObjectModule &result;
  SmallVector<Variant> variants;
  SmallVector<VariantSymbols> symbols;
  std::unique_ptr<llvm::Linker> linker;
  /// For the kernels' bitcode.
  TemporaryFolder folder;

  LogicalResult run();
  LogicalResult compileKernels();
  LogicalResult buildDrivers();
  LogicalResult createMachine();
  LogicalResult emitData();
  LogicalResult linkKernels(Variant variant);
  LogicalResult linkRuntime();
  LogicalResult linkHalideRuntime();
  LogicalResult finish();

  /// Reads a bitcode file and adapts it to the object's target.
  FailureOr<std::unique_ptr<llvm::Module>> read(llvm::MemoryBufferRef buffer);
  FailureOr<std::unique_ptr<llvm::Module>> readFile(StringRef path);
  LogicalResult link(std::unique_ptr<llvm::Module> module, unsigned flags);
};
} // namespace

FailureOr<std::unique_ptr<llvm::Module>>
ObjectBuilder::read(llvm::MemoryBufferRef buffer) {
  llvm::Expected<std::unique_ptr<llvm::Module>> module =
      llvm::parseBitcodeFile(buffer, result.context);
  if (!module)
    return top.emitError("cannot read bitcode '")
           << buffer.getBufferIdentifier()
           << "': " << llvm::toString(module.takeError());
  dropHalideFlags(**module);
  (*module)->setTargetTriple(result.machine->getTargetTriple());
  (*module)->setDataLayout(result.machine->createDataLayout());
  return std::move(*module);
}

FailureOr<std::unique_ptr<llvm::Module>>
ObjectBuilder::readFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return top.emitError("cannot read '")
           << path << "': " << buffer.getError().message();
  return read((*buffer)->getMemBufferRef());
}

LogicalResult ObjectBuilder::link(std::unique_ptr<llvm::Module> module,
                                  unsigned flags) {
  std::string name = module->getName().str();
  if (linker->linkInModule(std::move(module), flags))
    return top.emitError("cannot link '") << name << "'";
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

/// One LLVM module with all drivers.
LogicalResult ObjectBuilder::buildDrivers() {
  SmallVector<Driver> drivers;
  for (const Variant &variant : variants) {
    FailureOr<Driver> driver =
        buildDriver(variant.module, result.interface, *variant.target);
    if (failed(driver) || failed(bufferizeDriver(*driver)) ||
        failed(planMemory(*driver)) || failed(lowerDriver(*driver)))
      return failure();
    drivers.push_back(std::move(*driver));
    symbols.push_back({variant.target, drivers.back().driverName(),
                       drivers.back().workspaceName()});
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
    if (!result.module) {
      result.module = std::move(module);
      result.module->setPICLevel(llvm::PICLevel::BigPIC);
      linker = std::make_unique<llvm::Linker>(*result.module);
    } else if (failed(link(std::move(module), llvm::Linker::Flags::None))) {
      return failure();
    }
  }
  return success();
}

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

LogicalResult ObjectBuilder::linkKernels(Variant variant) {
  for (KernelOp kernel : variant.module.getOps<KernelOp>()) {
    std::string symbol = getKernelSymbol(kernel, *variant.target);
    SmallString<128> path(folder.path());
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
    checkAllocations(**module);
    if (failed(link(std::move(*module), llvm::Linker::Flags::None)))
      return failure();
  }
  return success();
}

LogicalResult ObjectBuilder::linkRuntime() {
  StringRef triple = variants.front().target->triple;
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

/// Only what is still undefined, and only if anything is: kernels rarely need
/// more than our own definitions.
LogicalResult ObjectBuilder::linkHalideRuntime() {
  bool needed = llvm::any_of(*result.module, [](const llvm::Function &f) {
    return f.isDeclaration() && !f.use_empty() &&
           f.getName().starts_with("halide_");
  });
  if (!needed)
    return success();
  // Its functions run on every CPU that any variant runs on.
  const Variant *least = variants.begin();
  for (const Variant &variant : variants)
    if (llvm::popcount(variant.target->cpuFeatures) <
        llvm::popcount(least->target->cpuFeatures))
      least = &variant;
  SmallString<128> path(folder.path());
  llvm::sys::path::append(path, "halide_runtime.bc");
  if (failed(emitHalideRuntime(*least->target, path,
                               [&] { return top.emitError(); })))
    return failure();
  FailureOr<std::unique_ptr<llvm::Module>> module = readFile(path);
  if (failed(module))
    return failure();
  // Its global destructors and forced symbols keep a thread pool alive that
  // nobody uses.
  for (StringRef name : {"llvm.global_dtors", "llvm.used"})
    if (llvm::GlobalVariable *variable = (*module)->getNamedGlobal(name))
      variable->eraseFromParent();
  return link(std::move(*module), llvm::Linker::Flags::LinkOnlyNeeded);
}

/// Names, visibility, dead code.
LogicalResult ObjectBuilder::finish() {
  llvm::Module &module = *result.module;
  SmallVector<llvm::Function *> api;
  for (llvm::Function &function : module)
    if (!function.isDeclaration() && function.getName().starts_with(apiPrefix))
      api.push_back(&function);
  for (llvm::Function *function : api)
    function->setName(result.interface.name + "_" +
                      function->getName().drop_front(apiPrefix.size()));
  llvm::internalizeModule(module, [&](const llvm::GlobalValue &value) {
    return llvm::is_contained(api, &value);
  });
  llvm::PassBuilder passes(result.machine.get());
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(components);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager manager;
  manager.addPass(llvm::GlobalDCEPass());
  manager.run(module, modules);

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
    if (failed(linkKernels(variant)))
      return failure();
  return failure(failed(linkRuntime()) || failed(linkHalideRuntime()) ||
                 failed(finish()));
}

LogicalResult attn::buildObjectModule(ModuleOp module,
                                      const ObjectOptions &options,
                                      ObjectModule &result) {
  return ObjectBuilder{module, options, result, {}, {}, {}, {}}.run();
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
