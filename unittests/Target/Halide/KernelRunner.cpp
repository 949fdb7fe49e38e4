//===- KernelRunner.cpp - compiles and runs one kernel ---------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "KernelRunner.h"

#include "attn/Analysis/TargetInfo.h"
#include "attn/Dialect/IR/Attn.h"
#include "attn/Pipelines/Dialects.h"
#include "attn/Target/Halide/HalideTarget.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"

#include "gtest/gtest.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <optional>
#include <random>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace attn;
using namespace attn::testing;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

GuardedBuffer::GuardedBuffer(size_t bytes, Side side, size_t alignment) {
  size_t page = sysconf(_SC_PAGESIZE);
  size_t inner = (bytes + page - 1) / page * page;
  mapped = inner + 2 * page;
  mapping = static_cast<uint8_t *>(mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  memset(mapping, 0xff, mapped); // 0xffffffff is a NaN.
  mprotect(mapping, page, PROT_NONE);
  mprotect(mapping + page + inner, page, PROT_NONE);
  size_t offset =
      side == Side::Front ? 0 : (inner - bytes) / alignment * alignment;
  data = mapping + page + offset;
}

GuardedBuffer::~GuardedBuffer() { munmap(mapping, mapped); }

int64_t Tensor::size() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Tensor attn::testing::makeTensor(halide_type_t type, std::vector<int64_t> shape,
                                 Placement placement, int64_t rowStride,
                                 size_t alignment) {
  Tensor tensor{type, std::move(shape), {}, nullptr};
  tensor.strides.resize(tensor.shape.size());
  int64_t stride = 1, last = 0;
  for (int64_t dim = tensor.shape.size(); dim-- > 0;) {
    if (rowStride && dim + 2 == static_cast<int64_t>(tensor.shape.size()))
      stride = rowStride;
    tensor.strides[dim] = stride;
    last += stride * (tensor.shape[dim] - 1);
    stride *= tensor.shape[dim];
  }
  int64_t elements = tensor.size() ? last + 1 : 0;
  tensor.memory = std::make_shared<GuardedBuffer>(
      elements * type.bytes(),
      placement == Placement::Front ? GuardedBuffer::Side::Front
                                    : GuardedBuffer::Side::Back,
      std::max<size_t>(alignment, type.bytes()));
  return tensor;
}

Tensor attn::testing::makeFloats(std::vector<int64_t> shape,
                                 Placement placement, int64_t rowStride) {
  return makeTensor(halide_type_t(halide_type_float, 32), std::move(shape),
                    placement, rowStride);
}

void attn::testing::fillRandom(Tensor &tensor, uint32_t seed, float scale) {
  std::mt19937 generator(seed);
  int64_t columns = tensor.shape.empty() ? 1 : tensor.shape.back();
  if (!tensor.size())
    return;
  // Rows may be strided; outer dimensions are dense over them.
  int64_t rows = tensor.size() / columns;
  int64_t stride = tensor.shape.size() > 1
                       ? tensor.strides[tensor.shape.size() - 2]
                       : columns;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      tensor.as<float>()[row * stride + column] =
          (generator() * 0x1p-31f - 1.0f) * scale;
}

Tensor attn::testing::packPanels(const Tensor &weight, int64_t panel,
                                 Placement placement) {
  int64_t n = weight.shape[0], k = weight.shape[1];
  int64_t panels = (n + panel - 1) / panel;
  Tensor packed = makeTensor(weight.type, {panels, k, panel}, placement, 0, 64);
  for (int64_t p = 0; p < panels; ++p)
    for (int64_t i = 0; i < k; ++i)
      for (int64_t c = 0; c < panel; ++c)
        packed.as<float>()[(p * k + i) * panel + c] =
            p * panel + c < n ? weight.as<float>()[(p * panel + c) * k + i]
                              : 0.0f;
  return packed;
}

static const llvm::fltSemantics &semanticsOf(const std::string &element) {
  return element == "f16" ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat();
}

Tensor attn::testing::narrowTo(const Tensor &floats, const std::string &element,
                               Placement placement) {
  if (element == "f32")
    return floats;
  Tensor stored =
      makeTensor(halide_type_t(halide_type_uint, 16), floats.shape, placement);
  bool lost;
  for (int64_t i = 0; i < floats.size(); ++i) {
    llvm::APFloat number(floats.as<float>()[i]);
    number.convert(semanticsOf(element), llvm::APFloat::rmNearestTiesToEven,
                   &lost);
    stored.as<uint16_t>()[i] = number.bitcastToAPInt().getZExtValue();
  }
  return stored;
}

Tensor attn::testing::widenFrom(const Tensor &stored,
                                const std::string &element,
                                Placement placement) {
  if (element == "f32")
    return stored;
  Tensor floats = makeFloats(stored.shape, placement);
  bool lost;
  for (int64_t i = 0; i < stored.size(); ++i) {
    llvm::APFloat number(semanticsOf(element),
                         llvm::APInt(16, stored.as<uint16_t>()[i]));
    number.convert(llvm::APFloat::IEEEsingle(),
                   llvm::APFloat::rmNearestTiesToEven, &lost);
    floats.as<float>()[i] = number.convertToFloat();
  }
  return floats;
}

//===----------------------------------------------------------------------===//
// What Halide's run-time would serve
//===----------------------------------------------------------------------===//

namespace {
std::atomic<int> threadCount{1};
std::atomic<size_t> largest{0};

int parallelFor(void *context, halide_task_t task, int min, int size,
                uint8_t *closure) {
  std::atomic<int> next{min}, status{0};
  auto work = [&] {
    for (int i = next++; i < min + size; i = next++)
      if (int result = task(context, i, closure))
        status = result;
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < threadCount; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  return status;
}

void *allocate(void *, size_t bytes) {
  size_t known = largest;
  while (bytes > known && !largest.compare_exchange_weak(known, bytes))
    ;
  size_t rounded = (bytes + 63) / 64 * 64 + 64;
  void *memory = aligned_alloc(64, rounded);
  memset(memory, 0xff, rounded);
  return memory;
}

void release(void *, void *memory) { free(memory); }

void reportError(void *, const char *message) {
  ADD_FAILURE() << "the kernel reported: " << message;
}
} // namespace

size_t CompiledKernel::largestAllocation() { return largest; }

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

/// What a kernel of a device needs of the run-time.
struct DeviceFunctions {
  int (*copyToHost)(void *, halide_buffer_t *);
  int (*allocate)(void *, halide_buffer_t *, const halide_device_interface_t *);
  int (*free)(void *, halide_buffer_t *);
  const halide_device_interface_t *interface;
};

struct CompiledKernel::Implementation {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  void *function = nullptr;
  std::optional<DeviceFunctions> device;
};

namespace {
template <typename Function>
Function lookup(llvm::orc::LLJIT &jit, const char *name) {
  auto address = jit.lookup(name);
  if (!address)
    llvm::report_fatal_error(address.takeError());
  return address->toPtr<Function>();
}

struct Files {
  llvm::SmallString<128> directory;
  Files() {
    EXPECT_FALSE(
        llvm::sys::fs::createUniqueDirectory("attn-kernel", directory));
  }
  ~Files() { EXPECT_FALSE(llvm::sys::fs::remove_directories(directory)); }
  std::string path(const char *name) const {
    return (directory + "/" + name).str();
  }
};

std::string readFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

/// Compiles the module's kernel; the text of errors, or "".
std::string compileTo(const std::string &text, const std::string &targetName,
                      const KernelFiles &files) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::string errors;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        errors += (errors.empty() ? "" : "\n") + diagnostic.str();
      });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return errors.empty() ? "no module" : errors;
  auto kernels = module->getOps<KernelOp>();
  if (kernels.empty())
    return "no kernel";
  const TargetInfo *target = lookupTarget(targetName);
  if (mlir::failed(compileKernel(*kernels.begin(), *target, "kernel", files)))
    return errors.empty() ? "failed without a message" : errors;
  return errors;
}
} // namespace

