//===- Descriptor.cpp - a model's descriptor as LLVM constants --*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The structs of attn-c/descriptor.h, field by field. Their fields are 8 bytes
// wide or pairs of 4 bytes, so literal LLVM structs have the layout of C.
//
//===----------------------------------------------------------------------===//

#include "Descriptor.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"

using namespace attn;
using llvm::ArrayRef;
using llvm::Constant;
using llvm::StringRef;

namespace {
struct DescriptorEmitter {
  llvm::Module &module;
  llvm::LLVMContext &context;

  explicit DescriptorEmitter(llvm::Module &module)
      : module(module), context(module.getContext()) {}

  Constant *i32(int64_t value) {
    return llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value, true);
  }
  Constant *i64(int64_t value) {
    return llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), value, true);
  }
  Constant *null() {
    return llvm::ConstantPointerNull::get(llvm::PointerType::get(context, 0));
  }
  Constant *structOf(ArrayRef<Constant *> fields) {
    return llvm::ConstantStruct::getAnon(context, fields);
  }
  Constant *global(Constant *value, llvm::Align alignment) {
    auto *variable = new llvm::GlobalVariable(
        module, value->getType(), /*isConstant=*/true,
        llvm::GlobalValue::PrivateLinkage, value, "attn_model_data");
    variable->setAlignment(alignment);
    return variable;
  }
  Constant *string(StringRef text) {
    return global(llvm::ConstantDataArray::getString(context, text),
                  llvm::Align(1));
  }
  /// The address of an array of equal structs, null if there are none.
  Constant *array(ArrayRef<Constant *> elements) {
    if (elements.empty())
      return null();
    auto *type =
        llvm::ArrayType::get(elements.front()->getType(), elements.size());
    return global(llvm::ConstantArray::get(type, elements), llvm::Align(8));
  }

  Constant *tensors(ArrayRef<ModelTensor> list) {
    llvm::SmallVector<Constant *> elements;
    for (const ModelTensor &tensor : list) {
      llvm::SmallVector<Constant *> sizes;
      for (int64_t size : tensor.sizes)
        sizes.push_back(i64(size));
      elements.push_back(
          structOf({string(tensor.name), i32(tensor.type),
                    i32(tensor.sizes.size()), array(sizes), i32(tensor.strided),
                    i32(tensor.inPlace ? 1 + *tensor.inPlace : 0)}));
    }
    return array(elements);
  }

  Constant *dims(ArrayRef<ModelDim> list) {
    llvm::SmallVector<Constant *> elements;
    for (const ModelDim &dim : list)
      elements.push_back(
          structOf({string(dim.name), i64(dim.min), i64(dim.max)}));
    return array(elements);
  }

  Constant *stored(ArrayRef<StoredWeight> list) {
    llvm::SmallVector<Constant *> elements;
    for (const StoredWeight &weight : list)
      elements.push_back(structOf(
          {string(weight.name), i64(weight.offset), i64(weight.size)}));
    return array(elements);
  }

  Constant *weights(ArrayRef<attn_variant_weight> list) {
    llvm::SmallVector<Constant *> elements;
    for (const attn_variant_weight &weight : list)
      elements.push_back(
          structOf({i32(weight.stored), i32(weight.element_size),
                    i32(weight.from_panel), i32(weight.to_panel), i64(weight.n),
                    i64(weight.k), i64(weight.size)}));
    return array(elements);
  }

  /// The run-time's table for what runs the kernels, null for a CPU.
  Constant *deviceApi(const TargetInfo &target) {
    if (!target.isGpu())
      return null();
    StringRef name = target.api == DeviceApi::OpenCL ? "attn_rt_opencl"
                     : target.api == DeviceApi::Cuda ? "attn_rt_cuda"
                                                     : "attn_rt_vulkan";
    return module.getOrInsertGlobal(name, llvm::Type::getInt8Ty(context));
  }

  Constant *variants(ArrayRef<VariantSymbols> list,
                     const WeightLayout &layout) {
    llvm::SmallVector<Constant *> elements;
    for (auto [variant, weightList] : llvm::zip_equal(list, layout.variants))
      elements.push_back(structOf(
          {string(variant.target->name), i64(variant.target->cpuFeatures),
           module.getFunction(variant.driver),
           module.getFunction(variant.workspace), weights(weightList),
           i64(weightList.size()), deviceApi(*variant.target)}));
    return array(elements);
  }
};
} // namespace

void attn::emitDescriptor(llvm::Module &module, const ModelInterface &interface,
                          const WeightLayout &layout,
                          ArrayRef<VariantSymbols> variants, StringRef info,
                          StringRef embedded) {
  DescriptorEmitter emit(module);
  Constant *data = emit.null();
  if (!embedded.empty())
    data =
        emit.global(llvm::ConstantDataArray::getString(emit.context, embedded,
                                                       /*AddNull=*/false),
                    llvm::Align(ATTN_WEIGHTS_ALIGNMENT));
  llvm::SmallVector<Constant *> hash;
  for (uint8_t byte : layout.hash)
    hash.push_back(
        llvm::ConstantInt::get(llvm::Type::getInt8Ty(emit.context), byte));
  Constant *descriptor = emit.structOf(
      {emit.i32(ATTN_DESCRIPTOR_VERSION), emit.i32(interface.dims.size()),
       emit.i32(interface.inputs.size()), emit.i32(interface.outputs.size()),
       emit.i32(layout.stored.size()), emit.i32(variants.size()),
       emit.string(interface.name), emit.string(info),
       emit.dims(interface.dims), emit.tensors(interface.inputs),
       emit.tensors(interface.outputs), emit.stored(layout.stored),
       emit.variants(variants, layout), emit.i64(layout.fileSize), data,
       llvm::ConstantArray::get(
           llvm::ArrayType::get(llvm::Type::getInt8Ty(emit.context), 32),
           hash)});
  new llvm::GlobalVariable(module, descriptor->getType(), /*isConstant=*/true,
                           llvm::GlobalValue::ExternalLinkage, descriptor,
                           "attn_model_descriptor");
}
