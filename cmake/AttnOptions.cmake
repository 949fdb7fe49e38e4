#===- AttnOptions.cmake - how this project's code is compiled -------------===#
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
#
# Two INTERFACE targets hold everything that is not a source file:
#
#   attn_options   warnings, sanitizers, sections; for all targets
#   attn_mlir      MLIR's and LLVM's headers (as SYSTEM) and shared libraries
#
# RTTI is on, as in Debian's LLVM. Exceptions are off except where
# add_attn_library is told EXCEPTIONS.
#
#===-----------------------------------------------------------------------===#

# --- ccache and lld: faster, never needed.
find_program(ATTN_CCACHE ccache)
if(ATTN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(_launcher ${ATTN_CCACHE})
  if(ATTN_PCH AND NOT DEFINED ENV{CCACHE_SLOPPINESS})
    # Without it ccache does not cache what uses a precompiled header.
    set(_launcher env CCACHE_SLOPPINESS=pch_defines,time_macros ${_launcher})
  endif()
  set(CMAKE_C_COMPILER_LAUNCHER ${_launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${_launcher})
endif()
find_program(ATTN_LLD NAMES ld.lld HINTS ${LLVM_TOOLS_BINARY_DIR}
             NO_DEFAULT_PATH)
if(ATTN_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  add_link_options(--ld-path=${ATTN_LLD})
endif()
# A library that a target does not use is not loaded.
add_link_options(LINKER:--as-needed)

# --- attn_options
add_library(attn_options INTERFACE)
target_compile_options(
  attn_options INTERFACE -Wall -Wextra -Wno-unused-parameter
                         $<$<BOOL:${ATTN_WERROR}>:-Werror>)
if(ATTN_SANITIZE)
  # -fno-sanitize=vptr: LLVM's type hierarchies are not all polymorphic in the
  # shared libraries' view. -shared-libsan is not used: only our code is
  # instrumented.
  set(_sanitize -fsanitize=${ATTN_SANITIZE} -fno-sanitize=vptr,function
                -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(attn_options INTERFACE ${_sanitize})
  target_link_options(attn_options INTERFACE ${_sanitize})
endif()

# --- attn_mlir
add_library(attn_mlir INTERFACE)
target_include_directories(attn_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS}
                                                      ${LLVM_INCLUDE_DIRS})
separate_arguments(_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
list(TRANSFORM _llvm_definitions REPLACE "^-D" "")
# Debian's headers set it on the command line of each user; clang does so too.
list(FILTER _llvm_definitions EXCLUDE REGEX "^_GNU_SOURCE")
target_compile_definitions(attn_mlir INTERFACE ${_llvm_definitions})
target_link_libraries(attn_mlir INTERFACE MLIR LLVM)
