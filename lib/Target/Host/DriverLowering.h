//===- DriverLowering.h - state of the last lowering ------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Shared by the rewrites that turn a host function over buffers into LLVM:
// KernelCalls.cpp has those of calls, LowerDriver.cpp the others.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TARGET_HOST_DRIVERLOWERING_H
#define ATTN_LIB_TARGET_HOST_DRIVERLOWERING_H

#include "Driver.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace attn {

/// Shared by the rewrites: types and small builders.
struct DriverLowering {
  Driver &driver;
  mlir::func::FuncOp function;
  mlir::MLIRContext *context;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::LLVM::LLVMPointerType pointer;
  mlir::Type i8, i16, i32, i64;
  /// halide_buffer_t and halide_dimension_t of HalideRuntime.h.
  mlir::LLVM::LLVMStructType bufferType, dimType;
  /// The context argument, and the stack room of kernel calls.
  mlir::Value ctx, buffers, dims;
  mlir::Block *exit = nullptr;

  explicit DriverLowering(Driver &driver)
      : driver(driver), function(driver.function),
        context(function.getContext()), builder(context),
        loc(function.getLoc()),
        pointer(mlir::LLVM::LLVMPointerType::get(context)),
        i8(builder.getI8Type()), i16(builder.getI16Type()),
        i32(builder.getI32Type()), i64(builder.getI64Type()) {
    auto literal = [&](llvm::ArrayRef<mlir::Type> types) {
      return mlir::LLVM::LLVMStructType::getLiteral(context, types);
    };
    bufferType = literal({i64, pointer, pointer, i64, literal({i8, i8, i16}),
                          i32, pointer, pointer});
    dimType = literal({i32, i32, i32, i32});
  }

  mlir::Value constant(mlir::Type type, int64_t value) {
    return mlir::LLVM::ConstantOp::create(builder, loc, type,
                                          builder.getIntegerAttr(type, value));
  }
  mlir::Value toI64(mlir::Value index) {
    return mlir::arith::IndexCastOp::create(builder, loc, i64, index);
  }
  mlir::Value field(mlir::Value base, mlir::Type type,
                    llvm::ArrayRef<mlir::LLVM::GEPArg> indices) {
    return mlir::LLVM::GEPOp::create(builder, loc, pointer, type, base,
                                     indices);
  }
  void store(mlir::Value value, mlir::Value address) {
    mlir::LLVM::StoreOp::create(builder, loc, value, address);
  }
  /// Element `number` of a table of pointers or i64.
  mlir::Value load(mlir::Type type, mlir::Value table, int64_t number) {
    mlir::Value address =
        field(table, type,
              {static_cast<mlir::LLVM::GEPArg>(static_cast<int32_t>(number))});
    return mlir::LLVM::LoadOp::create(builder, loc, type, address);
  }

  // KernelCalls.cpp
  mlir::LLVM::LLVMFuncOp declare(llvm::StringRef name, mlir::Type result,
                                 mlir::TypeRange arguments);
  mlir::Value getString(llvm::StringRef text);
  void leaveUnlessZero(mlir::Value code);

  void allocateCallRoom();
  mlir::Value getAddress(mlir::Value memref);
  mlir::Value fillBuffer(mlir::Value memref, unsigned number, unsigned firstDim,
                         mlir::Value &tooLarge);
  void callHook(llvm::StringRef kernel, bool isDone);
  void lowerCall(CallOp call);
  void lowerCheck(CheckIdsOp check);
  mlir::Value callRuntime(llvm::StringRef name, mlir::ValueRange arguments);
  void lowerTransfer(TransferOp transfer);
  void lowerDeviceCopy(DeviceCopyOp copy);
  void lowerCalls();

  // LowerDriver.cpp
  void lowerCopies();
  void lowerExpandShape(mlir::memref::ExpandShapeOp expand);
  mlir::Value makeDescriptor(mlir::MemRefType type, mlir::Value data,
                             llvm::ArrayRef<int64_t> sizes,
                             mlir::Value dimsTable, mlir::Value strides);
  void makeSignature();
  void makeWorkspaceSignature();
  mlir::LogicalResult convert();
};

} // namespace attn

#endif // ATTN_LIB_TARGET_HOST_DRIVERLOWERING_H
