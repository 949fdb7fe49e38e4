//===- HostTarget.cpp - tiled level to object, header, weights --*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The outputs. Files are opened before anything is compiled, so that a path
// that cannot be written costs nothing, and take their places when all are
// complete.
//
//===----------------------------------------------------------------------===//

#include "attn/Target/Host/HostTarget.h"
#include "Driver.h"
#include "ObjectModule.h"
#include "Variants.h"
#include "attn/Dialect/IR/PrintNamed.h"
#include "attn/Support/OutputFiles.h"
#include "attn/Support/Problems.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

using namespace mlir;
using namespace attn;

void attn::registerHostTarget(DialectRegistry &registry) {
  registry.insert<affine::AffineDialect, bufferization::BufferizationDialect,
                  cf::ControlFlowDialect, linalg::LinalgDialect,
                  LLVM::LLVMDialect, memref::MemRefDialect, scf::SCFDialect>();
  registerBufferization(registry);
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  registerConvertMemRefToLLVMInterface(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

/// The stream of PREFIX + extension; null after an error.
static llvm::raw_fd_ostream *open(OutputFiles &files, ModuleOp module,
                                  const ObjectOptions &options,
                                  StringRef extension) {
  llvm::Expected<llvm::raw_fd_ostream *> file =
      files.open(options.prefixPath + extension.str());
  if (file)
    return *file;
  module.emitError() << llvm::toString(file.takeError());
  return nullptr;
}

/// Reports a full disk and the like.
static LogicalResult report(ModuleOp module, llvm::Error error) {
  if (!error)
    return success();
  forEachProblem(std::move(error),
                 [&](StringRef problem) { module.emitError() << problem; });
  return failure();
}

static void writeManifest(const ObjectModule &object,
                          const std::optional<ModelCost> &cost,
                          uint64_t objectBytes, raw_ostream &os) {
  llvm::json::Object manifest = object.info;
  if (cost)
    manifest["cost"] = makeCost(*cost);
  llvm::json::Array weights;
  for (const StoredWeight &weight : object.layout.stored)
    weights.push_back(
        llvm::json::Object{{"name", weight.name},
                           {"offset", static_cast<int64_t>(weight.offset)},
                           {"bytes", static_cast<int64_t>(weight.size)}});
  manifest["stored"] = std::move(weights);
  manifest["object_bytes"] = static_cast<int64_t>(objectBytes);
  os << llvm::formatv("{0:2}", llvm::json::Value(std::move(manifest))) << "\n";
}

LogicalResult attn::emitObject(ModuleOp module, const ObjectOptions &options) {
  if (options.prefixPath.empty())
    return module.emitError("expected -o with the prefix of the outputs, got "
                            "none");
  OutputFiles files;
  llvm::raw_fd_ostream *object = open(files, module, options, ".o");
  llvm::raw_fd_ostream *header = open(files, module, options, ".h");
  llvm::raw_fd_ostream *json = open(files, module, options, ".json");
  if (!object || !header || !json)
    return failure();
  ObjectModule model;
  if (failed(buildObjectModule(module, options, model)))
    return failure();
  bool embeds = options.embedWeights;
  if (!model.layout.stored.empty() && !embeds) {
    llvm::raw_fd_ostream *weights = open(files, module, options, ".weights");
    if (!weights)
      return failure();
    LogicalResult written =
        writeWeights(model.layout, model.interface.name, options.sourceDir,
                     *weights, [&] { return weights->has_error(); });
    if (failed(report(module, files.check())) || failed(written))
      return failure();
  }
  if (failed(generateCode(model, module, llvm::CodeGenFileType::ObjectFile,
                          *object)))
    return failure();
  writeHeader(model.interface, model.layout, embeds, *header);
  writeManifest(model, options.cost, object->tell(), *json);
  return report(module, files.commit());
}

LogicalResult attn::emitLLVMText(ModuleOp module, const ObjectOptions &options,
                                 raw_ostream &os) {
  ObjectModule model;
  if (failed(buildObjectModule(module, options, model)))
    return failure();
  model.module->print(os, nullptr);
  return success();
}

LogicalResult attn::emitAssemblyText(ModuleOp module,
                                     const ObjectOptions &options,
                                     raw_ostream &os) {
  ObjectModule model;
  if (failed(buildObjectModule(module, options, model)))
    return failure();
  SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  if (failed(generateCode(model, module, llvm::CodeGenFileType::AssemblyFile,
                          stream)))
    return failure();
  os << text;
  return success();
}

LogicalResult attn::emitHostText(ModuleOp module, const ObjectOptions &options,
                                 bool lowered, raw_ostream &os) {
  FailureOr<SmallVector<Variant>> variants = getVariants(module);
  if (failed(variants))
    return failure();
  for (const Variant &variant : *variants) {
    FailureOr<func::FuncOp> entry = getEntry(variant.module);
    if (failed(entry))
      return failure();
    FailureOr<ModelInterface> interface =
        getModelInterface(*entry, getModelName(options));
    if (failed(interface))
      return failure();
    FailureOr<Driver> driver =
        buildDriver(variant.module, *interface, *variant.target);
    if (failed(driver) || failed(bufferizeDriver(*driver)) ||
        failed(planMemory(*driver)))
      return failure();
    shareInputs(*driver);
    if (failed(placeOnDevice(*driver)) ||
        (lowered && failed(lowerDriver(*driver))))
      return failure();
    // Kernels are what --emit=tiled shows.
    driver->module->walk([&](FunctionOpInterface function) {
      if (isa<KernelOp>(function))
        return;
      printNamed(function, os);
    });
  }
  return success();
}
