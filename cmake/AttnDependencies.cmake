#===- AttnDependencies.cmake - what attn-opt is built on ------------------===#
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
#
# Finds MLIR and LLVM 22.1 (shared libraries), the Halide 21 wheel, fmt and
# GoogleTest. Each failure says which package is missing and how to get it.
# docs/Dependencies.md says why each is needed.
#
#===-----------------------------------------------------------------------===#

set(ATTN_MLIR_VERSION 22.1) # MLIR's API changes between any two releases.

# MLIRConfigVersion.cmake accepts equal major.minor only, which is what is
# wanted; its own message would not say how to get there.
find_package(MLIR ${ATTN_MLIR_VERSION} QUIET CONFIG
             HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT MLIR_FOUND)
  if(MLIR_CONSIDERED_VERSIONS)
    set(_found "found only ${MLIR_CONSIDERED_VERSIONS} at "
               "${MLIR_CONSIDERED_CONFIGS}")
  else()
    set(_found "found none")
  endif()
  message(
    FATAL_ERROR
      "expected MLIR ${ATTN_MLIR_VERSION}.x, " ${_found}
      ": run utils/setup.sh (Debian packages libmlir-22-dev, mlir-22-tools, "
      "llvm-22-dev) or pass -DMLIR_DIR=<prefix>/lib/cmake/mlir")
endif()
if(NOT TARGET MLIR OR NOT TARGET LLVM)
  message(
    FATAL_ERROR
      "expected MLIR and LLVM as shared libraries (because static ones export "
      "llvm:: symbols that clash with those inside libHalide), got a package "
      "without the targets MLIR and LLVM at ${MLIR_DIR}: run utils/setup.sh")
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddMLIR) # mlir_tablegen

find_package(Threads REQUIRED)
find_package(fmt 9 REQUIRED CONFIG)
find_package(Halide 21 REQUIRED)

# Tools of the same LLVM, wherever that is. clang compiles the run-time of
# generated objects to bitcode, which LLVM 22 merges with the kernels.
find_program(ATTN_CLANG NAMES clang-22 clang HINTS ${LLVM_TOOLS_BINARY_DIR}
             NO_DEFAULT_PATH)
if(NOT ATTN_CLANG)
  find_program(ATTN_CLANG NAMES clang-22)
endif()
if(NOT ATTN_CLANG)
  message(FATAL_ERROR "expected clang 22 (because the run-time of generated "
                      "objects is LLVM ${LLVM_VERSION} bitcode), found none: "
                      "run utils/setup.sh (Debian package clang-22)")
endif()

# The Python of the environment that holds the Halide wheel: tests use it, and
# lit runs in it. Any other python3 does too, with fewer tests.
string(REGEX REPLACE "/lib/python3[^/]*/site-packages/.*" "" _venv
                     "${HALIDE_LIBRARY}")
find_program(ATTN_PYTHON NAMES python3 HINTS ${_venv}/bin NO_DEFAULT_PATH)
if(NOT ATTN_PYTHON)
  find_program(ATTN_PYTHON NAMES python3 REQUIRED)
endif()

include(AttnBitcodeCheck)
