#===- FindHalide.cmake - the Halide compiler of the PyPI wheel ------------===#
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
#
# The wheel's own HalideConfig.cmake needs CMake 3.28 and Python headers, and
# asking Python (`import halide`) needs packages that only its bindings use.
# This module looks at the files instead:
#
#   HALIDE_ROOT     variable or environment: a folder with include/Halide.h,
#                   taken before anything else
#   .venv           the project's own virtual environment (utils/setup.sh)
#   VIRTUAL_ENV     an active virtual environment
#
# Defines Halide_FOUND, Halide_VERSION and the imported target Halide::Halide.
#
#===-----------------------------------------------------------------------===#

set(_halide_roots)
foreach(_root "${HALIDE_ROOT}" "$ENV{HALIDE_ROOT}")
  if(_root)
    list(APPEND _halide_roots "${_root}")
  endif()
endforeach()
foreach(_venv "${PROJECT_SOURCE_DIR}/.venv" "$ENV{VIRTUAL_ENV}")
  if(_venv)
    file(GLOB _found "${_venv}/lib/python3*/site-packages/halide")
    list(APPEND _halide_roots ${_found})
  endif()
endforeach()

# An environment that was removed or made anew is looked for again.
foreach(_cached HALIDE_INCLUDE_DIR HALIDE_LIBRARY)
  if(${_cached} AND NOT EXISTS "${${_cached}}")
    unset(${_cached} CACHE)
  endif()
endforeach()

find_path(
  HALIDE_INCLUDE_DIR Halide.h
  HINTS ${_halide_roots}
  PATH_SUFFIXES include)
find_library(
  HALIDE_LIBRARY Halide
  HINTS ${_halide_roots}
  PATH_SUFFIXES lib64 lib)

if(HALIDE_INCLUDE_DIR)
  foreach(_part MAJOR MINOR PATCH)
    file(STRINGS "${HALIDE_INCLUDE_DIR}/HalideRuntime.h" _line
         REGEX "#define HALIDE_VERSION_${_part} ")
    string(REGEX MATCH "[0-9]+" Halide_VERSION_${_part} "${_line}")
  endforeach()
  set(Halide_VERSION
      ${Halide_VERSION_MAJOR}.${Halide_VERSION_MINOR}.${Halide_VERSION_PATCH})
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Halide
  REQUIRED_VARS HALIDE_LIBRARY HALIDE_INCLUDE_DIR
  VERSION_VAR Halide_VERSION
  REASON_FAILURE_MESSAGE
    "run utils/setup.sh, which installs the wheel halide==21.0.0 into .venv, or pass -DHALIDE_ROOT=<folder with include/Halide.h>"
)
mark_as_advanced(HALIDE_INCLUDE_DIR HALIDE_LIBRARY)

if(Halide_FOUND AND NOT TARGET Halide::Halide)
  add_library(Halide::Halide SHARED IMPORTED)
  set_target_properties(
    Halide::Halide
    PROPERTIES IMPORTED_LOCATION "${HALIDE_LIBRARY}"
               INTERFACE_INCLUDE_DIRECTORIES "${HALIDE_INCLUDE_DIR}"
               # How the wheel was built; a mismatch changes class layouts.
               INTERFACE_COMPILE_DEFINITIONS
               "HALIDE_ENABLE_RTTI;HALIDE_WITH_EXCEPTIONS"
               INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS}")
endif()
