//===- KernelCalls.cpp - calls of kernels with Halide's structs -*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A kernel call fills one `halide_buffer_t` an operand. The structs lie on the
// stack, once for the whole function: a kernel does not keep them. After each
// call that can fail the function leaves with its code, through one exit block.
//
//===----------------------------------------------------------------------===//

#include "DriverLowering.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace attn;

/// Sizes of halide_buffer_t and halide_dimension_t.
static constexpr int64_t bufferBytes = 56, dimBytes = 16;

LLVM::LLVMFuncOp DriverLowering::declare(StringRef name, Type result,
                                         TypeRange arguments) {
  if (auto existing = driver.module->lookupSymbol<LLVM::LLVMFuncOp>(name))
    return existing;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(driver.module->getBody());
  return LLVM::LLVMFuncOp::create(
      builder, loc, name,
      LLVM::LLVMFunctionType::get(result, llvm::to_vector(arguments)));
}

/// The address of a null-terminated constant.
Value DriverLowering::getString(StringRef text) {
  std::string name;
  unsigned number = 0;
  std::string bytes = text.str() + '\0';
  LLVM::GlobalOp global;
  do {
    name = (driver.driverName() + "_text_" + Twine(number++)).str();
    global = driver.module->lookupSymbol<LLVM::GlobalOp>(name);
  } while (global && cast<StringAttr>(*global.getValue()).getValue() != bytes);
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(driver.module->getBody());
    global = LLVM::GlobalOp::create(builder, loc,
                                    LLVM::LLVMArrayType::get(i8, bytes.size()),
                                    /*isConstant=*/true, LLVM::Linkage::Private,
                                    name, builder.getStringAttr(bytes));
  }
  return LLVM::AddressOfOp::create(builder, loc, global);
}

/// Ends the block: goes to the exit with `code` unless that is 0. The builder
/// is at the start of the rest afterwards.
void DriverLowering::leaveUnlessZero(Value code) {
  Block *block = builder.getInsertionBlock();
  Block *rest = block->splitBlock(builder.getInsertionPoint());
  builder.setInsertionPointToEnd(block);
  Value failed = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                      code, constant(i32, 0));
  cf::CondBranchOp::create(builder, loc, failed, exit, ValueRange{code}, rest,
                           ValueRange{});
  builder.setInsertionPointToStart(rest);
}

/// One array of buffer structs and one of dimensions, as large as the largest
/// call needs.
void DriverLowering::allocateCallRoom() {
  int64_t maxBuffers = 1, maxDims = 1;
  auto add = [&](ValueRange values) {
    int64_t numBuffers = 0, numDims = 0;
    for (Value value : values)
      if (auto type = dyn_cast<MemRefType>(value.getType())) {
        ++numBuffers;
        numDims += type.getRank();
      }
    maxBuffers = std::max(maxBuffers, numBuffers);
    maxDims = std::max(maxDims, numDims);
  };
  function.walk([&](CallOp call) { add(call->getOperands()); });
  function.walk([&](CheckIdsOp check) { add(check->getOperands()); });
  function.walk([&](DeviceCopyOp copy) { add(copy->getOperands()); });
  builder.setInsertionPointToStart(&function.front());
  buffers = LLVM::AllocaOp::create(builder, loc, pointer, bufferType,
                                   constant(i32, maxBuffers), /*alignment=*/8);
  dims = LLVM::AllocaOp::create(builder, loc, pointer, dimType,
                                constant(i32, maxDims), /*alignment=*/8);
  // What is zero in every call (device, flags, minima) is written once.
  for (auto [room, bytes] : {std::pair(buffers, maxBuffers * bufferBytes),
                             std::pair(dims, maxDims * dimBytes)})
    LLVM::MemsetOp::create(builder, loc, room, constant(i8, 0),
                           constant(i64, bytes), /*isVolatile=*/false);
}

/// The address of a buffer's first element.
Value DriverLowering::getAddress(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  Value base =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  Value address = LLVM::IntToPtrOp::create(builder, loc, pointer, toI64(base));
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  Value offset = arith::MulIOp::create(
      builder, loc, toI64(metadata.getOffset()),
      arith::ConstantIntOp::create(builder, loc, i64,
                                   getElementBytes(type.getElementType())));
  return LLVM::GEPOp::create(builder, loc, pointer, i8, address,
                             ArrayRef<LLVM::GEPArg>{offset});
}

/// Halide's type code and bits.
static std::pair<int64_t, int64_t> getHalideType(Type type) {
  if (type.isInteger(1))
    return {1, 8}; // a byte
  if (type.isBF16())
    return {4, 16};
  return {isa<FloatType>(type) ? 2 : 0, type.getIntOrFloatBitWidth()};
}