/// An empty program with the functions that every kernel may call.
static std::unique_ptr<llvm::orc::LLJIT> makeJit() {
  auto jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
  llvm::orc::SymbolMap symbols;
  auto define = [&](const char *name, auto *function) {
    symbols[jit->mangleAndIntern(name)] = {
        llvm::orc::ExecutorAddr::fromPtr(function),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  };
  define("halide_do_par_for", parallelFor);
  define("halide_malloc", allocate);
  define("halide_free", release);
  define("halide_error", reportError);
  llvm::cantFail(jit->getMainJITDylib().define(
      llvm::orc::absoluteSymbols(std::move(symbols))));
  return jit;
}

/// Adds Halide's run-time of a device to a program.
static DeviceFunctions loadRuntime(llvm::orc::LLJIT &jit,
                                   const std::string &target,
                                   const Files &files) {
  mlir::MLIRContext mlirContext(mlir::MLIRContext::Threading::DISABLED);
  std::string path = files.path("runtime.bc");
  EXPECT_TRUE(
      mlir::succeeded(emitHalideRuntime(lookupTarget(target), path, [&]() {
        return mlir::emitError(mlir::UnknownLoc::get(&mlirContext));
      })));
  auto context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic diagnostic;
  auto bitcode = llvm::parseIRFile(path, diagnostic, *context);
  EXPECT_TRUE(bitcode != nullptr);
  bitcode->setDataLayout(jit.getDataLayout());
  // It loads the device's library by the functions of this process.
  jit.getMainJITDylib().addGenerator(llvm::cantFail(
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
          jit.getDataLayout().getGlobalPrefix())));
  llvm::cantFail(jit.addIRModule(
      llvm::orc::ThreadSafeModule(std::move(bitcode), std::move(context))));
  if (llvm::Error error = jit.initialize(jit.getMainJITDylib()))
    llvm::report_fatal_error(std::move(error));
  using Interface = const halide_device_interface_t *(*)();
  return {
      lookup<decltype(DeviceFunctions::copyToHost)>(jit, "halide_copy_to_host"),
      lookup<decltype(DeviceFunctions::allocate)>(jit, "halide_device_malloc"),
      lookup<decltype(DeviceFunctions::free)>(jit, "halide_device_free"),
      lookup<Interface>(jit, lookupTarget(target)->api == DeviceApi::Vulkan
                                 ? "halide_vulkan_device_interface"
                                 : "halide_opencl_device_interface")()};
}

