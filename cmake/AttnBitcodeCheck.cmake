#===- AttnBitcodeCheck.cmake - Halide's bitcode must be readable ----------===#
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
#
# Kernels leave Halide as bitcode and are linked by our LLVM. LLVM reads the
# bitcode of older releases, never reliably that of newer ones, so the LLVM
# inside libHalide must not be newer than ours. The version is nowhere in the
# wheel's headers; a small program lets Halide write bitcode, and the
# identification block of the file names its producer. Asked once a library.
#
#===-----------------------------------------------------------------------===#

if(NOT ATTN_HALIDE_PROBED STREQUAL HALIDE_LIBRARY)
  set(_probe ${PROJECT_BINARY_DIR}/CMakeFiles/AttnBitcodeProbe)
  message(STATUS "Checking the LLVM inside libHalide")
  try_run(
    _run _compiled ${_probe}
    SOURCES ${PROJECT_SOURCE_DIR}/cmake/BitcodeProbe.cpp
    LINK_LIBRARIES Halide::Halide
    CXX_STANDARD 17
    COMPILE_OUTPUT_VARIABLE _compile_output
    RUN_OUTPUT_VARIABLE _output
    ARGS ${_probe}/probe.bc)
  if(NOT _compiled)
    message(FATAL_ERROR "a program that uses Halide ${Halide_VERSION} at "
                        "${HALIDE_LIBRARY} does not build:\n${_compile_output}")
  elseif(NOT _run EQUAL 0)
    message(FATAL_ERROR "a program that uses Halide ${Halide_VERSION} at "
                        "${HALIDE_LIBRARY} does not run:\n${_output}")
  endif()
  execute_process(
    COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-bcanalyzer --dump ${_probe}/probe.bc
    OUTPUT_VARIABLE _dump
    ERROR_VARIABLE _error
    RESULT_VARIABLE _status)
  if(NOT _dump MATCHES "record string = 'LLVM([0-9.]+)")
    message(FATAL_ERROR "cannot read the producer of Halide's bitcode with "
                        "${LLVM_TOOLS_BINARY_DIR}/llvm-bcanalyzer (Debian "
                        "package llvm-22): ${_status} ${_error}")
  endif()
  set(ATTN_HALIDE_LLVM_VERSION
      ${CMAKE_MATCH_1}
      CACHE INTERNAL "The LLVM inside libHalide")
  set(ATTN_HALIDE_PROBED
      ${HALIDE_LIBRARY}
      CACHE INTERNAL "The library ATTN_HALIDE_LLVM_VERSION was read from")
  message(STATUS "Checking the LLVM inside libHalide - "
                 "${ATTN_HALIDE_LLVM_VERSION}")
endif()

if(ATTN_HALIDE_LLVM_VERSION VERSION_GREATER LLVM_VERSION)
  message(
    FATAL_ERROR
      "expected a Halide whose LLVM is not newer than ${LLVM_VERSION} (because "
      "its bitcode is linked by that LLVM), got LLVM "
      "${ATTN_HALIDE_LLVM_VERSION} in ${HALIDE_LIBRARY}: run utils/setup.sh, "
      "which installs the wheel halide==21.0.0")
endif()
