//===- Driver.h - from the host function to LLVM ----------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The steps, in order, each a function of its own:
//
//   buildDriver      the entry function in terms of buffers: results, weights
//                    and dims become arguments; kernels with a loops schedule
//                    become part of it (inlineLoopKernels)
//   bufferizeDriver  upstream one-shot bufferization; no buffer leaves a loop
//                    (settleLoopBuffers)
//   planMemory       no allocation is left: outputs are written in place, all
//                    else lies in one workspace
//   shareInputs      an output that continues an input may have its memory
//   placeOnDevice    for a device: copies between its memory and the host's
//   lowerDriver      kernel calls with Halide's buffer structs, the C
//                    signature, the LLVM dialect
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TARGET_HOST_DRIVER_H
#define ATTN_LIB_TARGET_HOST_DRIVER_H

#include "ModelInterface.h"
#include "attn/Analysis/TargetInfo.h"
#include "mlir/IR/OwningOpRef.h"

namespace attn {

/// The host function of one variant on its way to LLVM.
struct Driver {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  const ModelInterface *interface;
  const TargetInfo *target;
  /// Weights in the order of the driver's table.
  llvm::SmallVector<std::string> weights;
  /// Whether `function` holds kernels as loops.
  bool hasLoops = false;
  /// See ObjectOptions.
  std::string kernelHook;
  /// For each output the input whose memory it may be given.
  llvm::SmallVector<std::optional<unsigned>> inPlace = {};

  /// Arguments of `function` between buildDriver and lowerDriver: inputs,
  /// outputs, weights, dims; planMemory adds the workspace at the end.
  unsigned firstOutput() const { return interface->inputs.size(); }
  unsigned firstWeight() const {
    return firstOutput() + interface->outputs.size();
  }
  unsigned firstDim() const { return firstWeight() + weights.size(); }
  unsigned workspace() const { return firstDim() + interface->dims.size(); }
  /// Symbols of the lowered functions.
  std::string driverName() const {
    return interface->name + "__driver_" + target->symbolSuffix.str();
  }
  std::string workspaceName() const {
    return interface->name + "__workspace_" + target->symbolSuffix.str();
  }
};

/// Discardable attribute of an attn.call: which inputs take strides.
inline constexpr llvm::StringLiteral stridedInputsName = "strided_inputs";

/// The same: the run-time's numbers of the tensors that are its operands.
inline constexpr llvm::StringLiteral deviceRootsName = "device_roots";

mlir::FailureOr<Driver> buildDriver(mlir::ModuleOp variant,
                                    const ModelInterface &interface,
                                    const TargetInfo &target);
llvm::LogicalResult inlineLoopKernels(Driver &driver);
llvm::LogicalResult bufferizeDriver(Driver &driver);
llvm::LogicalResult settleLoopBuffers(Driver &driver);
llvm::LogicalResult planMemory(Driver &driver);
void shareInputs(Driver &driver);
llvm::LogicalResult placeOnDevice(Driver &driver);
llvm::LogicalResult lowerDriver(Driver &driver);

/// Bufferization models of attn.call and attn.check_ids.
void registerBufferization(mlir::DialectRegistry &registry);

} // namespace attn

#endif // ATTN_LIB_TARGET_HOST_DRIVER_H