/// Fills struct `number`; adds to `tooLarge` the sizes that 32 bits do not
/// hold.
Value DriverLowering::fillBuffer(Value memref, unsigned number,
                                 unsigned firstDim, Value &tooLarge) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t rank = type.getRank();
  auto at = [&](ArrayRef<LLVM::GEPArg> indices) {
    return field(buffers, bufferType, indices);
  };
  int32_t n = number;
  auto [code, bits] = getHalideType(type.getElementType());
  Value dim = field(dims, dimType, {static_cast<int32_t>(firstDim)});
  store(getAddress(memref), at({n, 2}));
  store(constant(i8, code), at({n, 4, 0}));
  store(constant(i8, bits), at({n, 4, 1}));
  store(constant(i16, 1), at({n, 4, 2}));
  store(constant(i32, rank), at({n, 5}));
  store(dim, at({n, 6}));
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  Value limit = arith::ConstantIntOp::create(builder, loc, i64, INT32_MAX);
  auto narrow = [&](Value index, int64_t known) -> Value {
    Value wide = toI64(index);
    if (ShapedType::isDynamic(known) || known > INT32_MAX) {
      Value large = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ugt, wide, limit);
      tooLarge = tooLarge ? arith::OrIOp::create(builder, loc, tooLarge, large)
                          : large;
    }
    return LLVM::TruncOp::create(builder, loc, i32, wide);
  };
  auto [knownStrides, knownOffset] = type.getStridesAndOffset();
  for (int32_t h = 0; h < rank; ++h) {
    unsigned axis = rank - 1 - h; // Halide's dimension 0 is the innermost
    int32_t d = firstDim + h;
    auto dimAt = [&](int32_t part) { return field(dims, dimType, {d, part}); };
    Value size = metadata.getSizes()[axis];
    store(narrow(size, type.getDimSize(axis)), dimAt(1));
    // The innermost stride is 1 and is not read from anywhere.
    if (h == 0) {
      store(constant(i32, 1), dimAt(2));
      continue;
    }
    // That of a single entry is never used, and may be anything.
    Value stride = metadata.getStrides()[axis];
    int64_t known = knownStrides[axis];
    if (type.getDimSize(axis) == 1) {
      stride = arith::ConstantIndexOp::create(builder, loc, 0);
      known = 0;
    } else if (type.isDynamicDim(axis) && ShapedType::isDynamic(known)) {
      Value isSingle = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ule, size,
          arith::ConstantIndexOp::create(builder, loc, 1));
      stride = arith::SelectOp::create(
          builder, loc, isSingle,
          arith::ConstantIndexOp::create(builder, loc, 0), stride);
    }
    store(narrow(stride, known), dimAt(2));
  }
  return at({n});
}

/// Tells whoever asked for it that a kernel begins or is done.
void DriverLowering::callHook(StringRef kernel, bool isDone) {
  if (driver.kernelHook.empty())
    return;
  LLVM::LLVMFuncOp hook = declare(
      driver.kernelHook, LLVM::LLVMVoidType::get(context), {pointer, i32});
  LLVM::CallOp::create(builder, loc, hook,
                       ValueRange{getString(kernel), constant(i32, isDone)});
}

void DriverLowering::lowerCall(CallOp call) {
  builder.setInsertionPoint(call);
  loc = call.getLoc();
  auto callee = driver.module->lookupSymbol<KernelOp>(call.getCallee());
  bool isLoopKernel = callee && callee.isLoopKernel();
  SmallVector<Value> arguments{ctx};
  unsigned numBuffers = 0, numDims = 0;
  Value tooLarge;
  SmallVector<std::pair<Value, bool>> onDevice;
  for (Value operand : call->getOperands()) {
    if (auto type = dyn_cast<MemRefType>(operand.getType())) {
      arguments.push_back(fillBuffer(operand, numBuffers++, numDims, tooLarge));
      numDims += type.getRank();
      onDevice.emplace_back(arguments.back(),
                            llvm::is_contained(call.getOutputs(), operand));
    } else if (operand.getType().isIndex()) {
      arguments.push_back(toI64(operand));
    } else if ((operand.getType().isF16() || operand.getType().isBF16()) &&
               !isLoopKernel) {
      // Halide's kernels take their bits.
      arguments.push_back(LLVM::BitcastOp::create(builder, loc, i16, operand));
    } else {
      arguments.push_back(operand);
    }
  }
  std::string symbol =
      (call.getCallee() + "__" + driver.target->symbolSuffix).str();
  if (tooLarge) {
    // Kernels index with Halide's 32-bit sizes.
    LLVM::LLVMFuncOp report =
        declare("attn_rt_too_large", i32, {pointer, pointer});
    Block *block = builder.getInsertionBlock();
    Block *rest = block->splitBlock(builder.getInsertionPoint());
    Block *bad = builder.createBlock(rest);
    Value code =
        LLVM::CallOp::create(builder, loc, report,
                             ValueRange{ctx, getString(call.getCallee())})
            .getResult();
    cf::BranchOp::create(builder, loc, exit, ValueRange{code});
    builder.setInsertionPointToEnd(block);
    cf::CondBranchOp::create(builder, loc, tooLarge, bad, rest);
    builder.setInsertionPointToStart(rest);
  }
  // The device's memory in the place of the host's.
  if (auto roots = call->getAttrOfType<DenseI64ArrayAttr>(deviceRootsName))
    for (auto [root, operand] : llvm::zip_equal(roots.asArrayRef(), onDevice))
      leaveUnlessZero(callRuntime("attn_rt_device_operand",
                                  {ctx, constant(i32, root), operand.first,
                                   constant(i32, operand.second)}));
  LLVM::LLVMFuncOp kernel =
      declare(symbol, i32, ValueRange(arguments).getTypes());
  callHook(call.getCallee(), /*isDone=*/false);
  Value code =
      LLVM::CallOp::create(builder, loc, kernel, arguments).getResult();
  callHook(call.getCallee(), /*isDone=*/true);
  leaveUnlessZero(code);
  if (call->hasAttr(deviceRootsName))
    leaveUnlessZero(callRuntime("attn_rt_device_done", {ctx}));
  call.erase();
}

