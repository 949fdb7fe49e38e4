//===- BufferizeDriver.cpp - tensors of the host function to buffers *- C++
//-*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Upstream one-shot bufferization with models of the two attn operations that a
// host function holds. Kernel calls are in destination style, so views stay
// views and nothing is copied that need not be. What is left on tensors beside
// calls (data movement, integer arithmetic) becomes plain loops.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

/// Whether a kernel can take the buffer: dense, or any strides but the
/// innermost where it takes strides.
static bool isTaken(MemRefType type, bool strided) {
  if (type.getLayout().isIdentity())
    return true;
  auto [strides, offset] = type.getStridesAndOffset();
  return strided && strides.back() == 1;
}

/// A dense copy of a buffer.
static FailureOr<Value>
makeDenseCopy(RewriterBase &rewriter, Location loc, Value buffer,
              const bufferization::BufferizationOptions &options) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<Value> sizes;
  for (auto [axis, size] : llvm::enumerate(type.getShape()))
    if (ShapedType::isDynamic(size))
      sizes.push_back(memref::DimOp::create(rewriter, loc, buffer, axis));
  FailureOr<Value> copy = options.createAlloc(
      rewriter, loc, MemRefType::get(type.getShape(), type.getElementType()),
      sizes);
  if (failed(copy) ||
      failed(options.createMemCpy(rewriter, loc, buffer, *copy)))
    return failure();
  return copy;
}

namespace {
struct CallModel
    : bufferization::DstBufferizableOpInterfaceExternalModel<CallModel,
                                                             CallOp> {
  /// Outputs are written in full and never read.
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const bufferization::AnalysisState &) const {
    return !cast<CallOp>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) const {
    auto call = cast<CallOp>(op);
    auto strided = call->getAttrOfType<DenseBoolArrayAttr>(stridedInputsName);
    SmallVector<Value> inputs, outputs;
    for (auto [number, value] : llvm::enumerate(call.getInputs())) {
      if (!isa<TensorType>(value.getType())) {
        inputs.push_back(value);
        continue;
      }
      FailureOr<Value> buffer =
          bufferization::getBuffer(rewriter, value, options, state);
      if (failed(buffer))
        return failure();
      inputs.push_back(*buffer);
      auto type = cast<MemRefType>(buffer->getType());
      if (isTaken(type, strided && strided[number]))
        continue;
      FailureOr<Value> copy =
          makeDenseCopy(rewriter, call.getLoc(), *buffer, options);
      if (failed(copy))
        return failure();
      inputs.back() = *copy;
    }
    for (Value value : call.getOutputs()) {
      FailureOr<Value> buffer =
          bufferization::getBuffer(rewriter, value, options, state);
      if (failed(buffer))
        return failure();
      outputs.push_back(*buffer);
    }
    CallOp::create(rewriter, call.getLoc(), TypeRange(), call.getCalleeAttr(),
                   inputs, outputs);
    bufferization::replaceOpWithBufferizedValues(rewriter, op, outputs);
    return success();
  }
};

/// Reads its operand, yields nothing.
struct CheckIdsModel
    : bufferization::BufferizableOpInterface::ExternalModel<CheckIdsModel,
                                                            CheckIdsOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const bufferization::AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const bufferization::AnalysisState &) const {
    return false;
  }
  bufferization::AliasingValueList
  getAliasingValues(Operation *, OpOperand &,
                    const bufferization::AnalysisState &) const {
    return {};
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) const {
    auto check = cast<CheckIdsOp>(op);
    FailureOr<Value> buffer =
        bufferization::getBuffer(rewriter, check.getIds(), options, state);
    if (failed(buffer))
      return failure();
    // The check walks over dense ids.
    if (!isTaken(cast<MemRefType>(buffer->getType()), /*strided=*/false))
      buffer = makeDenseCopy(rewriter, check.getLoc(), *buffer, options);
    if (failed(buffer))
      return failure();
    CheckIdsOp::create(rewriter, check.getLoc(), *buffer, check.getMixedLimit(),
                       check.getName());
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void attn::registerBufferization(DialectRegistry &registry) {
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  registry.addExtension(+[](MLIRContext *context, AttnDialect *) {
    CallOp::attachInterface<CallModel>(*context);
    CheckIdsOp::attachInterface<CheckIdsModel>(*context);
  });
}

LogicalResult attn::bufferizeDriver(Driver &driver) {
  bufferization::OneShotBufferizationOptions options;
  // settleLoopBuffers takes them.
  options.allowReturnAllocsFromLoops = driver.hasLoops;
  bufferization::BufferizationState state;
  if (failed(
          bufferization::runOneShotBufferize(driver.function, options, state)))
    return failure();
  if (driver.hasLoops && failed(settleLoopBuffers(driver)))
    return failure();
  PassManager pm(driver.module->getContext());
  pm.addNestedPass<func::FuncOp>(createLowerAffinePass());
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
  return pm.run(*driver.module);
}
