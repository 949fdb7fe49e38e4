//===- BuildDriver.cpp - the entry function over buffers --------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// All that a driver gets from outside becomes an argument: inputs and weights
// are read-only buffers (bufferization.to_tensor), results are stored into
// buffers of the caller, dims are index arguments. After that bufferization
// needs to know nothing of weights or dims.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "KernelStrides.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;

/// A buffer for a tensor: dense, or any strides but the innermost.
static MemRefType getBufferType(RankedTensorType type, bool strided) {
  MemRefLayoutAttrInterface layout;
  if (strided && type.getRank() > 0) {
    SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
    strides.back() = 1;
    layout = StridedLayoutAttr::get(type.getContext(), /*offset=*/0, strides);
  }
  return MemRefType::get(type.getShape(), type.getElementType(), layout);
}

namespace {
struct DriverBuilder {
  Driver &driver;
  func::FuncOp function;
  Block &body;
  OpBuilder builder;

  explicit DriverBuilder(Driver &driver)
      : driver(driver), function(driver.function), body(function.front()),
        builder(function.getContext()) {}

  /// Uses of a tensor value read a new buffer argument instead.
  void replaceByBuffer(Value value, BlockArgument buffer) {
    builder.setInsertionPointToStart(&body);
    value.replaceAllUsesWith(bufferization::ToTensorOp::create(
        builder, value.getLoc(), value.getType(), buffer, /*restrict=*/true));
  }

  void convertInputs() {
    unsigned count = driver.interface->inputs.size();
    for (unsigned i = 0; i < count; ++i) {
      BlockArgument argument = body.getArgument(i);
      auto type = cast<RankedTensorType>(argument.getType());
      BlockArgument buffer = body.addArgument(
          getBufferType(type, driver.interface->inputs[i].strided),
          argument.getLoc());
      replaceByBuffer(argument, buffer);
    }
    body.eraseArguments(0, count);
  }

  void convertOutputs() {
    auto terminator = cast<func::ReturnOp>(body.getTerminator());
    for (auto [i, value] : llvm::enumerate(terminator.getOperands())) {
      BlockArgument buffer = body.addArgument(
          getBufferType(cast<RankedTensorType>(value.getType()),
                        driver.interface->outputs[i].strided),
          value.getLoc());
      builder.setInsertionPoint(terminator);
      bufferization::MaterializeInDestinationOp::create(
          builder, terminator.getLoc(), /*result=*/Type(), value, buffer,
          /*restrict=*/true, /*writable=*/true);
    }
    terminator->setOperands({});
  }

  void convertWeights() {
    llvm::StringMap<BlockArgument> buffers;
    for (auto ref : llvm::make_early_inc_range(body.getOps<WeightRefOp>())) {
      BlockArgument &buffer = buffers[ref.getWeight()];
      if (!buffer) {
        driver.weights.push_back(ref.getWeight().str());
        buffer = body.addArgument(
            getBufferType(cast<RankedTensorType>(ref.getType()), false),
            ref.getLoc());
      }
      replaceByBuffer(ref, buffer);
      ref.erase();
    }
  }

  /// tensor.dim of an input and attn.dim_size become the dim's argument.
  LogicalResult convertDims() {
    llvm::StringMap<unsigned> numbers;
    for (const ModelDim &dim : driver.interface->dims) {
      numbers[dim.name] = body.getNumArguments();
      body.addArgument(builder.getIndexType(), function.getLoc());
    }
    bool failed = false;
    body.walk([&](DimSizeOp op) {
      auto it = numbers.find(op.getDim());
      if (it == numbers.end()) {
        op.emitOpError("expected a dim of an argument of the model, got @")
            << op.getDim();
        failed = true;
        return;
      }
      op.replaceAllUsesWith(Value(body.getArgument(it->second)));
      op.erase();
    });
    body.walk([&](tensor::DimOp op) {
      auto source = op.getSource().getDefiningOp<bufferization::ToTensorOp>();
      std::optional<int64_t> axis = op.getConstantIndex();
      if (!source || !axis)
        return;
      unsigned number = cast<BlockArgument>(source.getBuffer()).getArgNumber();
      if (number >= driver.interface->inputs.size())
        return;
      int64_t size = driver.interface->inputs[number].sizes[*axis];
      if (size >= 0)
        return;
      op.replaceAllUsesWith(
          Value(body.getArgument(driver.firstDim() + -1 - size)));
      op.erase();
    });
    return failure(failed);
  }

  /// Each call writes to a destination of its own (equal tensor.empty were
  /// merged), and knows which of its inputs may have strides.
  void prepareCalls() {
    body.walk([&](CallOp call) {
      builder.setInsertionPoint(call);
      for (OpOperand &output : call.getOutputsMutable())
        if (auto empty = output.get().getDefiningOp<tensor::EmptyOp>())
          output.set(builder.clone(*empty)->getResult(0));
      auto kernel = SymbolTable::lookupNearestSymbolFrom<KernelOp>(
          call, call.getCalleeAttr());
      SmallVector<bool> strided;
      for (unsigned i = 0; i < call.getInputs().size(); ++i)
        strided.push_back(takesStrides(kernel, i));
      call->setAttr(stridedInputsName, builder.getDenseBoolArrayAttr(strided));
    });
  }

  /// For the reader of --emit=host.
  void nameArguments() {
    const ModelInterface &interface = *driver.interface;
    std::vector<std::string> names;
    for (const ModelTensor &input : interface.inputs)
      names.push_back(input.name);
    for (const ModelTensor &output : interface.outputs)
      names.push_back(output.name);
    llvm::append_range(names, driver.weights);
    for (const ModelDim &dim : interface.dims)
      names.push_back(dim.name);
    for (auto [argument, name] : llvm::zip_equal(body.getArguments(), names))
      argument.setLoc(
          NameLoc::get(builder.getStringAttr(name), function.getLoc()));
  }

  /// Nothing refers to them any more.
  void dropWeightsAndDims() {
    for (Operation &op : llvm::make_early_inc_range(*driver.module->getBody()))
      if (isa<WeightOp, DimOp>(op))
        op.erase();
  }
};
} // namespace

FailureOr<Driver> attn::buildDriver(ModuleOp variant,
                                    const ModelInterface &interface,
                                    const TargetInfo &target) {
  // This library creates their operations outside of passes.
  variant.getContext()
      ->loadDialect<arith::ArithDialect, bufferization::BufferizationDialect,
                    cf::ControlFlowDialect, func::FuncDialect,
                    linalg::LinalgDialect, LLVM::LLVMDialect,
                    memref::MemRefDialect, scf::SCFDialect,
                    tensor::TensorDialect>();
  Driver driver;
  driver.module = cast<ModuleOp>(variant->clone());
  driver.interface = &interface;
  driver.target = &target;
  FailureOr<func::FuncOp> entry = getEntry(*driver.module);
  if (failed(entry))
    return failure();
  driver.function = *entry;
  if (failed(inlineLoopKernels(driver)))
    return failure();
  DriverBuilder builder(driver);
  builder.prepareCalls();
  builder.convertInputs();
  builder.convertOutputs();
  builder.convertWeights();
  if (failed(builder.convertDims()))
    return failure();
  builder.nameArguments();
  builder.dropWeightsAndDims();
  Block &body = driver.function.front();
  driver.function.removeArgAttrsAttr();
  driver.function.removeResAttrsAttr();
  driver.function.setFunctionType(FunctionType::get(
      variant.getContext(), body.getArgumentTypes(), TypeRange()));
  driver.function.setSymName(driver.driverName());
  driver.function.setPrivate();
  return driver;
}
