//===- LowerDriver.cpp - the host function to LLVM --------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Rewrites of the buffer-level function, then upstream conversions: copies and
// reshapes here, kernel calls in KernelCalls.cpp, and the signature: arguments
// are loaded from the tables of `attn_driver_fn` (attn-c/descriptor.h), as
// memref descriptors.
//
//===----------------------------------------------------------------------===//

#include "DriverLowering.h"
#include "HostScalars.h"
#include "attn/Conversion/AttnToLoops/AttnToLoops.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/Passes.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;
using namespace attn;

/// Copies of dense buffers become memcpy, others loops.
void DriverLowering::lowerCopies() {
  function.walk([&](memref::CopyOp copy) {
    auto isDense = [](Value value) {
      return cast<MemRefType>(value.getType()).getLayout().isIdentity();
    };
    if (isDense(copy.getSource()) && isDense(copy.getTarget()))
      return;
    builder.setInsertionPoint(copy);
    linalg::makeMemRefCopyOp(builder, copy.getLoc(), copy.getSource(),
                             copy.getTarget());
    copy.erase();
  });
}

/// A view with explicit sizes and strides: upstream's expansion knows only
/// groups of dimensions of which at most one is dynamic.
void DriverLowering::lowerExpandShape(memref::ExpandShapeOp expand) {
  builder.setInsertionPoint(expand);
  Location loc = expand.getLoc();
  auto type = cast<MemRefType>(expand.getType());
  auto source =
      memref::ExtractStridedMetadataOp::create(builder, loc, expand.getSrc());
  auto [staticStrides, staticOffset] = type.getStridesAndOffset();
  auto staticOr = [&](int64_t number, Value value) -> OpFoldResult {
    if (ShapedType::isDynamic(number))
      return value;
    return builder.getIndexAttr(number);
  };
  SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape();
  // A view of one element has no group that says more.
  SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
  for (auto [group, axes] : llvm::enumerate(expand.getReassociationIndices())) {
    Value stride = source.getStrides()[group];
    for (int64_t axis : llvm::reverse(axes)) {
      strides[axis] = staticOr(staticStrides[axis], stride);
      stride = arith::MulIOp::create(
          builder, loc, stride,
          getValueOrCreateConstantIndexOp(builder, loc, sizes[axis]));
    }
  }
  auto view = memref::ReinterpretCastOp::create(
      builder, loc, type, source.getBaseBuffer(),
      staticOr(staticOffset, source.getOffset()), sizes, strides);
  expand.replaceAllUsesWith(view.getResult());
  expand.erase();
}

/// A memref over `data`. Dynamic sizes come from the dims; strides from the
/// table `strides`, or are those of a dense tensor.
Value DriverLowering::makeDescriptor(MemRefType type, Value data,
                                     ArrayRef<int64_t> sizes, Value dimsTable,
                                     Value strides) {
  LLVMTypeConverter converter(context);
  Type descriptorType = converter.convertType(type);
  auto descriptor = MemRefDescriptor::poison(builder, loc, descriptorType);
  descriptor.setAllocatedPtr(builder, loc, data);
  descriptor.setAlignedPtr(builder, loc, data);
  descriptor.setOffset(builder, loc, constant(i64, 0));
  Value run = constant(i64, 1);
  for (int64_t axis = type.getRank() - 1; axis >= 0; --axis) {
    Value size = type.isDynamicDim(axis)
                     ? load(i64, dimsTable, -1 - sizes[axis])
                     : constant(i64, type.getDimSize(axis));
    descriptor.setSize(builder, loc, axis, size);
    bool isDense = type.getLayout().isIdentity() || axis == type.getRank() - 1;
    descriptor.setStride(builder, loc, axis,
                         isDense ? run : load(i64, strides, axis));
    if (type.getLayout().isIdentity() && axis)
      run = LLVM::MulOp::create(builder, loc, run, size);
  }
  return UnrealizedConversionCastOp::create(builder, loc, type,
                                            Value(descriptor))
      .getResult(0);
}

