//===- Driver.h - from a model to a file of any stage ----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What attn-opt does when it is asked for an output (--emit): reads the model,
// runs the stages up to the wanted one, writes the result. Tools that compile
// on the way to something else use the parts.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_PIPELINES_DRIVER_H
#define ATTN_PIPELINES_DRIVER_H

#include "attn/Analysis/CostModel.h"
#include "attn/Import/HuggingFace.h"
#include "attn/Import/Onnx.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <vector>

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace attn {

/// What `--emit` can name, from the first stage to the last.
enum class Emit {
  Graph,
  Fused,
  MaskMap,
  Cost,
  Tiled,
  Host,
  Stmt,
  Ptx,
  OpenCL,
  Metal,
  Spirv,
  LLVM,
  Assembly,
  Object
};

/// The stage of that name ("graph", "obj", ...).
std::optional<Emit> parseEmit(llvm::StringRef name);
/// All names, for messages.
llvm::StringRef emitNames();

/// What the importers can be told, each for its kind of model.
struct ImportOptions {
  HuggingFaceOptions huggingFace;
  OnnxOptions onnx;
};

/// Adds the command line options of all importers to a tool.
void registerImportFlags();
/// What the command line said.
ImportOptions importOptionsFromFlags();

/// One run of the driver.
struct DriverOptions {
  /// A .mlir file of any level, "-" for the standard input, an .onnx file, or a
  /// folder.
  std::string input;
  Emit emit = Emit::Object;
  /// A file, "-" for the standard output; with Emit::Object and Emit::Spirv the
  /// prefix of several files.
  std::string output = "-";
  /// A file with measured tile sizes, or nothing (readTuning).
  std::string tuning;
  /// Names of targets; empty for x86-64-v3 unless the model states one, or for
  /// the device whose code is to be shown.
  std::vector<std::string> targets;
  /// The device that targets of devices are compiled for (allDevices()).
  std::string gpu;
  /// Ranges like batch=1..8. With Emit::Cost a range of one value stays a name
  /// in formulas.
  std::vector<std::string> dims;
  /// What `--machine` says, for Emit::Cost; empty for what a target assumes.
  std::string machine;
  /// Plain loops instead of Halide's kernels.
  bool loops = false;
  bool embedWeights = false;
  bool failIfNotFused = false;
  /// Writes what was done and what not to the standard error.
  bool explain = false;
  /// Verifies the module after each pass, not only after each stage.
  bool verifyEach = false;
  ImportOptions import;
};

/// Reads a model. For each problem that has no place in a file, calls `report`;
/// others are diagnostics. Text is added to `sources`, for a diagnostic handler
/// that shows lines of it. Null if there was any problem.
mlir::OwningOpRef<mlir::ModuleOp>
readModel(llvm::StringRef path, const ImportOptions &import,
          mlir::MLIRContext *context, llvm::SourceMgr &sources,
          llvm::function_ref<void(const llvm::Twine &)> report);

/// Reads a tuning file, as attn-run --tune writes it, and gives the model its
/// entries. Problems as for readModel.
mlir::LogicalResult
readTuning(llvm::StringRef path, mlir::ModuleOp model,
           llvm::function_ref<void(const llvm::Twine &)> report);

/// The folder in which the files that weights name are looked up: the model's
/// folder, or the one its file is in.
std::string modelFolder(llvm::StringRef path);

/// Runs the stages up to `emit` (at most Emit::Tiled) on a module of any level.
/// `cost` becomes what is counted at the fused level; it stays empty if that is
/// not reached.
llvm::LogicalResult lowerModel(mlir::ModuleOp module, Emit emit,
                               const DriverOptions &options,
                               ModelCost *cost = nullptr);

/// Does everything; all problems go to the standard error. Returns the exit
/// status: 0, or 1 if there was a problem.
int runDriver(const DriverOptions &options);

} // namespace attn

#endif // ATTN_PIPELINES_DRIVER_H
