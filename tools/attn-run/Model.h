//===- Model.h - the model that a run is about -----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A model is read once and kept as it was read: for the reference, for the
// ranges of random inputs, and for compiling. Compiling works on a copy, by the
// same stages as attn-opt --emit=obj.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TOOLS_ATTN_RUN_MODEL_H
#define ATTN_TOOLS_ATTN_RUN_MODEL_H

#include "Interface.h"
#include "attn/Analysis/TargetInfo.h"
#include "attn/Pipelines/Cost.h"
#include "attn/Pipelines/Driver.h"
#include "attn/Support/Problems.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

#include <memory>
#include <optional>

namespace mlir {
class SourceMgrDiagnosticHandler;
} // namespace mlir

namespace attn::run {

class Model {
public:
  /// Reads a .mlir file or a folder and names its dims. Diagnostics go to the
  /// standard error; null then.
  static std::unique_ptr<Model> read(llvm::StringRef path,
                                     const ImportOptions &import);

  /// Imports an ONNX model that was read from `path`. Null if that failed:
  /// problems are added, and the names of inputs whose values must be known.
  static std::unique_ptr<Model>
  importOnnx(const onnx::Model &onnx, llvm::StringRef path,
             const OnnxOptions &options, Problems &problems,
             std::vector<std::string> &unknownInputs);
  ~Model();

  mlir::ModuleOp module() { return *graph; }
  /// Where the files that weights name are.
  llvm::StringRef folder() const { return sourceFolder; }

  /// Lets `look` see the model's kernels at the fused level. Nothing after
  /// diagnostics.
  void atFusedLevel(llvm::function_ref<void(mlir::ModuleOp)> look);

  /// Called on what is compiled, at the graph, the fused and the tiled level.
  using Rewrite = llvm::function_ref<void(mlir::ModuleOp, Emit)>;

  /// Compiles for `target` (the best that this CPU can run if empty) and writes
  /// PREFIX.o and its companions. False if there were diagnostics.
  /// `kernelHook` as ObjectOptions says.
  bool compile(llvm::StringRef prefix, llvm::StringRef target, bool loops,
               Rewrite rewrite = nullptr, llvm::StringRef kernelHook = "");

  /// What attn-opt --emit=cost says for these dims; none after diagnostics.
  std::optional<CostReport> cost(const llvm::StringMap<int64_t> &dims,
                                 const TargetInfo &target,
                                 const Machine &machine);

  /// Operations of a run, see CostModel.h; none if unknown.
  std::optional<double> flops(const llvm::StringMap<int64_t> &dims);

private:
  Model();
  static std::unique_ptr<Model> create(llvm::StringRef path);

  mlir::MLIRContext context;
  llvm::SourceMgr sources;
  std::unique_ptr<mlir::SourceMgrDiagnosticHandler> handler;
  std::string path, sourceFolder;
  mlir::OwningOpRef<mlir::ModuleOp> graph;
};

/// The error of a step whose diagnostics were already printed.
llvm::Error reported();

/// The name of the best target that this CPU can run.
llvm::StringRef hostTarget();
/// Whether this CPU can run what is compiled for a target.
bool runsHere(const TargetInfo &target);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_MODEL_H
