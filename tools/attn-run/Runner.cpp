//===- Runner.cpp - runs a compiled model on cases ------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Runner.h.
//
//===----------------------------------------------------------------------===//

#include "Runner.h"

#include "GuardedMemory.h"
#include "llvm/ADT/STLExtras.h"

#include <chrono>
#include <cstring>

using namespace llvm;

namespace attn::run {

/// What an output holds before a run: a NaN, so that a value that was never
/// written cannot pass for a result.
static void poison(NpyType type, uint8_t *data, uint64_t bytes) {
  memset(data, isNpyFloat(type) ? 0xff : 0xcd, bytes);
}

Expected<std::vector<NpyArray>> runGuarded(CompiledModel &model,
                                           const Case &testCase) {
  const Interface &interface = model.interface();
  std::vector<GuardedMemory> memory;
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  for (auto [info, array] : zip(interface.inputs, testCase.inputs)) {
    Expected<GuardedMemory> guarded =
        GuardedMemory::create("input " + info.name, array.data.size());
    if (!guarded)
      return guarded.takeError();
    if (!array.data.empty())
      memcpy(guarded->data(), array.data.data(), array.data.size());
    guarded->makeReadOnly();
    inputs.push_back(guarded->data());
    memory.push_back(std::move(*guarded));
  }
  std::vector<NpyArray> results;
  for (const TensorInfo &info : interface.outputs) {
    results.push_back(makeArray(info, testCase.dims));
    Expected<GuardedMemory> guarded = GuardedMemory::create(
        "output " + info.name, results.back().data.size());
    if (!guarded)
      return guarded.takeError();
    poison(info.type, guarded->data(), guarded->size());
    outputs.push_back(guarded->data());
    memory.push_back(std::move(*guarded));
  }

  if (Error error = model.run(testCase.dims, inputs, outputs))
    return std::move(error);
  Error error = model.checkMemory();
  for (const GuardedMemory &guarded : memory)
    error = joinErrors(std::move(error), guarded.check());
  if (error)
    return std::move(error);
  for (auto [result, data] : zip(results, outputs))
    if (!result.data.empty())
      memcpy(result.data.data(), data, result.data.size());
  return results;
}

Expected<Timing> timeModel(CompiledModel &model, const Case &testCase) {
  // As a program would have them: aligned to cache lines.
  std::vector<GuardedMemory> memory;
  auto allocate = [&](const Twine &name, uint64_t bytes) -> Error {
    Expected<GuardedMemory> created =
        GuardedMemory::create(name, bytes, /*alignment=*/64);
    if (!created)
      return created.takeError();
    memory.push_back(std::move(*created));
    return Error::success();
  };
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  for (auto [info, array] : zip(model.interface().inputs, testCase.inputs)) {
    if (Error error = allocate("input " + info.name, array.data.size()))
      return std::move(error);
    if (!array.data.empty())
      memcpy(memory.back().data(), array.data.data(), array.data.size());
    inputs.push_back(memory.back().data());
  }
  for (const TensorInfo &info : model.interface().outputs) {
    if (Error error = allocate("output " + info.name,
                               makeArray(info, testCase.dims).data.size()))
      return std::move(error);
    outputs.push_back(memory.back().data());
  }

  if (Error error = model.run(testCase.dims, inputs, outputs))
    return std::move(error);
  std::vector<double> seconds;
  double total = 0;
  while (seconds.size() < 5 || (total < 2 && seconds.size() < 100'000)) {
    auto begin = std::chrono::steady_clock::now();
    if (Error error = model.run(testCase.dims, inputs, outputs))
      return std::move(error);
    std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - begin;
    seconds.push_back(took.count());
    total += took.count();
  }
  llvm::sort(seconds);
  return Timing{static_cast<unsigned>(seconds.size()), seconds.front(),
                seconds[seconds.size() / 2]};
}

} // namespace attn::run
