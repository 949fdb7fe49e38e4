//===- Manifest.cpp - a model's interface as JSON ---------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Manifest.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attn;
namespace json = llvm::json;

StringRef attn::getTypeName(attn_type type) {
  switch (type) {
  case ATTN_F32:
    return "f32";
  case ATTN_F64:
    return "f64";
  case ATTN_F16:
    return "f16";
  case ATTN_BF16:
    return "bf16";
  case ATTN_I8:
    return "i8";
  case ATTN_I16:
    return "i16";
  case ATTN_I32:
    return "i32";
  case ATTN_I64:
    return "i64";
  case ATTN_BOOL:
    return "bool";
  case ATTN_F8E4M3FN:
    return "f8e4m3fn";
  case ATTN_F8E4M3FNUZ:
    return "f8e4m3fnuz";
  case ATTN_F8E5M2:
    return "f8e5m2";
  case ATTN_F8E5M2FNUZ:
    return "f8e5m2fnuz";
  case ATTN_F4E2M1FN:
    return "f4e2m1fn";
  }
  llvm_unreachable("all types have names");
}

/// A static size is a number, another the name of its dim; `in_place` is the
/// name of the input whose memory an output may be given.
static json::Array makeTensors(const ModelInterface &interface,
                               ArrayRef<ModelTensor> tensors) {
  json::Array array;
  for (const ModelTensor &tensor : tensors) {
    json::Array dims;
    for (int64_t size : tensor.sizes) {
      if (size < 0)
        dims.push_back(interface.dims[-1 - size].name);
      else
        dims.push_back(size);
    }
    json::Object entry{{"name", tensor.name},
                       {"type", getTypeName(tensor.type)},
                       {"dims", std::move(dims)}};
    if (tensor.inPlace)
      entry["in_place"] = interface.inputs[*tensor.inPlace].name;
    array.push_back(std::move(entry));
  }
  return array;
}

json::Object attn::makeInfo(const ModelInterface &interface,
                            const WeightLayout &layout,
                            ArrayRef<StringRef> targets, bool embedded) {
  json::Array dims;
  for (const ModelDim &dim : interface.dims)
    dims.push_back(
        json::Object{{"name", dim.name}, {"min", dim.min}, {"max", dim.max}});
  json::Array targetNames;
  for (StringRef target : targets)
    targetNames.push_back(target);
  bool hasWeights = !layout.stored.empty();
  return json::Object{
      {"name", interface.name},
      {"dims", std::move(dims)},
      {"inputs", makeTensors(interface, interface.inputs)},
      {"outputs", makeTensors(interface, interface.outputs)},
      {"targets", std::move(targetNames)},
      {"weights", !hasWeights ? "none"
                  : embedded  ? "embedded"
                              : "file"},
      {"weights_bytes", hasWeights ? static_cast<int64_t>(layout.fileSize) : 0},
      {"layout", llvm::toHex(layout.hash, /*LowerCase=*/true)}};
}

/// A number, or a formula of dims as a text; null where it is unknown.
static json::Value makeCount(const std::optional<SizePolynomial> &count) {
  if (!count)
    return nullptr;
  std::optional<double> constant = count->constant();
  if (constant && *constant < 0x1p53)
    return static_cast<int64_t>(*constant);
  return count->str();
}

json::Object attn::makeCost(const ModelCost &cost) {
  json::Array kernels;
  for (const KernelCost &kernel : cost.kernels)
    kernels.push_back(json::Object{{"name", kernel.kernel},
                                   {"calls", kernel.cost.calls},
                                   {"flops", makeCount(kernel.cost.flops)},
                                   {"bytes", makeCount(kernel.cost.bytes)}});
  Cost total = cost.total();
  return json::Object{{"flops", makeCount(total.flops)},
                      {"bytes", makeCount(total.bytes)},
                      {"kernels", std::move(kernels)}};
}
