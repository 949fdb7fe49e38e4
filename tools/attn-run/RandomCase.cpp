//===- RandomCase.cpp - made-up inputs ------------------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What an input may hold follows from who reads it.
//
//===----------------------------------------------------------------------===//

#include "Cases.h"
#include "Random.h"

#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <cstring>

using namespace llvm;

namespace attn::run {

//===----------------------------------------------------------------------===//
// What an argument may hold
//===----------------------------------------------------------------------===//

/// Positions that are left behind the new ones; 0 if a size is dynamic.
static int64_t getRoom(CacheAppendOp append) {
  unsigned dim = sequenceDim(append.getLayout());
  mlir::RankedTensorType cache = append.getCache().getType();
  mlir::RankedTensorType update = append.getUpdate().getType();
  if (cache.isDynamicDim(dim) || update.isDynamicDim(dim))
    return 0;
  return cache.getDimSize(dim) - update.getDimSize(dim);
}

/// Narrows `range` to what `user` expects of the argument `value`.
static void narrow(mlir::Value value, mlir::Operation *user, int64_t keys,
                   InputRange &range) {
  if (auto embedding = dyn_cast<EmbeddingOp>(user)) {
    range = {InputRange::Integer,
             std::min<int64_t>(range.kind == InputRange::Integer ? range.limit
                                                                 : INT64_MAX,
                               embedding.getTable().getType().getDimSize(0))};
  } else if (auto check = dyn_cast<CheckIdsOp>(user)) {
    range = {InputRange::Integer,
             static_cast<int64_t>(check.getLimit().value_or(1))};
  } else if (auto rotary = dyn_cast<RotaryOp>(user)) {
    if (rotary.getPositions() == value)
      range = {InputRange::Integer,
               std::max<int64_t>(rotary.getCos().getType().getDimSize(0), 1)};
  } else if (auto append = dyn_cast<CacheAppendOp>(user)) {
    // An empty cache has room for all that is new, whatever the sizes are.
    if (append.getLength() == value)
      range = {InputRange::Integer, getRoom(append) + 1};
  } else if (auto mask = dyn_cast<MaskOp>(user)) {
    for (auto [input, operand] :
         zip(getMaskInputs(mask.getRule()), mask.getInputs())) {
      if (operand != value)
        continue;
      if (isa<KeyPaddingAttr, GlobalAttr>(input.rule))
        range.kind = InputRange::Mask;
      else if (isa<SegmentsAttr>(input.rule))
        range = {InputRange::Integer, 3}; // Few ids, so that some meet.
      else if (!input.letters.empty())
        range = {InputRange::Integer, keys + 1}; // Lengths and offsets.
    }
  } else if (auto pool = dyn_cast<PoolOp>(user)) {
    if (pool.getMask() == value)
      range.kind = InputRange::Mask;
  }
}

std::vector<InputRange> inputRanges(mlir::ModuleOp module,
                                    const Interface &interface,
                                    ArrayRef<int64_t> dims) {
  mlir::func::FuncOp entry;
  if (module)
    for (auto function : module.getOps<mlir::func::FuncOp>())
      if (function.isPublic() && !entry)
        entry = function;
  // Key lengths count along the last dim that was named; a shorter one is
  // fine too.
  int64_t keys = 1;
  for (int64_t value : dims)
    keys = std::max(keys, value);
  for (auto [i, value] : enumerate(dims))
    if (interface.dims[i].name != "batch")
      keys = std::min(keys, value);

  std::vector<InputRange> ranges(interface.inputs.size());
  for (auto [i, input] : enumerate(interface.inputs)) {
    InputRange &range = ranges[i];
    if (input.type == NpyType::Bool)
      range.kind = InputRange::Mask;
    else if (!isFloat(input.type))
      range.kind = InputRange::Integer;
    if (!entry || i >= entry.getNumArguments())
      continue;
    mlir::Value argument = entry.getArgument(i);
    for (mlir::Operation *user : argument.getUsers())
      narrow(argument, user, keys, range);
  }
  return ranges;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Case randomCase(const Interface &interface, ArrayRef<int64_t> dims,
                ArrayRef<InputRange> ranges, uint64_t seed) {
  Random generator(seed);
  Case result;
  result.name = "random inputs of seed " + std::to_string(seed);
  result.dims.assign(dims.begin(), dims.end());
  for (auto [tensor, range] : zip(interface.inputs, ranges)) {
    NpyArray array = makeArray(tensor, dims);
    int64_t row = array.shape.empty() ? 1 : array.shape.back();
    for (uint64_t i = 0; i < array.numElements(); ++i) {
      double value = 0;
      switch (range.kind) {
      case InputRange::Normal:
        value = generator.normal();
        break;
      case InputRange::Integer:
        value = static_cast<double>(generator.below(range.limit));
        break;
      case InputRange::Mask:
        // Three of four are visible; a row always sees its first key.
        value = i % row == 0 || generator.below(4) != 0;
        break;
      }
      setNpyElement(array, i, value);
    }
    result.inputs.push_back(std::move(array));
  }
  return result;
}

} // namespace attn::run
