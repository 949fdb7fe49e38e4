//===- EmitSpirv.cpp - the SPIR-V of all kernels ---------------*- C++ -*-===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Halide hands all launches of a kernel to its run-time in one piece of 32-bit
// words, of this machine's byte order:
//
//   number of launches
//   of each: the bytes of its part, the words of its name, its name
//   the parts: the words of a header, this one included; the header; a module
//
//===----------------------------------------------------------------------===//
#include "EmitSpirv.h"
#include "EmitStmt.h"
#include "attn/Target/Halide/HalideTarget.h"

#include <cstring>

using namespace mlir;
using namespace attn;

/// Takes the first word of `bytes` off; none where there is no more.
static std::optional<uint32_t> takeWord(StringRef &bytes) {
  uint32_t word;
  if (bytes.size() < sizeof word)
    return std::nullopt;
  std::memcpy(&word, bytes.data(), sizeof word);
  bytes = bytes.drop_front(sizeof word);
  return word;
}

/// The modules in what Halide hands to its run-time; none if it is something
/// else.
static std::optional<SmallVector<StringRef>> getModules(StringRef code) {
  std::optional<uint32_t> count = takeWord(code);
  SmallVector<uint32_t> sizes;
  for (uint32_t i = 0; i < count.value_or(0); ++i) {
    std::optional<uint32_t> size = takeWord(code), name = takeWord(code);
    if (!size || !name || uint64_t(*name) * 4 > code.size())
      return std::nullopt;
    sizes.push_back(*size);
    code = code.drop_front(size_t(*name) * 4);
  }
  SmallVector<StringRef> modules;
  for (uint32_t size : sizes) {
    StringRef part = code.take_front(size), rest = part;
    std::optional<uint32_t> header = takeWord(rest);
    if (part.size() != size || !header || uint64_t(*header) * 4 > size)
      return std::nullopt;
    modules.push_back(part.drop_front(size_t(*header) * 4));
    rest = modules.back();
    constexpr uint32_t magic = 0x07230203;
    if (takeWord(rest) != magic)
      return std::nullopt;
    code = code.drop_front(size);
  }
  if (modules.empty())
    return std::nullopt;
  return modules;
}

LogicalResult attn::emitSpirv(ModuleOp module, StringRef folder,
                              StringRef prefix, OutputFiles &files) {
  return forEachDeviceCode(
      module, DeviceApi::Vulkan, folder,
      [&](KernelOp kernel, const TargetInfo &target,
          StringRef code) -> LogicalResult {
        // Plain loops, and kernels of empty tensors, launch nothing.
        if (code.empty())
          return success();
        auto modules = getModules(code);
        if (!modules)
          return kernel.emitOpError("expected SPIR-V of Halide, got ")
                 << code.size() << " bytes of another form";
        for (auto [number, bytes] : llvm::enumerate(*modules)) {
          std::string path = (prefix + "." + getKernelSymbol(kernel, target) +
                              "." + Twine(number) + ".spv")
                                 .str();
          llvm::Expected<llvm::raw_fd_ostream *> file = files.open(path);
          if (!file)
            return kernel.emitOpError() << llvm::toString(file.takeError());
          **file << bytes;
        }
        return success();
      });
}
