#===- AttnPch.cmake - one precompiled header of MLIR's core headers -------===#
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
#
# MLIR's headers are most of the compile time of this project's files. Measured
# on a file that walks a module and uses scf and tensor (clang 22, -O2): 3.9 s
# without, 0.2 s with this header, which itself takes 8 s once a build tree.
#
# target_precompile_headers is not used because ccache then never hits in
# another build tree: the tree's own path is written into the header and its
# rules. Here the main file is a header of MLIR and clang runs in /, so the
# result is the same, byte by byte, in all trees with the same flags, and
# ccache shares objects between them (measured: 0.1 s a file in a second
# tree). ccache wants to be told: CCACHE_SLOPPINESS=pch_defines,time_macros,
# which AttnOptions.cmake sets if the environment does not.
#
# A file must not rely on it: each includes what it uses, which the presets
# `dev` and `asan` check by building without.
#
#===-----------------------------------------------------------------------===#

# What most files of this project include, besides mlir/Pass/Pass.h.
set(ATTN_PCH_HEADERS
    mlir/Dialect/Arith/IR/Arith.h
    mlir/Dialect/Func/IR/FuncOps.h
    mlir/Dialect/Linalg/IR/Linalg.h
    mlir/Dialect/SCF/IR/SCF.h
    mlir/Dialect/Tensor/IR/Tensor.h
    mlir/IR/Builders.h
    mlir/IR/BuiltinOps.h
    mlir/IR/OpImplementation.h
    mlir/IR/PatternMatch.h)

if(ATTN_PCH AND NOT CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  message(STATUS "ATTN_PCH needs clang; building without")
  set(ATTN_PCH OFF)
endif()

if(ATTN_PCH)
  set(ATTN_PCH_FILE ${PROJECT_BINARY_DIR}/attn.pch)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" _config)
  separate_arguments(_flags NATIVE_COMMAND
                     "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${_config}}")
  set(_definitions $<TARGET_PROPERTY:attn_mlir,INTERFACE_COMPILE_DEFINITIONS>)
  set(_options $<TARGET_PROPERTY:attn_options,INTERFACE_COMPILE_OPTIONS>)
  set(_includes ${ATTN_PCH_HEADERS})
  list(TRANSFORM _includes PREPEND "-include;")
  # No dependency on the headers: clang checks them when it reads the file and
  # the depfiles of the objects name them.
  add_custom_command(
    OUTPUT ${ATTN_PCH_FILE}
    COMMAND
      ${CMAKE_CXX_COMPILER} ${_flags} ${CMAKE_CXX17_STANDARD_COMPILE_OPTION}
      "-D$<JOIN:${_definitions},;-D>" ${_options} -fPIC -fno-exceptions
      -isystem ${MLIR_INCLUDE_DIRS} -fdebug-compilation-dir=/ ${_includes} -x
      c++-header -Xclang -fno-pch-timestamp -fpch-instantiate-templates
      ${MLIR_INCLUDE_DIRS}/mlir/Pass/Pass.h -o ${ATTN_PCH_FILE}
    WORKING_DIRECTORY /
    COMMENT "Precompiling MLIR's headers"
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(attn-pch DEPENDS ${ATTN_PCH_FILE})
endif()

# For libraries without exceptions only: programs are position-independent in
# another way, and clang refuses a header that was compiled otherwise.
function(attn_use_pch name)
  if(ATTN_PCH)
    target_compile_options(
      ${name} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include-pch ${ATTN_PCH_FILE}>")
    add_dependencies(${name} attn-pch)
  endif()
endfunction()
