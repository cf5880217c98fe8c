# What distributions expect of an installation (man pages, completions, licence, pkg-config), and the Debian package:
# cmake --build build/release && cpack --config build/release/CPackConfig.cmake, or scripts/deb.sh.
if(SKBUILD)
  return()
endif()
cmake_path(RELATIVE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY . OUTPUT_VARIABLE PC_LIBDIR)
configure_file(${PROJECT_SOURCE_DIR}/cmake/packages/softalign.pc.in ${PROJECT_BINARY_DIR}/softalign.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/softalign.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/SECURITY.md ${PROJECT_SOURCE_DIR}/CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(PROGRAMS ${PROJECT_SOURCE_DIR}/experiments/links.py DESTINATION ${CMAKE_INSTALL_DATADIR}/softalign/experiments)
if(TARGET softalign_python)
  set(SOFTALIGN_PYTHON_FOLDER lib/python3/dist-packages CACHE STRING "Where Python looks for packages, below the prefix")
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/framework/python/softalign_lab ${PROJECT_SOURCE_DIR}/scripts/softalign_tools
          DESTINATION ${SOFTALIGN_PYTHON_FOLDER} PATTERN "__pycache__" EXCLUDE)
  install(TARGETS softalign_python LIBRARY DESTINATION ${SOFTALIGN_PYTHON_FOLDER}/softalign_lab)
endif()

find_program(HELP2MAN help2man)
find_program(GZIP gzip)
if(TARGET softalign)
  set(made ${PROJECT_BINARY_DIR}/made)
  file(MAKE_DIRECTORY ${made})
  foreach(completion "bash softalign bash-completion/completions" "zsh _softalign zsh/vendor-completions" "fish softalign.fish fish/vendor_completions.d")
    separate_arguments(completion)
    list(GET completion 0 shell)
    list(GET completion 1 file)
    list(GET completion 2 folder)
    install(CODE "execute_process(COMMAND $<TARGET_FILE:softalign> completion ${shell} OUTPUT_FILE ${made}/${file} COMMAND_ERROR_IS_FATAL ANY)")
    install(FILES ${made}/${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder})
  endforeach()
  if(HELP2MAN)
    install(CODE "execute_process(COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:softalign> -D HELP2MAN=${HELP2MAN} -D VERSION=${PROJECT_VERSION}
                                          -D FOLDER=${made}/man1 -P ${PROJECT_SOURCE_DIR}/cmake/packages/man.cmake COMMAND_ERROR_IS_FATAL ANY)
                  file(GLOB pages ${made}/man1/*.1)
                  execute_process(COMMAND ${GZIP} -9n \${pages} COMMAND_ERROR_IS_FATAL ANY)")
    install(DIRECTORY ${made}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
  endif()
endif()

file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/made/changelog CONTENT "softalign (${PROJECT_VERSION}) unstable; urgency=medium

  * First release.

 -- softalign authors <maintainers@users.noreply.github.com>  Sun, 29 Nov 2026 12:00:00 +0000
")
install(CODE "execute_process(COMMAND ${GZIP} -9nkf ${PROJECT_BINARY_DIR}/made/changelog COMMAND_ERROR_IS_FATAL ANY)")
install(FILES ${PROJECT_BINARY_DIR}/made/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME softalign)
set(CPACK_PACKAGE_CONTACT "softalign authors <maintainers@users.noreply.github.com>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Reproducible attention experiments")
set(CPACK_PACKAGE_DESCRIPTION "Trains sequence-to-sequence models whose encoder, attention and decoder a YAML
file names, and writes everything about a run into one HDF5 record, from which
the run can be repeated bit for bit. Sweeps, comparisons and reports build on
these records.")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
file(WRITE ${PROJECT_BINARY_DIR}/made/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/made/triggers)
if(TARGET softalign_python)
  math(EXPR next "${SOFTALIGN_PYTHON_MINOR} + 1")
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "python3 (>= 3.${SOFTALIGN_PYTHON_MINOR}), python3 (<< 3.${next}), python3-numpy, python3-pandas")
endif()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-matplotlib, python3-jinja2, python3-h5py")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, cmake, libfmt-dev, nlohmann-json3-dev, libxtensor-dev, python3-optuna")
include(CPack)
