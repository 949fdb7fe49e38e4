#===- AddAttn.cmake - functions to add parts of attn-opt ------------------===#
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
#
#   add_attn_library(AttnName A.cpp ... [LINK_LIBS lib...] [PRIVATE_LIBS lib...]
#                    [EXCEPTIONS])
#   add_attn_tool(attn-name a.cpp ... [LINK_LIBS lib...])
#   add_attn_unittest(AttnNameTests ATest.cpp ... [LINK_LIBS lib...])
#   add_attn_tablegen(File.td  Out.h.inc "-gen-flags" [Out.cpp.inc "..."]...)
#   add_attn_doc(File.td  Page.md "-gen-flags")
#   add_attn_runtime_bitcode(...)            in AttnRuntimeBitcode.cmake
#   add_attn_subdirectories(name...)         those that exist, in this order
#
#===-----------------------------------------------------------------------===#

include(AttnPch)
include(AttnRuntimeBitcode)

# All that mlir-tblgen writes; each library waits for it.
add_custom_target(attn-headers)

# The reference pages that mlir-tblgen writes; not in `all`.
add_custom_target(attn-doc)

# What all kinds of targets have in common.
function(_attn_setup_target name)
  cmake_parse_arguments(ARG "EXCEPTIONS" "" "" ${ARGN})
  target_include_directories(
    ${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                   $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
                   $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:attn_options>)
  if(NOT ARG_EXCEPTIONS)
    target_compile_options(${name}
                           PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
  endif()
  add_dependencies(${name} attn-headers)
endfunction()

# A static library that is part of the installed package. LINK_LIBS are those
# its headers use, PRIVATE_LIBS those only its sources use. EXCEPTIONS is for
# the one library that calls Halide; none may leave it.
function(add_attn_library name)
  cmake_parse_arguments(ARG "EXCEPTIONS" "" "LINK_LIBS;PRIVATE_LIBS" ${ARGN})
  if(NOT name MATCHES "^Attn[A-Z]")
    message(FATAL_ERROR "expected a library name like AttnAnalysis, got ${name}")
  endif()
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  string(REGEX REPLACE "^Attn" "" short ${name})
  add_library(Attn::${short} ALIAS ${name})
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${short})
  if(ARG_EXCEPTIONS)
    _attn_setup_target(${name} EXCEPTIONS)
    attn_use_pch(${name} attn-halide-pch)
  else()
    _attn_setup_target(${name})
    attn_use_pch(${name} attn-pch)
  endif()
  target_link_libraries(
    ${name}
    PUBLIC attn_mlir ${ARG_LINK_LIBS}
    PRIVATE ${ARG_PRIVATE_LIBS})
  set_property(GLOBAL APPEND PROPERTY ATTN_LIBRARIES ${name})
endfunction()

# What a program of the sanitizer build needs besides.
function(_attn_setup_program name)
  if(ATTN_SANITIZE MATCHES "address")
    target_sources(${name}
                   PRIVATE ${PROJECT_SOURCE_DIR}/cmake/SanitizerOptions.cpp)
  endif()
endfunction()

# A program in <build>/bin that is installed.
function(add_attn_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  _attn_setup_target(${name})
  attn_use_pch(${name} attn-pch)
  _attn_setup_program(${name})
  target_link_libraries(${name} PRIVATE attn_mlir ${ARG_LINK_LIBS})
  set_property(GLOBAL APPEND PROPERTY ATTN_TOOLS ${name})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# A GoogleTest program that `check-attn-unit` runs.
function(add_attn_unittest name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_UNPARSED_ARGUMENTS})
  _attn_setup_target(${name})
  attn_use_pch(${name} attn-pch)
  _attn_setup_program(${name})
  target_link_libraries(${name} PRIVATE attn_mlir ${ARG_LINK_LIBS}
                                        GTest::gmock GTest::gtest_main)
  set_target_properties(
    ${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/unittests)
  target_compile_definitions(
    ${name} PRIVATE ATTN_TEST_DATA="${PROJECT_SOURCE_DIR}/test/data")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300)
  set_property(GLOBAL APPEND PROPERTY ATTN_UNITTESTS ${name})
endfunction()

# Runs mlir-tblgen on a .td file of the current folder, once for each pair of
# output and flags. Outputs land in the same folder of the build tree, so
# that include/attn/X/Y.h.inc is included as "attn/X/Y.h.inc".
function(add_attn_tablegen td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(outputs)
  set(rest ${ARGN})
  while(rest)
    list(POP_FRONT rest output flags)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    mlir_tablegen(${output} ${flags} EXTRA_INCLUDES
                  ${PROJECT_SOURCE_DIR}/include ${MLIR_INCLUDE_DIRS})
    list(APPEND outputs ${CMAKE_CURRENT_BINARY_DIR}/${output})
  endwhile()
  file(RELATIVE_PATH id ${PROJECT_SOURCE_DIR}/include
       ${CMAKE_CURRENT_SOURCE_DIR}/${td})
  string(REGEX REPLACE "[/.]" "-" id ${id})
  add_custom_target(tablegen-${id} DEPENDS ${outputs})
  add_dependencies(attn-headers tablegen-${id})
endfunction()

# One page of docs/Reference, written to <build>/docs/Reference by `attn-doc`;
# utils/gen_docs.sh copies the pages into the source tree.
function(add_attn_doc td page flags)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  set(output ${PROJECT_BINARY_DIR}/docs/Reference/${page})
  add_custom_command(
    OUTPUT ${output}
    COMMAND
      ${MLIR_TABLEGEN_EXE} ${flags} -I${PROJECT_SOURCE_DIR}/include
      -I${MLIR_INCLUDE_DIRS} ${CMAKE_CURRENT_SOURCE_DIR}/${td} -o ${output} -d
      ${output}.d
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${td}
    DEPFILE ${output}.d
    COMMENT "Writing docs/Reference/${page}"
    VERBATIM)
  string(MAKE_C_IDENTIFIER ${page} id)
  add_custom_target(attn-doc-${id} DEPENDS ${output})
  add_dependencies(attn-doc attn-doc-${id})
endfunction()

# Adds those of the named folders that have a CMakeLists.txt.
function(add_attn_subdirectories)
  foreach(dir ${ARGN})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/CMakeLists.txt)
      add_subdirectory(${dir})
    endif()
  endforeach()
endfunction()
