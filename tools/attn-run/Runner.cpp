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
  memset(data, isFloat(type) ? 0xff : 0xcd, bytes);
}

//===----------------------------------------------------------------------===//
// Strides
//===----------------------------------------------------------------------===//

/// Calls `visit(dense, strided)` with the offsets of every element.
static void forEachElement(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                           function_ref<void(uint64_t, uint64_t)> visit) {
  SmallVector<int64_t, 4> at(shape.size(), 0);
  if (is_contained(shape, 0))
    return;
  for (uint64_t dense = 0;; ++dense) {
    uint64_t strided = 0;
    for (auto [index, stride] : zip(at, strides))
      strided += index * stride;
    visit(dense, strided);
    size_t dim = shape.size();
    while (dim > 0 && ++at[dim - 1] == shape[dim - 1])
      at[--dim] = 0;
    if (dim == 0)
      return;
  }
}

/// The bytes that an array takes with these strides; none means dense.
static uint64_t bytesWith(const NpyArray &array, ArrayRef<int64_t> strides) {
  if (strides.empty() || array.data.empty())
    return array.data.size();
  uint64_t last = 0;
  for (auto [size, stride] : zip(array.shape, strides))
    last += (size - 1) * stride;
  return (last + 1) * npyTypeBytes(array.type);
}

/// Copies a dense array to where its elements lie.
static void scatter(const NpyArray &array, ArrayRef<int64_t> strides,
                    uint8_t *data) {
  uint64_t bytes = npyTypeBytes(array.type);
  if (strides.empty()) {
    if (!array.data.empty())
      memcpy(data, array.data.data(), array.data.size());
    return;
  }
  forEachElement(array.shape, strides, [&](uint64_t from, uint64_t to) {
    memcpy(data + to * bytes, array.data.data() + from * bytes, bytes);
  });
}

/// The reverse. Also looks whether the bytes between elements are still what
/// `poison` left there.
static Error gather(NpyArray &array, ArrayRef<int64_t> strides, uint8_t *data) {
  if (strides.empty()) {
    if (!array.data.empty())
      memcpy(array.data.data(), data, array.data.size());
    return Error::success();
  }
  uint64_t bytes = npyTypeBytes(array.type);
  forEachElement(array.shape, strides, [&](uint64_t to, uint64_t from) {
    memcpy(array.data.data() + to * bytes, data + from * bytes, bytes);
    poison(array.type, data + from * bytes, bytes);
  });
  std::vector<uint8_t> clean(bytesWith(array, strides));
  poison(array.type, clean.data(), clean.size());
  if (clean.empty() || memcmp(clean.data(), data, clean.size()) == 0)
    return Error::success();
  return createStringError(inconvertibleErrorCode(),
                           "expected accesses to the elements of output " +
                               array.name + " alone, got a write between them");
}

static ArrayRef<int64_t> stridesOf(ArrayRef<SmallVector<int64_t, 4>> placement,
                                   size_t i) {
  return placement.empty() ? ArrayRef<int64_t>() : placement[i];
}

