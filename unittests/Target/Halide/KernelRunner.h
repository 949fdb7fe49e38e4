//===- KernelRunner.h - compiles and runs one kernel -----------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A kernel is written as MLIR text, compiled to bitcode as in the product and
// loaded with LLVM's ORC. The functions that Halide's run-time would serve are
// small ones here: parallel loops on any number of threads, and memory that
// starts as NaN. Tensors lie between pages that no one may touch. A kernel for
// OpenCL or Vulkan gets Halide's own run-time as well and runs on the first
// device.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_UNITTESTS_TARGET_HALIDE_KERNELRUNNER_H
#define ATTN_UNITTESTS_TARGET_HALIDE_KERNELRUNNER_H

#include <HalideRuntime.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace attn::testing {

/// Memory that ends (or starts) exactly at a page that faults. Filled with NaN.
class GuardedBuffer {
public:
  enum class Side { Front, Back };
  GuardedBuffer(size_t bytes, Side side, size_t alignment = 4);
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer &) = delete;
  GuardedBuffer &operator=(const GuardedBuffer &) = delete;

  template <typename T> T *as() { return reinterpret_cast<T *>(data); }

private:
  uint8_t *mapping, *data;
  size_t mapped;
};

/// A tensor in guarded memory.
struct Tensor {
  halide_type_t type;
  std::vector<int64_t> shape;
  /// In elements, outermost first.
  std::vector<int64_t> strides;
  std::shared_ptr<GuardedBuffer> memory;

  template <typename T> T *as() const { return memory->as<T>(); }
  int64_t size() const;
};

enum class Placement { Front, Back };

/// `rowStride` replaces the stride of the dimension before the last.
Tensor makeTensor(halide_type_t type, std::vector<int64_t> shape,
                  Placement placement, int64_t rowStride = 0,
                  size_t alignment = 4);
Tensor makeFloats(std::vector<int64_t> shape, Placement placement,
                  int64_t rowStride = 0);

/// Fills with numbers in [-1, 1) that depend on the seed alone.
void fillRandom(Tensor &tensor, uint32_t seed, float scale = 1.0f);

/// (N, K) as zero-padded panels (ceil(N / panel), K, panel).
Tensor packPanels(const Tensor &weight, int64_t panel, Placement placement);

/// Dense f32 as numbers of `element`, which is f32, f16 or bf16, rounded to
/// nearest; and back. f32 is the tensor itself.
Tensor narrowTo(const Tensor &floats, const std::string &element,
                Placement placement);
Tensor widenFrom(const Tensor &stored, const std::string &element,
                 Placement placement);

class CompiledKernel {
public:
  /// Compiles the only attn.kernel of `module`. Errors become test failures.
  static std::unique_ptr<CompiledKernel>
  compile(const std::string &module, const std::string &target = "x86-64-v3");
  ~CompiledKernel();

  /// Runs with this many threads, or on a device; returns the kernel's status.
  int run(const std::vector<Tensor> &arguments, int threads = 1) const;

  double compileSeconds = 0;
  /// Halide's loop nest and the assembly of its own code generator.
  std::string stmt, assembly;
  /// OpenCL C or PTX.
  std::string deviceCode;
  /// The largest block that the last run asked for.
  static size_t largestAllocation();

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation;
};

/// Why kernels cannot run on an OpenCL device, or null.
const char *whyNoOpenCL();
/// The same of a Vulkan device.
const char *whyNoVulkan();

/// Ends a test that needs an OpenCL device where there is none.
#define ATTN_SKIP_WITHOUT_OPENCL()                                             \
  do {                                                                         \
    if (const char *reason = attn::testing::whyNoOpenCL())                     \
      GTEST_SKIP() << reason;                                                  \
  } while (false)

/// The error texts of a module that must not compile.
std::string compileError(const std::string &module,
                         const std::string &target = "x86-64-v3");

} // namespace attn::testing
#endif // ATTN_UNITTESTS_TARGET_HALIDE_KERNELRUNNER_H
