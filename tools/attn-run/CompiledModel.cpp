//===- CompiledModel.cpp - an object file, loaded and run -----------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The model's name is found from its symbols: the one that ends in
// `_run_generic`.
//
//===----------------------------------------------------------------------===//

#include "CompiledModel.h"

#include "GuardedMemory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"

#include <cstdlib>
#include <cstring>
#include <list>
#include <mutex>

using namespace llvm;

namespace attn::run {

static constexpr StringLiteral entrySuffix = "_run_generic";

static Error failure(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

//===----------------------------------------------------------------------===//
// Memory hooks
//===----------------------------------------------------------------------===//

/// Counts, and guards if asked to, what the model allocates. The hooks may be
/// called from any thread.
struct CompiledModel::Hooks {
  bool guard = false;
  MemoryUse use;
  std::mutex mutex;
  std::list<GuardedMemory> guarded;
  DenseMap<void *, uint64_t> sizes;

  void *allocate(size_t bytes, size_t alignment) {
    std::lock_guard<std::mutex> lock(mutex);
    void *pointer = nullptr;
    if (guard) {
      Expected<GuardedMemory> memory =
          GuardedMemory::create("the model's memory", bytes, alignment);
      if (!memory) {
        consumeError(memory.takeError());
        return nullptr;
      }
      guarded.push_back(std::move(*memory));
      pointer = guarded.back().data();
      // Whoever relies on zeros gets something else.
      memset(pointer, 0xcd, bytes);
    } else if (posix_memalign(&pointer, std::max<size_t>(alignment, 8),
                              std::max<size_t>(bytes, 1)) != 0) {
      return nullptr;
    }
    sizes[pointer] = bytes;
    use.now += bytes;
    use.peak = std::max(use.peak, use.now);
    return pointer;
  }

  void deallocate(void *pointer) {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = sizes.find(pointer);
    if (found == sizes.end())
      return; // A null pointer.
    use.now -= found->second;
    sizes.erase(found);
    if (!guard)
      return free(pointer);
    guarded.remove_if(
        [&](const GuardedMemory &memory) { return memory.data() == pointer; });
  }

  static void *allocateHook(void *user, size_t bytes, size_t alignment) {
    return static_cast<Hooks *>(user)->allocate(bytes, alignment);
  }
  static void deallocateHook(void *user, void *pointer) {
    static_cast<Hooks *>(user)->deallocate(pointer);
  }
};

const MemoryUse &CompiledModel::memory() const { return hooks->use; }

Error CompiledModel::checkMemory() const {
  Error error = Error::success();
  for (const GuardedMemory &memory : hooks->guarded)
    error = joinErrors(std::move(error), memory.check());
  return error;
}

//===----------------------------------------------------------------------===//
// Kernel hook
//===----------------------------------------------------------------------===//

std::function<void(const char *, bool)> CompiledModel::kernelListener;

/// Kernels are called by the thread that runs the model.
static void callKernelListener(const char *kernel, int32_t isDone) {
  if (CompiledModel::kernelListener)
    CompiledModel::kernelListener(kernel, isDone != 0);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

CompiledModel::CompiledModel() : hooks(std::make_unique<Hooks>()) {}

CompiledModel::~CompiledModel() {
  if (context)
    destroyContext(context);
  if (model)
    unload(model);
}

/// The name that the object's functions start with.
static Expected<std::string> findPrefix(MemoryBufferRef buffer) {
  StringRef path = buffer.getBufferIdentifier();
  Expected<std::unique_ptr<object::ObjectFile>> object =
      object::ObjectFile::createObjectFile(buffer);
  if (!object)
    return failure(
        path + ": expected an object file: " + toString(object.takeError()));
  for (const object::SymbolRef &symbol : (*object)->symbols()) {
    Expected<StringRef> name = symbol.getName();
    Expected<uint32_t> flags = symbol.getFlags();
    if (!name || !flags)
      return failure(
          path +
          ": expected an object file whose symbols can be "
          "read: " +
          toString(joinErrors(name ? Error::success() : name.takeError(),
                              flags ? Error::success() : flags.takeError())));
    bool defined = (*flags & object::SymbolRef::SF_Global) &&
                   !(*flags & object::SymbolRef::SF_Undefined);
    StringRef prefix = *name;
    if (defined && prefix.consume_back(entrySuffix))
      return prefix.str();
  }
  return failure(path + ": expected a compiled model, which has a function "
                        "NAME_run_generic, got an object without it");
}

template <typename Function>
Error CompiledModel::lookup(const char *name, Function &function) {
  Expected<orc::ExecutorAddr> address = jit->lookup(prefix + name);
  if (!address)
    return failure(objectPath + ": expected the function " + prefix + name +
                   ": " + toString(address.takeError()));
  function = address->toPtr<Function>();
  return Error::success();
}

Expected<std::unique_ptr<CompiledModel>>
CompiledModel::load(StringRef objectPath) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile(objectPath);
  if (!buffer)
    return failure(objectPath +
                   ": cannot read the file: " + buffer.getError().message());
  Expected<std::string> prefix = findPrefix((*buffer)->getMemBufferRef());
  if (!prefix)
    return prefix.takeError();

  std::unique_ptr<CompiledModel> model(new CompiledModel());
  model->objectPath = objectPath.str();
  model->prefix = *prefix;
  Expected<std::unique_ptr<orc::LLJIT>> jit = orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  model->jit = std::move(*jit);
  // libc, libm and pthread: this program's.
  auto libraries = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      model->jit->getDataLayout().getGlobalPrefix());
  if (!libraries)
    return libraries.takeError();
  model->jit->getMainJITDylib().addGenerator(std::move(*libraries));
  orc::SymbolMap hook;
  hook[model->jit->mangleAndIntern(kernelHook)] = {
      orc::ExecutorAddr::fromPtr(&callKernelListener),
      JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  if (Error error = model->jit->getMainJITDylib().define(
          orc::absoluteSymbols(std::move(hook))))
    return std::move(error);
  if (Error error = model->jit->addObjectFile(std::move(*buffer)))
    return std::move(error);

  attn_info_fn info = nullptr;
  Error error = model->lookup("_info", info);
  auto find = [&](const char *name, auto &function) {
    error = joinErrors(std::move(error), model->lookup(name, function));
  };
  find("_load", model->loadMemory);
  find("_load_file", model->loadFile);
  find("_unload", model->unload);
  find("_create", model->createContext);
  find("_destroy", model->destroyContext);
  find("_run_generic", model->runGeneric);
  find("_workspace_size_generic", model->workspaceSize);
  find("_last_error", model->lastError);
  find("_status_string", model->statusString);
  find("_target", model->targetName);
  if (error)
    return std::move(error);
  Expected<Interface> description = interfaceFromInfo(info());
  if (!description)
    return description.takeError();
  model->description = std::move(*description);
  return model;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Error CompiledModel::open(const Options &options) {
  hooks->guard = options.guard;
  char text[1024] = "";
  attn_options settings = {};
  settings.num_threads = options.threads;
  settings.allocate = Hooks::allocateHook;
  settings.deallocate = Hooks::deallocateHook;
  settings.user = hooks.get();
  settings.target = options.target.empty() ? nullptr : options.target.c_str();
  settings.error = text;
  settings.error_size = sizeof(text);

  SmallString<256> weights(objectPath);
  sys::path::replace_extension(weights, ".weights");
  attn_status status = sys::fs::exists(weights)
                           ? loadFile(weights.c_str(), &settings, &model)
                           : loadMemory(nullptr, 0, &settings, &model);
  if (status == ATTN_OK)
    status = createContext(model, &settings, &context);
  if (status != ATTN_OK)
    return failure(text[0] ? text : statusString(status));
  return Error::success();
}

Error CompiledModel::run(ArrayRef<int64_t> dims, ArrayRef<const void *> inputs,
                         ArrayRef<void *> outputs,
                         ArrayRef<const int64_t *> inputStrides,
                         ArrayRef<const int64_t *> outputStrides) {
  attn_status status = runGeneric(
      context, dims.data(), inputs.data(),
      inputStrides.empty() ? nullptr : inputStrides.data(), outputs.data(),
      outputStrides.empty() ? nullptr : outputStrides.data());
  if (status == ATTN_OK)
    return Error::success();
  StringRef text = lastError(context);
  return failure(text.empty() ? statusString(status) : text);
}

Expected<int64_t> CompiledModel::workspaceBytes(ArrayRef<int64_t> dims) {
  int64_t bytes = workspaceSize(context, dims.data());
  if (bytes < 0)
    return failure(lastError(context));
  return bytes;
}

StringRef CompiledModel::target() const { return targetName(model); }

} // namespace attn::run
