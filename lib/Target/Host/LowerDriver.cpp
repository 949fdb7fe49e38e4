//===- LowerDriver.cpp - the host function to LLVM --------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Three rewrites of the buffer-level function, then upstream conversions:
//
// - A kernel call fills one `halide_buffer_t` an operand. The structs lie on
// the
//   stack, once for the whole function: a kernel does not keep them.
// - After each call that can fail the function leaves with its code, through
//   one exit block.
// - Arguments are loaded from the tables of the C signature `attn_driver_fn`
//   (attn-c/descriptor.h), as memref descriptors.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

/// Sizes of halide_buffer_t and halide_dimension_t.
static constexpr int64_t bufferBytes = 56, dimBytes = 16;

namespace {
/// Shared by the rewrites: types and small builders.
struct Lowering {
  Driver &driver;
  func::FuncOp function;
  MLIRContext *context;
  OpBuilder builder;
  Location loc;
  LLVM::LLVMPointerType pointer;
  Type i8, i16, i32, i64;
  /// halide_buffer_t and halide_dimension_t of HalideRuntime.h.
  LLVM::LLVMStructType bufferType, dimType;
  /// The context argument, and the stack room of kernel calls.
  Value ctx, buffers, dims;
  Block *exit = nullptr;

  explicit Lowering(Driver &driver)
      : driver(driver), function(driver.function),
        context(function.getContext()), builder(context),
        loc(function.getLoc()), pointer(LLVM::LLVMPointerType::get(context)),
        i8(builder.getI8Type()), i16(builder.getI16Type()),
        i32(builder.getI32Type()), i64(builder.getI64Type()) {
    auto literal = [&](ArrayRef<Type> types) {
      return LLVM::LLVMStructType::getLiteral(context, types);
    };
    bufferType = literal({i64, pointer, pointer, i64, literal({i8, i8, i16}),
                          i32, pointer, pointer});
    dimType = literal({i32, i32, i32, i32});
  }

  Value constant(Type type, int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, type,
                                    builder.getIntegerAttr(type, value));
  }
  Value toI64(Value index) {
    return arith::IndexCastOp::create(builder, loc, i64, index);
  }
  Value field(Value base, Type type, ArrayRef<LLVM::GEPArg> indices) {
    return LLVM::GEPOp::create(builder, loc, pointer, type, base, indices);
  }
  void store(Value value, Value address) {
    LLVM::StoreOp::create(builder, loc, value, address);
  }
  /// Element `number` of a table of pointers or i64.
  Value load(Type type, Value table, int64_t number) {
    Value address = field(
        table, type, {static_cast<LLVM::GEPArg>(static_cast<int32_t>(number))});
    return LLVM::LoadOp::create(builder, loc, type, address);
  }

  LLVM::LLVMFuncOp declare(StringRef name, Type result, TypeRange arguments);
  Value getString(StringRef text);
  void leaveUnlessZero(Value code);

  void lowerCopies();
  void lowerExpandShape(memref::ExpandShapeOp expand);
  void allocateCallRoom();
  Value getAddress(Value memref);
  Value fillBuffer(Value memref, unsigned number, unsigned firstDim,
                   Value &tooLarge);
  void lowerCall(CallOp call);
  void lowerCheck(CheckIdsOp check);
  void lowerCalls();

  Value makeDescriptor(MemRefType type, Value data, ArrayRef<int64_t> sizes,
                       Value dimsTable, Value strides);
  void makeSignature();
  void makeWorkspaceSignature();
  LogicalResult convert();
};
} // namespace