namespace {
/// Halide's run-time of a device.
struct DeviceProgram {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  DeviceFunctions functions;

  DeviceProgram(const std::string &target, const Files &files)
      : jit(makeJit()), functions(loadRuntime(*jit, target, files)) {}
};
} // namespace

const char *attn::testing::whyNoOpenCL() {
  static const char *reason = []() -> const char * {
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (!library)
      library = dlopen("libOpenCL.so", RTLD_NOW);
    if (!library)
      return "no OpenCL library is installed";
    using Platforms = int32_t (*)(uint32_t, void **, uint32_t *);
    using Devices =
        int32_t (*)(void *, uint64_t, uint32_t, void **, uint32_t *);
    auto getPlatforms =
        reinterpret_cast<Platforms>(dlsym(library, "clGetPlatformIDs"));
    auto getDevices =
        reinterpret_cast<Devices>(dlsym(library, "clGetDeviceIDs"));
    void *platforms[8];
    uint32_t count = 0;
    if (!getPlatforms || !getDevices || getPlatforms(8, platforms, &count) != 0)
      return "no OpenCL platform is installed";
    constexpr uint64_t anyDevice = 0xffffffff;
    for (uint32_t i = 0; i < std::min<uint32_t>(count, 8); ++i) {
      uint32_t devices = 0;
      if (getDevices(platforms[i], anyDevice, 0, nullptr, &devices) == 0 &&
          devices > 0)
        return nullptr;
    }
    return "no OpenCL device is installed";
  }();
  return reason;
}

const char *attn::testing::whyNoVulkan() {
  static const char *reason = []() -> const char * {
    void *library = dlopen("libvulkan.so.1", RTLD_NOW);
    if (!library)
      return "no Vulkan library is installed";
    // VkInstanceCreateInfo with nothing asked for.
    struct {
      int32_t type = 1;
      const void *next = nullptr;
      uint32_t flags = 0;
      const void *application = nullptr;
      uint32_t layers = 0;
      const char *const *layerNames = nullptr;
      uint32_t extensions = 0;
      const char *const *extensionNames = nullptr;
    } info;
    using Create = int32_t (*)(const void *, const void *, void **);
    using Devices = int32_t (*)(void *, uint32_t *, void **);
    using Destroy = void (*)(void *, const void *);
    auto create = reinterpret_cast<Create>(dlsym(library, "vkCreateInstance"));
    auto devices =
        reinterpret_cast<Devices>(dlsym(library, "vkEnumeratePhysicalDevices"));
    auto destroy =
        reinterpret_cast<Destroy>(dlsym(library, "vkDestroyInstance"));
    void *instance = nullptr;
    if (!create || !devices || !destroy ||
        create(&info, nullptr, &instance) != 0)
      return "no Vulkan driver is installed";
    uint32_t count = 0;
    bool any = devices(instance, &count, nullptr) == 0 && count > 0;
    destroy(instance, nullptr);
    return any ? nullptr : "no Vulkan device is installed";
  }();
  return reason;
}

std::string attn::testing::compileError(const std::string &module,
                                        const std::string &target) {
  Files files;
  KernelFiles wanted;
  wanted.bitcode = files.path("kernel.bc");
  return compileTo(module, target, wanted);
}

CompiledKernel::~CompiledKernel() = default;

