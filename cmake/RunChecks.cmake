#===- RunChecks.cmake - the `check` target --------------------------------===#
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
#
# Runs check-attn-lit and check-attn-unit one after the other and fails if
# either failed; a plain dependency would stop at the first.
#
#===-----------------------------------------------------------------------===#

set(_failed)
foreach(_target check-attn-lit check-attn-unit)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD_DIR} --target
                          ${_target} RESULT_VARIABLE _status)
  if(NOT _status EQUAL 0)
    list(APPEND _failed ${_target})
  endif()
endforeach()
if(_failed)
  message(FATAL_ERROR "failed: ${_failed}")
endif()
