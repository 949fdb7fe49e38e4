//===- KernelArguments.cpp - a kernel's signature as Halide parameters ----===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Names are positional (arg0, arg1, ...): equal kernels give equal bytes. What
// the host guarantees about buffers (minimum 0, innermost stride 1, static
// sizes) is told to Halide here, because no_asserts makes it an assumption of
// the code.
//
//===----------------------------------------------------------------------===//
#include "ExprEmitter.h"

using namespace mlir;
using namespace attn;

/// Static sizes, minimum 0, innermost stride 1, for one tensor type.
template <typename Buffer>
static void describe(Buffer &buffer, RankedTensorType type) {
  for (int64_t dim = 0, rank = type.getRank(); dim < rank; ++dim) {
    auto halideDim = buffer.dim(rank - 1 - dim);
    if (type.isDynamicDim(dim))
      halideDim.set_min(0);
    else
      halideDim.set_bounds(0, static_cast<int32_t>(type.getDimSize(dim)));
    if (dim == rank - 1)
      halideDim.set_stride(1);
  }
}

/// The type of a tensor's elements in memory: i1 is a byte.
static std::optional<Halide::Type> getStorageType(Type type) {
  if (type.isInteger(1))
    return Halide::UInt(8);
  std::optional<Halide::Type> halideType = getHalideType(type);
  return type.isIndex() ? std::nullopt : halideType;
}

void attn::describeOutput(Halide::OutputImageParam output,
                          RankedTensorType type) {
  describe(output, type);
}

FailureOr<KernelArguments> attn::bindKernelArguments(KernelOp kernel,
                                                     ExprEmitter &values) {
  KernelArguments result;
  for (auto [number, argument] : llvm::enumerate(kernel.getArguments())) {
    std::string name = "arg" + std::to_string(number);
    Type type = argument.getType();
    result.tensors.emplace_back();
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      std::optional<Halide::Type> element =
          getStorageType(tensor.getElementType());
      if (!element)
        return kernel.emitOpError("not supported by the Halide target: "
                                  "argument ")
               << number << " of type " << type;
      for (auto [dim, size] : llvm::enumerate(tensor.getShape()))
        if (!ShapedType::isDynamic(size) && !llvm::isInt<32>(size))
          return kernel.emitOpError("expected sizes below 2^31 (because the "
                                    "Halide target indexes with 32 bits), got ")
                 << size << " in dimension " << dim << " of argument "
                 << number;
      Halide::ImageParam param(*element, tensor.getRank(), name);
      describe(param, tensor);
      result.args.push_back(param);
      result.tensors.back() = param;
      values.bindTensor(argument, param);
      continue;
    }
    std::optional<Halide::Type> scalar =
        type.isIndex() ? Halide::Int(64) : getHalideType(type);
    if (!scalar)
      return kernel.emitOpError("not supported by the Halide target: argument ")
             << number << " of type " << type;
    Halide::Param<> param(*scalar, name);
    result.args.push_back(param);
    Halide::Expr value = param;
    values.bind(argument,
                type.isIndex() ? Halide::cast<int32_t>(value) : value);
  }
  return result;
}
