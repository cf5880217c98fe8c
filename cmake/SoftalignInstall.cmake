# What `cmake --install` puts where, and the CMake package for plugins built elsewhere: find_package(softalign).
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/softalign)

install(TARGETS libsoftalign softalign_settings EXPORT softalignTargets)
install(TARGETS softalign_linear_algebra LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET softalign_mpi)
  # cmake --install build/release --component mpi: packages do not depend on MPI.
  install(TARGETS softalign_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi EXCLUDE_FROM_ALL)
endif()
if(TARGET softalign)
  install(TARGETS softalign)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/framework DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/softalign
        FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs DESTINATION ${CMAKE_INSTALL_DATADIR}/softalign OPTIONAL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/experiments/bible_en_es DESTINATION ${CMAKE_INSTALL_DATADIR}/softalign/experiments OPTIONAL)  # which a spec reads
set(scripts report.py serve.py figures.py optuna_sweep.py)
list(TRANSFORM scripts PREPEND ${PROJECT_SOURCE_DIR}/scripts/)
install(PROGRAMS ${scripts} DESTINATION ${CMAKE_INSTALL_DATADIR}/softalign/scripts)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scripts/softalign_tools DESTINATION ${CMAKE_INSTALL_DATADIR}/softalign/scripts
        PATTERN "__pycache__" EXCLUDE)

install(EXPORT softalignTargets NAMESPACE softalign:: DESTINATION ${package_folder})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/softalignConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/softalignConfig.cmake
                              INSTALL_DESTINATION ${package_folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/softalignConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/softalignConfig.cmake ${PROJECT_BINARY_DIR}/softalignConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/SoftalignPlugin.cmake
        DESTINATION ${package_folder})