LLVM::LLVMFuncOp Lowering::declare(StringRef name, Type result,
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
Value Lowering::getString(StringRef text) {
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
void Lowering::leaveUnlessZero(Value code) {
  Block *block = builder.getInsertionBlock();
  Block *rest = block->splitBlock(builder.getInsertionPoint());
  builder.setInsertionPointToEnd(block);
  Value failed = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                      code, constant(i32, 0));
  cf::CondBranchOp::create(builder, loc, failed, exit, ValueRange{code}, rest,
                           ValueRange{});
  builder.setInsertionPointToStart(rest);
}

/// Copies of dense buffers become memcpy, others loops.
void Lowering::lowerCopies() {
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
void Lowering::lowerExpandShape(memref::ExpandShapeOp expand) {
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
  SmallVector<OpFoldResult> strides(type.getRank());
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

/// One array of buffer structs and one of dimensions, as large as the largest
/// call needs.
void Lowering::allocateCallRoom() {
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
Value Lowering::getAddress(Value memref) {
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
Value Lowering::fillBuffer(Value memref, unsigned number, unsigned firstDim,
                           Value &tooLarge) {
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
  auto narrow = [&](Value index, bool isStatic) -> Value {
    Value wide = toI64(index);
    if (!isStatic) {
      Value large = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ugt, wide, limit);
      tooLarge = tooLarge ? arith::OrIOp::create(builder, loc, tooLarge, large)
                          : large;
    }
    return LLVM::TruncOp::create(builder, loc, i32, wide);
  };
  for (int32_t h = 0; h < rank; ++h) {
    unsigned axis = rank - 1 - h; // Halide's dimension 0 is the innermost
    int32_t d = firstDim + h;
    auto dimAt = [&](int32_t part) { return field(dims, dimType, {d, part}); };
    store(narrow(metadata.getSizes()[axis], !type.isDynamicDim(axis)),
          dimAt(1));
    // The innermost stride is 1 and is not read from anywhere.
    store(h == 0 ? constant(i32, 1)
                 : narrow(metadata.getStrides()[axis], type.hasStaticShape()),
          dimAt(2));
  }
  return at({n});
}

void Lowering::lowerCall(CallOp call) {
  builder.setInsertionPoint(call);
  loc = call.getLoc();
  SmallVector<Value> arguments{ctx};
  unsigned numBuffers = 0, numDims = 0;
  Value tooLarge;
  for (Value operand : call->getOperands()) {
    if (auto type = dyn_cast<MemRefType>(operand.getType())) {
      arguments.push_back(fillBuffer(operand, numBuffers++, numDims, tooLarge));
      numDims += type.getRank();
    } else if (operand.getType().isIndex()) {
      arguments.push_back(toI64(operand));
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
  LLVM::LLVMFuncOp kernel =
      declare(symbol, i32, ValueRange(arguments).getTypes());
  Value code =
      LLVM::CallOp::create(builder, loc, kernel, arguments).getResult();
  leaveUnlessZero(code);
  call.erase();
}

void Lowering::lowerCheck(CheckIdsOp check) {
  builder.setInsertionPoint(check);
  loc = check.getLoc();
  auto type = cast<MemRefType>(check.getIds().getType());
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, check.getIds());
  // The room of kernel dims is larger than an i64 a dimension.
  for (auto [axis, size] : llvm::enumerate(metadata.getSizes()))
    store(toI64(size), field(dims, i64, {static_cast<int32_t>(axis)}));
  SmallVector<Value> arguments{
      ctx,
      getAddress(check.getIds()),
      constant(i32, type.getElementType().isInteger(64)),
      constant(i64, check.getLimit()),
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

void Lowering::lowerCalls() {
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
    if (isa<CallOp, CheckIdsOp>(op))
      work.push_back(op);
  });
  for (Operation *op : work) {
    if (auto call = dyn_cast<CallOp>(op))
      lowerCall(call);
    else
      lowerCheck(cast<CheckIdsOp>(op));
  }
  loc = function.getLoc();
}

/// A memref over `data`. Dynamic sizes come from the dims; strides from the
/// table `strides`, or are those of a dense tensor.
Value Lowering::makeDescriptor(MemRefType type, Value data,
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
void Lowering::makeSignature() {
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
void Lowering::makeWorkspaceSignature() {
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

LogicalResult Lowering::convert() {
  for (auto kernel :
       llvm::make_early_inc_range(driver.module->getOps<KernelOp>()))
    kernel.erase();
  PassManager pm(context);
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  return pm.run(*driver.module);
}

LogicalResult attn::lowerDriver(Driver &driver) {
  Lowering lowering(driver);
  lowering.lowerCopies();
  driver.function.walk(
      [&](memref::ExpandShapeOp expand) { lowering.lowerExpandShape(expand); });
  lowering.makeSignature();
  lowering.makeWorkspaceSignature();
  lowering.allocateCallRoom();
  lowering.lowerCalls();
  return lowering.convert();
}