/// One pointer a tensor, null for dense ones.
static std::vector<const int64_t *>
pointersTo(ArrayRef<SmallVector<int64_t, 4>> placement, size_t count) {
  std::vector<const int64_t *> pointers(count, nullptr);
  for (auto [pointer, strides] : zip(pointers, placement))
    if (!strides.empty())
      pointer = strides.data();
  return pointers;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// Whether each input is the memory of an output too.
static std::vector<bool> findShared(const Interface &interface, bool inPlace) {
  std::vector<bool> shared(interface.inputs.size(), false);
  for (const TensorInfo &output : interface.outputs)
    if (inPlace && output.inPlace)
      shared[*output.inPlace] = true;
  return shared;
}

Expected<std::vector<NpyArray>> runGuarded(CompiledModel &model,
                                           const Case &testCase,
                                           const Placement &placement) {
  const Interface &interface = model.interface();
  std::vector<bool> shared = findShared(interface, placement.inPlace);
  std::vector<GuardedMemory> memory;
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  for (auto [i, info, array] : enumerate(interface.inputs, testCase.inputs)) {
    ArrayRef<int64_t> strides = stridesOf(placement.inputs, i);
    Expected<GuardedMemory> guarded =
        GuardedMemory::create("input " + info.name, bytesWith(array, strides));
    if (!guarded)
      return guarded.takeError();
    poison(info.type, guarded->data(), guarded->size());
    scatter(array, strides, guarded->data());
    if (!shared[i])
      guarded->makeReadOnly();
    inputs.push_back(guarded->data());
    memory.push_back(std::move(*guarded));
  }
  std::vector<NpyArray> results;
  for (auto [i, info] : enumerate(interface.outputs)) {
    results.push_back(makeArray(info, testCase.dims));
    if (placement.inPlace && info.inPlace) {
      outputs.push_back(memory[*info.inPlace].data());
      continue;
    }
    Expected<GuardedMemory> guarded = GuardedMemory::create(
        "output " + info.name,
        bytesWith(results.back(), stridesOf(placement.outputs, i)));
    if (!guarded)
      return guarded.takeError();
    poison(info.type, guarded->data(), guarded->size());
    outputs.push_back(guarded->data());
    memory.push_back(std::move(*guarded));
  }

  if (Error error = model.run(testCase.dims, inputs, outputs,
                              pointersTo(placement.inputs, inputs.size()),
                              pointersTo(placement.outputs, outputs.size())))
    return std::move(error);
  Error error = model.checkMemory();
  for (const GuardedMemory &guarded : memory)
    error = joinErrors(std::move(error), guarded.check());
  for (auto [i, result] : enumerate(results))
    error = joinErrors(std::move(error),
                       gather(result, stridesOf(placement.outputs, i),
                              static_cast<uint8_t *>(outputs[i])));
  if (error)
    return std::move(error);
  return results;
}

/// Inputs and outputs as a program would have them: aligned to cache lines.
struct PlainBuffers {
  std::vector<GuardedMemory> memory;
  std::vector<const void *> inputs;
  std::vector<void *> outputs;

  static Expected<PlainBuffers> create(const Interface &interface,
                                       const Case &testCase, bool inPlace);

private:
  Expected<void *> allocate(const Twine &name, uint64_t bytes);
};

Expected<void *> PlainBuffers::allocate(const Twine &name, uint64_t bytes) {
  Expected<GuardedMemory> created =
      GuardedMemory::create(name, bytes, /*alignment=*/64);
  if (!created)
    return created.takeError();
  memory.push_back(std::move(*created));
  return memory.back().data();
}

Expected<PlainBuffers> PlainBuffers::create(const Interface &interface,
                                            const Case &testCase,
                                            bool inPlace) {
  PlainBuffers buffers;
  for (auto [info, array] : zip(interface.inputs, testCase.inputs)) {
    Expected<void *> data =
        buffers.allocate("input " + info.name, array.data.size());
    if (!data)
      return data.takeError();
    if (!array.data.empty())
      memcpy(*data, array.data.data(), array.data.size());
    buffers.inputs.push_back(*data);
  }
  for (const TensorInfo &info : interface.outputs) {
    if (inPlace && info.inPlace) {
      buffers.outputs.push_back(buffers.memory[*info.inPlace].data());
      continue;
    }
    Expected<void *> data = buffers.allocate(
        "output " + info.name, makeArray(info, testCase.dims).data.size());
    if (!data)
      return data.takeError();
    buffers.outputs.push_back(*data);
  }
  return std::move(buffers);
}

Expected<Timing> timeModel(CompiledModel &model, const Case &testCase,
                           bool inPlace) {
  Expected<PlainBuffers> buffers =
      PlainBuffers::create(model.interface(), testCase, inPlace);
  if (!buffers)
    return buffers.takeError();
  auto &[memory, inputs, outputs] = *buffers;
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

Expected<std::vector<KernelTime>> profileModel(CompiledModel &model,
                                               const Case &testCase,
                                               bool inPlace, double seconds) {
  Expected<PlainBuffers> buffers =
      PlainBuffers::create(model.interface(), testCase, inPlace);
  if (!buffers)
    return buffers.takeError();
  using Clock = std::chrono::steady_clock;
  // The least time of each call; a run makes the same calls each time.
  std::vector<std::pair<std::string, double>> calls;
  size_t call = 0;
  Clock::time_point begin;
  CompiledModel::kernelListener = [&](const char *kernel, bool isDone) {
    if (!isDone) {
      begin = Clock::now();
      return;
    }
    double seconds =
        std::chrono::duration<double>(Clock::now() - begin).count();
    if (call == calls.size())
      calls.emplace_back(kernel, seconds);
    calls[call].second = std::min(calls[call].second, seconds);
    ++call;
  };
  Error error = Error::success();
  Clock::time_point start = Clock::now();
  for (unsigned run = 0;
       !error &&
       (run < 5 ||
        std::chrono::duration<double>(Clock::now() - start).count() < seconds);
       ++run) {
    call = 0;
    error = model.run(testCase.dims, buffers->inputs, buffers->outputs);
  }
  CompiledModel::kernelListener = nullptr;
  if (error)
    return std::move(error);

  std::vector<KernelTime> times;
  for (const std::pair<std::string, double> &timed : calls) {
    auto place = find_if(times, [&](const KernelTime &time) {
      return time.kernel == timed.first;
    });
    if (place == times.end())
      place = times.insert(place, {timed.first, 0, 0});
    ++place->calls;
    place->seconds += timed.second;
  }
  return times;
}

} // namespace attn::run
