//===- WeightData.cpp - the elements that a recipe stands for ---*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each recipe answers for a range of elements by asking its own sources for the
// ranges that it needs.
//
//===----------------------------------------------------------------------===//

#include "ModelInterface.h"
#include "WeightResolverImpl.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

LogicalResult WeightResolver::Impl::read(WeightOp weight, int64_t first,
                                         int64_t count, char *out) {
  return llvm::TypeSwitch<Attribute, LogicalResult>(weight.getRecipe())
      .Case<SourceAttr, BytesAttr, ValueAttr, ConcatAttr, PackAttr>(
          [&](auto recipe) { return read(weight, recipe, first, count, out); });
}

LogicalResult WeightResolver::Impl::read(WeightOp weight, SourceAttr source,
                                         int64_t first, int64_t count,
                                         char *out) {
  bool reported;
  SafetensorsFile *file = open(weight, source.getFile(), reported);
  const SafetensorsTensor *tensor =
      file ? file->lookup(source.getTensor()) : nullptr;
  if (!tensor)
    return weight.emitError("the weight was not checked");
  if (getTensorType(weight).getElementType().isF32()) {
    llvm::Error error = readFloats(
        *file, *tensor, first,
        llvm::MutableArrayRef<float>(reinterpret_cast<float *>(out), count));
    if (error)
      return weight.emitError() << llvm::toString(std::move(error));
    return success();
  }
  int64_t size = getElementBytes(getTensorType(weight).getElementType());
  memcpy(out, file->data(*tensor).data() + first * size, count * size);
  return success();
}

LogicalResult WeightResolver::Impl::read(WeightOp weight, BytesAttr bytes,
                                         int64_t first, int64_t count,
                                         char *out) {
  llvm::MemoryBuffer *buffer = open(weight, bytes);
  if (!buffer)
    return failure();
  int64_t size = getElementBytes(getTensorType(weight).getElementType());
  memcpy(out, buffer->getBufferStart() + bytes.getOffset() + first * size,
         count * size);
  return success();
}

LogicalResult WeightResolver::Impl::read(WeightOp weight, ValueAttr value,
                                         int64_t first, int64_t count,
                                         char *out) {
  int64_t size = getElementBytes(getTensorType(weight).getElementType());
  if (auto resource =
          dyn_cast<DenseResourceElementsAttr>(value.getElements())) {
    ArrayRef<char> data = resource.getRawHandle().getBlob()->getData();
    memcpy(out, data.data() + first * size, count * size);
    return success();
  }
  auto dense = cast<DenseElementsAttr>(value.getElements());
  if (dense.getElementType().isInteger(1)) { // stored as bits
    auto values = dense.getValues<bool>();
    for (int64_t i = 0; i < count; ++i)
      out[i] = values[first + i];
    return success();
  }
  ArrayRef<char> data = dense.getRawData();
  if (!dense.isSplat()) {
    memcpy(out, data.data() + first * size, count * size);
    return success();
  }
  for (int64_t i = 0; i < count; ++i)
    memcpy(out + i * size, data.data(), size);
  return success();
}

/// Seen as (outer, axis, inner), a part is a run of axis * inner elements in
/// each outer index; the range is cut at the borders of those runs.
LogicalResult WeightResolver::Impl::read(WeightOp weight, ConcatAttr concat,
                                         int64_t first, int64_t count,
                                         char *out) {
  RankedTensorType type = getTensorType(weight);
  int64_t size = getElementBytes(type.getElementType()), inner = 1;
  for (int64_t d = concat.getAxis() + 1; d < type.getRank(); ++d)
    inner *= type.getDimSize(d);
  int64_t row = type.getDimSize(concat.getAxis()) * inner;
  while (count > 0) {
    int64_t outer = first / row, start = 0, at = first % row;
    for (FlatSymbolRefAttr name : concat.getWeights()) {
      WeightOp part = lookup(name);
      int64_t run = getTensorType(part).getDimSize(concat.getAxis()) * inner;
      if (at < start + run && count > 0) {
        int64_t offset = at - start;
        int64_t length = std::min(run - offset, count);
        if (failed(read(part, outer * run + offset, length, out)))
          return failure();
        at += length;
        first += length;
        count -= length;
        out += length * size;
      }
      start += run;
    }
  }
  return success();
}

/// A panel holds `panel` rows of the matrix with the columns outermost: those
/// rows are read once and transposed.
LogicalResult WeightResolver::Impl::read(WeightOp weight, PackAttr pack,
                                         int64_t first, int64_t count,
                                         char *out) {
  WeightOp part = lookup(pack.getWeight());
  RankedTensorType from = getTensorType(part);
  int64_t size = getElementBytes(from.getElementType());
  int64_t rows = from.getDimSize(0), columns = from.getDimSize(1);
  int64_t panel = pack.getPanel(), panelSize = panel * columns;
  std::vector<char> matrix(panelSize * size);
  while (count > 0) {
    int64_t number = first / panelSize, begin = first % panelSize;
    int64_t length = std::min(panelSize - begin, count);
    int64_t valid = std::min(panel, rows - number * panel);
    if (failed(read(part, number * panelSize, valid * columns, matrix.data())))
      return failure();
    for (int64_t i = begin; i < begin + length; ++i, out += size) {
      int64_t column = i / panel, r = i % panel;
      if (r < valid)
        memcpy(out, &matrix[(r * columns + column) * size], size);
      else
        memset(out, 0, size);
    }
    first += length;
    count -= length;
  }
  return success();
}