/// Puts the C signature in front of the buffer arguments and removes them.
void DriverLowering::makeSignature() {
  Block &entry = function.front();
  unsigned count = entry.getNumArguments();
  enum {
    Ctx,
    Workspace,
    Dims,
    Inputs,
    InStrides,
    Outputs,
    OutStrides,
    Weights
  };
  SmallVector<Value> tables;
  for (int i = 0; i <= Weights; ++i)
    tables.push_back(entry.addArgument(pointer, loc));
  ctx = tables[Ctx];
  builder.setInsertionPointToStart(&entry);
  auto replace = [&](unsigned number, Value value) {
    entry.getArgument(number).replaceAllUsesWith(value);
  };
  auto makeTensor = [&](unsigned number, const ModelTensor &tensor, Value data,
                        Value strides, unsigned at) {
    auto type = cast<MemRefType>(entry.getArgument(number).getType());
    replace(number, makeDescriptor(type, load(pointer, data, at), tensor.sizes,
                                   tables[Dims], load(pointer, strides, at)));
  };
  for (auto [i, tensor] : llvm::enumerate(driver.interface->inputs))
    makeTensor(i, tensor, tables[Inputs], tables[InStrides], i);
  for (auto [i, tensor] : llvm::enumerate(driver.interface->outputs))
    makeTensor(driver.firstOutput() + i, tensor, tables[Outputs],
               tables[OutStrides], i);
  for (unsigned i = 0; i < driver.weights.size(); ++i) {
    unsigned number = driver.firstWeight() + i;
    replace(number, makeDescriptor(
                        cast<MemRefType>(entry.getArgument(number).getType()),
                        load(pointer, tables[Weights], i), {}, {}, {}));
  }
  for (unsigned i = 0; i < driver.interface->dims.size(); ++i)
    replace(driver.firstDim() + i,
            arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                       load(i64, tables[Dims], i)));
  // The workspace was checked to be large enough; its length is not needed.
  auto bytes = cast<MemRefType>(entry.getArgument(count - 1).getType());
  LLVMTypeConverter converter(context);
  auto workspace =
      MemRefDescriptor::poison(builder, loc, converter.convertType(bytes));
  workspace.setAllocatedPtr(builder, loc, tables[Workspace]);
  workspace.setAlignedPtr(builder, loc, tables[Workspace]);
  workspace.setOffset(builder, loc, constant(i64, 0));
  workspace.setSize(builder, loc, 0, constant(i64, INT64_MAX));
  workspace.setStride(builder, loc, 0, constant(i64, 1));
  replace(count - 1, UnrealizedConversionCastOp::create(builder, loc, bytes,
                                                        Value(workspace))
                         .getResult(0));
  entry.eraseArguments(0, count);
  function.setFunctionType(
      FunctionType::get(context, entry.getArgumentTypes(), i32));
}

/// int64_t(const int64_t *dims) instead of one index argument a dim.
void DriverLowering::makeWorkspaceSignature() {
  auto workspace =
      driver.module->lookupSymbol<func::FuncOp>(driver.workspaceName());
  Block &entry = workspace.front();
  unsigned count = entry.getNumArguments();
  Value table = entry.addArgument(pointer, loc);
  builder.setInsertionPointToStart(&entry);
  for (unsigned i = 0; i < count; ++i)
    entry.getArgument(i).replaceAllUsesWith(arith::IndexCastOp::create(
        builder, loc, builder.getIndexType(), load(i64, table, i)));
  entry.eraseArguments(0, count);
  workspace.setFunctionType(FunctionType::get(context, {pointer}, i64));
}

/// LLVM has neither activations nor divisions that round up or down.
static void expandScalars(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  populateActivationPatterns(patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  walkAndApplyPatterns(function, std::move(patterns));
}

/// Functions that LLVM has no intrinsic for become calls of libm. Upstream's
/// pass knows no others than those of libm, and takes rsqrt for one.
static LogicalResult callLibm(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateMathToLibmConversionPatterns(patterns);
  ConversionTarget target(*module.getContext());
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  target.addIllegalOp<math::AcoshOp, math::AsinhOp, math::AtanhOp, math::CbrtOp,
                      math::ErfOp, math::ErfcOp>();
  return applyPartialConversion(module, target, std::move(patterns));
}

/// In memory an i1 is a byte, and any value but 0 is true: the caller's bytes
/// are not of our making.
static void loadBytesForBools(ModuleOp module) {
  module.walk([](LLVM::LoadOp load) {
    if (!load.getType().isInteger(1))
      return;
    OpBuilder builder(load);
    Location loc = load.getLoc();
    Type i8 = builder.getI8Type();
    Value byte = LLVM::LoadOp::create(builder, loc, i8, load.getAddr());
    Value zero = LLVM::ConstantOp::create(builder, loc, i8,
                                          builder.getIntegerAttr(i8, 0));
    load.replaceAllUsesWith(Value(LLVM::ICmpOp::create(
        builder, loc, LLVM::ICmpPredicate::ne, byte, zero)));
    load.erase();
  });
}

LogicalResult DriverLowering::convert() {
  for (auto kernel :
       llvm::make_early_inc_range(driver.module->getOps<KernelOp>()))
    kernel.erase();
  expandScalars(function);
  expandNarrowFloats(function, *driver.target);
  PassManager pm(context);
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  if (failed(pm.run(*driver.module)) || failed(callLibm(*driver.module)))
    return failure();
  pm.clear();
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  if (failed(pm.run(*driver.module)))
    return failure();
  loadBytesForBools(*driver.module);
  return success();
}

LogicalResult attn::lowerDriver(Driver &driver) {
  DriverLowering lowering(driver);
  lowering.lowerCopies();
  driver.function.walk(
      [&](memref::ExpandShapeOp expand) { lowering.lowerExpandShape(expand); });
  lowering.makeSignature();
  lowering.makeWorkspaceSignature();
  lowering.allocateCallRoom();
  lowering.lowerCalls();
  return lowering.convert();
}
