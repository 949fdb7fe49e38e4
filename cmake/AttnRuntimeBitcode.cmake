#===- AttnRuntimeBitcode.cmake - C compiled into attn-opt as bitcode ------===#
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
#
# Generated objects contain a small run-time written in C. It is compiled here,
# once a target triple, to one bitcode module, and the modules become constant
# data of a library that answers "attn/Runtime/RuntimeBitcode.h". So attn-opt
# needs no file beside itself and no C compiler when it runs.
#
#   add_attn_runtime_bitcode(AttnRuntime
#     SOURCES  a.c b.c
#     TRIPLES  x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu
#     [FLAGS   more compiler flags])
#
#===-----------------------------------------------------------------------===#

# Sets `out` to the flags with which clang finds libc's headers for a triple:
# nothing for this machine's own, the headers of Debian's cross package for
# another, NOTFOUND where they are not installed.
function(_attn_runtime_sysroot triple out)
  string(REGEX MATCH "^[^-]+" arch ${triple})
  if(arch STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR)
    set(${out} "" PARENT_SCOPE)
  elseif(EXISTS /usr/${arch}-linux-gnu/include/pthread.h)
    set(${out} -isystem /usr/${arch}-linux-gnu/include PARENT_SCOPE)
  else()
    set(${out} NOTFOUND PARENT_SCOPE)
  endif()
endfunction()

function(add_attn_runtime_bitcode name)
  cmake_parse_arguments(ARG "" "" "SOURCES;TRIPLES;FLAGS" ${ARGN})
  set(flags
      -std=c11
      -O2
      -fPIC
      -fno-ident
      -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.
      -Wall
      -Wextra
      -Werror
      -I${PROJECT_SOURCE_DIR}/include
      ${ARG_FLAGS})
  set(declarations "")
  set(entries "")
  set(embed "")
  set(modules)
  foreach(triple ${ARG_TRIPLES})
    _attn_runtime_sysroot(${triple} sysroot)
    if(sysroot STREQUAL NOTFOUND)
      message(STATUS "No libc headers for ${triple}: objects for it are not "
                     "offered (utils/setup.sh installs them)")
      continue()
    endif()
    string(MAKE_C_IDENTIFIER ${triple} id)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${triple})
    file(MAKE_DIRECTORY ${folder})
    set(parts)
    foreach(source ${ARG_SOURCES})
      set(part ${folder}/${source}.bc)
      add_custom_command(
        OUTPUT ${part}
        COMMAND
          ${ATTN_CLANG} --target=${triple} ${sysroot} ${flags} -emit-llvm -c
          ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${part} -MD -MF ${part}.d
        DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source}
        DEPFILE ${part}.d
        COMMENT "Compiling ${source} to bitcode for ${triple}"
        VERBATIM)
      list(APPEND parts ${part})
    endforeach()
    set(module ${CMAKE_CURRENT_BINARY_DIR}/${triple}.bc)
    add_custom_command(
      OUTPUT ${module}
      COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-link ${parts} -o ${module}
      DEPENDS ${parts}
      COMMENT "Linking the run-time for ${triple}"
      VERBATIM)
    list(APPEND modules ${module})
    string(APPEND embed "ATTN_EMBED(${id}, \"${module}\")\n")
    string(APPEND entries "    {\"${triple}\", attn_rt_${id}, attn_rt_${id}_end},\n")
  endforeach()
  if(NOT modules)
    message(FATAL_ERROR "expected at least one triple of ${name} with libc "
                        "headers, got none: run utils/setup.sh")
  endif()
  set(ATTN_RUNTIME_EMBED "${embed}")
  set(ATTN_RUNTIME_ENTRIES "${entries}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/RuntimeBitcode.cpp.in
                 ${CMAKE_CURRENT_BINARY_DIR}/RuntimeBitcode.cpp @ONLY)
  set_source_files_properties(
    ${CMAKE_CURRENT_BINARY_DIR}/RuntimeBitcode.cpp PROPERTIES OBJECT_DEPENDS
                                                              "${modules}")
  add_attn_library(${name} ${CMAKE_CURRENT_BINARY_DIR}/RuntimeBitcode.cpp)
endfunction()