std::unique_ptr<CompiledKernel>
CompiledKernel::compile(const std::string &module, const std::string &target) {
  Files files;
  KernelFiles wanted;
  wanted.bitcode = files.path("kernel.bc");
  wanted.stmt = files.path("kernel.stmt");
  wanted.assembly = files.path("kernel.s");
  bool isDevice = lookupTarget(target)->isGpu();
  if (isDevice)
    wanted.deviceCode = files.path("kernel.device");
  auto start = std::chrono::steady_clock::now();
  std::string errors = compileTo(module, target, wanted);
  if (!errors.empty()) {
    ADD_FAILURE() << errors;
    return nullptr;
  }
  auto kernel = std::make_unique<CompiledKernel>();
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  kernel->compileSeconds = seconds.count();
  kernel->stmt = readFile(wanted.stmt);
  kernel->assembly = readFile(wanted.assembly);
  kernel->deviceCode = readFile(wanted.deviceCode);
  kernel->implementation = std::make_unique<Implementation>();

  static bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
    return true;
  }();
  (void)initialized;
  auto context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic diagnostic;
  auto bitcode = llvm::parseIRFile(wanted.bitcode, diagnostic, *context);
  if (!bitcode || target == "arm64" ||
      lookupTarget(target)->api == DeviceApi::Cuda)
    return kernel; // Compiled only.
  if (isDevice) {
    // The run-time is translated once for all kernels of a target.
    static std::map<std::string, std::unique_ptr<DeviceProgram>> programs;
    std::unique_ptr<DeviceProgram> &program = programs[target];
    if (!program)
      program = std::make_unique<DeviceProgram>(target, files);
    static int number = 0;
    llvm::orc::LLJIT &jit = *program->jit;
    llvm::orc::JITDylib &library =
        llvm::cantFail(jit.createJITDylib("kernel" + std::to_string(number++)));
    library.addToLinkOrder(jit.getMainJITDylib());
    bitcode->setDataLayout(jit.getDataLayout());
    llvm::cantFail(jit.addIRModule(
        library,
        llvm::orc::ThreadSafeModule(std::move(bitcode), std::move(context))));
    kernel->implementation->device = program->functions;
    kernel->implementation->function =
        llvm::cantFail(jit.lookup(library, "kernel")).toPtr<void *>();
    return kernel;
  }
  auto jit = makeJit();
  bitcode->setDataLayout(jit->getDataLayout());
  llvm::cantFail(jit->addIRModule(
      llvm::orc::ThreadSafeModule(std::move(bitcode), std::move(context))));
  kernel->implementation->function = lookup<void *>(*jit, "kernel");
  kernel->implementation->jit = std::move(jit);
  return kernel;
}

int CompiledKernel::run(const std::vector<Tensor> &arguments,
                        int threads) const {
  std::vector<halide_buffer_t> buffers(arguments.size());
  std::vector<std::vector<halide_dimension_t>> dims(arguments.size());
  void *a[10] = {};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Tensor &tensor = arguments[i];
    size_t rank = tensor.shape.size();
    for (size_t dim = rank; dim-- > 0;)
      dims[i].emplace_back(0, static_cast<int32_t>(tensor.shape[dim]),
                           static_cast<int32_t>(tensor.strides[dim]));
    memset(&buffers[i], 0, sizeof(halide_buffer_t));
    buffers[i].host = tensor.as<uint8_t>();
    buffers[i].type = tensor.type;
    buffers[i].dimensions = static_cast<int32_t>(rank);
    buffers[i].dim = dims[i].data();
    a[i] = &buffers[i];
  }
  threadCount = threads;
  largest = 0;
  const std::optional<DeviceFunctions> &device = implementation->device;
  // A device has no empty memory.
  auto allocateEmpty = [&](halide_buffer_t &buffer) {
    halide_dimension_t one(0, 1, 1);
    halide_buffer_t proxy = {};
    proxy.type = buffer.type;
    proxy.dimensions = 1;
    proxy.dim = &one;
    EXPECT_EQ(device->allocate(nullptr, &proxy, device->interface), 0);
    buffer.device = proxy.device;
    buffer.device_interface = proxy.device_interface;
  };
  if (device)
    for (auto [tensor, buffer] : llvm::zip(arguments, buffers)) {
      if (tensor.size() == 0)
        allocateEmpty(buffer);
      else
        buffer.set_host_dirty();
    }
  // Surplus arguments are ignored by the calling convention.
  using Function = int (*)(void *, void *, void *, void *, void *, void *,
                           void *, void *, void *, void *, void *);
  int status = reinterpret_cast<Function>(implementation->function)(
      nullptr, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9]);
  if (device)
    for (auto [tensor, buffer] : llvm::zip(arguments, buffers)) {
      if (tensor.size() != 0 && buffer.device_dirty() && status == 0)
        status = device->copyToHost(nullptr, &buffer);
      EXPECT_EQ(device->free(nullptr, &buffer), 0);
    }
  return status;
}