/// What the run-time's function `name` answers.
Value DriverLowering::callRuntime(StringRef name, ValueRange arguments) {
  LLVM::LLVMFuncOp callee = declare(name, i32, arguments.getTypes());
  return LLVM::CallOp::create(builder, loc, callee, arguments).getResult();
}

void DriverLowering::lowerTransfer(TransferOp transfer) {
  builder.setInsertionPoint(transfer);
  loc = transfer.getLoc();
  Value buffer = transfer.getBuffer();
  auto type = cast<MemRefType>(buffer.getType());
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
  Value bytes = constant(i64, getElementBytes(type.getElementType()));
  for (Value size : metadata.getSizes())
    bytes = LLVM::MulOp::create(builder, loc, bytes, toI64(size));
  // UNLESS_BOUND, IF_BOUND and ALWAYS of the run-time's Device.h.
  int64_t when = transfer.getUnlessBound() ? 1 : transfer.getIfBound() ? 2 : 0;
  leaveUnlessZero(callRuntime(
      "attn_rt_transfer",
      {ctx, constant(i32, *transfer.getRoot()), getAddress(buffer), bytes,
       constant(i32, transfer.getToDevice()), constant(i32, when)}));
  transfer.erase();
}

void DriverLowering::lowerDeviceCopy(DeviceCopyOp copy) {
  builder.setInsertionPoint(copy);
  loc = copy.getLoc();
  Value tooLarge;
  int64_t rank = cast<MemRefType>(copy.getSource().getType()).getRank();
  Value from = fillBuffer(copy.getSource(), 0, 0, tooLarge);
  Value to = fillBuffer(copy.getTarget(), 1, rank, tooLarge);
  Value code = callRuntime("attn_rt_device_copy",
                           {ctx, constant(i32, *copy.getSourceRoot()), from,
                            constant(i32, *copy.getTargetRoot()), to});
  leaveUnlessZero(code);
  copy.erase();
}

void DriverLowering::lowerCheck(CheckIdsOp check) {
  builder.setInsertionPoint(check);
  loc = check.getLoc();
  auto type = cast<MemRefType>(check.getIds().getType());
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, check.getIds());
  // The room of kernel dims is larger than an i64 a dimension.
  for (auto [axis, size] : llvm::enumerate(metadata.getSizes()))
    store(toI64(size), field(dims, i64, {static_cast<int32_t>(axis)}));
  Value limit = check.getBound()
                    ? toI64(check.getBound())
                    : constant(i64, static_cast<int64_t>(*check.getLimit()));
  SmallVector<Value> arguments{
      ctx,
      getAddress(check.getIds()),
      constant(i32, type.getElementType().isInteger(64)),
      limit,
      getString(check.getName()),
      constant(i32, type.getRank()),
      dims};
  LLVM::LLVMFuncOp callee =
      declare("attn_rt_check_ids", i32, ValueRange(arguments).getTypes());
  Value code =
      LLVM::CallOp::create(builder, loc, callee, arguments).getResult();
  leaveUnlessZero(code);
  check.erase();
}

void DriverLowering::lowerCalls() {
  Region &region = function.getBody();
  exit = new Block();
  region.push_back(exit);
  Value code = exit->addArgument(i32, loc);
  builder.setInsertionPointToEnd(exit);
  func::ReturnOp::create(builder, loc, code);

  Operation *terminator = region.front().getTerminator();
  builder.setInsertionPoint(terminator);
  cf::BranchOp::create(builder, loc, exit, ValueRange{constant(i32, 0)});
  terminator->erase();

  SmallVector<Operation *> work;
  function.walk([&](Operation *op) {
    if (isa<CallOp, CheckIdsOp, TransferOp, DeviceCopyOp>(op))
      work.push_back(op);
  });
  for (Operation *op : work) {
    if (auto call = dyn_cast<CallOp>(op))
      lowerCall(call);
    else if (auto transfer = dyn_cast<TransferOp>(op))
      lowerTransfer(transfer);
    else if (auto copy = dyn_cast<DeviceCopyOp>(op))
      lowerDeviceCopy(copy);
    else
      lowerCheck(cast<CheckIdsOp>(op));
  }
  loc = function.getLoc();
}
