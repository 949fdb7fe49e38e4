#===- AttnPch.cmake - precompiled headers of MLIR and Halide --------------===#
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
#
# The headers of MLIR and Halide are most of the compile time of this project's
# files. Measured with clang 22 and -O2: a file that walks a module and uses scf
# and tensor takes 3.9 s without and 0.2 s with the precompiled header, which
# itself takes 8 s once a build tree; a file that uses Halide as well takes
# 11.4 s without and 4.4 s with, and its header 8 s.
#
# target_precompile_headers is not used because ccache then never hits in
# another build tree: the tree's own path is written into the header and its
# rules. Here the main file is an installed header and clang runs in /, so the
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

# Adds a target `name` that precompiles a header after ATTN_PCH_HEADERS, with
# the flags of this project's libraries, FLAGS and the definitions of USES, to
# <build>/<name>.pch.
function(_attn_add_pch name header)
  cmake_parse_arguments(ARG "" "" "FLAGS;USES" ${ARGN})
  string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
  separate_arguments(flags NATIVE_COMMAND
                     "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${config}}")
  set(definitions)
  foreach(used ${ARG_USES})
    get_target_property(names ${used} INTERFACE_COMPILE_DEFINITIONS)
    list(APPEND definitions ${names})
  endforeach()
  list(TRANSFORM definitions PREPEND -D)
  set(options $<TARGET_PROPERTY:attn_options,INTERFACE_COMPILE_OPTIONS>)
  set(includes ${ATTN_PCH_HEADERS})
  list(TRANSFORM includes PREPEND "-include;")
  # No dependency on the headers: clang checks them when it reads the file and
  # the depfiles of the objects name them.
  add_custom_command(
    OUTPUT ${PROJECT_BINARY_DIR}/${name}.pch
    COMMAND
      ${CMAKE_CXX_COMPILER} ${flags} ${CMAKE_CXX17_STANDARD_COMPILE_OPTION}
      ${definitions} ${options} -w -fPIC ${ARG_FLAGS} -isystem
      ${MLIR_INCLUDE_DIRS} -fdebug-compilation-dir=/ ${includes} -x c++-header
      -Xclang -fno-pch-timestamp -fpch-instantiate-templates ${header} -o
      ${PROJECT_BINARY_DIR}/${name}.pch
    WORKING_DIRECTORY /
    COMMENT "Precompiling headers (${name})"
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(${name} DEPENDS ${PROJECT_BINARY_DIR}/${name}.pch)
endfunction()

if(ATTN_PCH)
  _attn_add_pch(attn-pch ${MLIR_INCLUDE_DIRS}/mlir/Pass/Pass.h
                FLAGS -fno-exceptions USES attn_mlir)
  _attn_add_pch(attn-halide-pch ${HALIDE_INCLUDE_DIR}/Halide.h
                USES attn_mlir Halide::Halide)
endif()

# Lets a target use attn-pch or, with exceptions, attn-halide-pch. clang wants
# the same kind of position independence as in the header, which is that of a
# library; it suits a program too.
function(attn_use_pch name pch)
  if(ATTN_PCH)
    get_target_property(type ${name} TYPE)
    if(type STREQUAL EXECUTABLE)
      set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${name} PRIVATE -fPIC)
    endif()
    target_compile_options(
      ${name}
      PRIVATE
        "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include-pch ${PROJECT_BINARY_DIR}/${pch}.pch>"
    )
    add_dependencies(${name} ${pch})
  endif()
endfunction()
