#===- AttnInstall.cmake - the installed package ---------------------------===#
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
#
# Programs are installed where they are added; this file installs headers,
# libraries and the CMake package, so that another project writes
#
#   find_package(Attn 0.1 REQUIRED CONFIG)
#   target_link_libraries(tool PRIVATE Attn::Pipelines)
#
# test/Install builds such a project.
#
#===-----------------------------------------------------------------------===#

include(CMakePackageConfigHelpers)

set(_package ${CMAKE_INSTALL_LIBDIR}/cmake/Attn)

get_property(_libraries GLOBAL PROPERTY ATTN_LIBRARIES)
install(TARGETS ${_libraries} attn_mlir EXPORT AttnTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT AttnTargets NAMESPACE Attn:: DESTINATION ${_package})

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc")
install(DIRECTORY ${PROJECT_BINARY_DIR}/include/
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.inc" PATTERN "CMakeFiles" EXCLUDE)

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/AttnConfig.cmake.in
  ${PROJECT_BINARY_DIR}/AttnConfig.cmake INSTALL_DESTINATION ${_package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/AttnConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(
  FILES ${PROJECT_BINARY_DIR}/AttnConfig.cmake
        ${PROJECT_BINARY_DIR}/AttnConfigVersion.cmake
        ${PROJECT_SOURCE_DIR}/cmake/FindHalide.cmake
  DESTINATION ${_package})
