# For builds with sanitizers. All processes of all tests write findings into one folder, so that none is lost if a test expects the
# program to fail; a test at the end fails if the folder has any (as a script: cmake -D REPORTS=FOLDER -P reports.cmake).
if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB reports ${REPORTS}/*)
  foreach(report ${reports})
    file(READ ${report} text LIMIT 6000)
    message("${report}\n${text}")
  endforeach()
  list(LENGTH reports count)
  if(count)
    message(FATAL_ERROR "the sanitizers found something in ${count} processes, see above and ${REPORTS}")
  endif()
  return()
endif()

set(reports ${PROJECT_BINARY_DIR}/sanitizer_reports)
add_test(NAME no_reports_yet COMMAND sh -c "rm -rf '${reports}' && mkdir '${reports}'")
add_test(NAME sanitizer_reports COMMAND ${CMAKE_COMMAND} -D REPORTS=${reports} -P ${CMAKE_CURRENT_LIST_FILE})
set_tests_properties(no_reports_yet PROPERTIES FIXTURES_SETUP reports)
set_tests_properties(sanitizer_reports PROPERTIES FIXTURES_CLEANUP reports)

# Watches the tests that the caller's folder has so far.
function(softalign_watch_tests)
  get_property(tests DIRECTORY PROPERTY TESTS)
  list(FILTER tests EXCLUDE REGEX "^(no_reports_yet|sanitizer_reports)$")
  set(options log_path=${reports}/report log_exe_name=1 ${ARGN})
  list(JOIN options : options)
  set_property(TEST ${tests} APPEND PROPERTY ENVIRONMENT
               "ASAN_OPTIONS=${options}" "UBSAN_OPTIONS=${options}:print_stacktrace=1" "TSAN_OPTIONS=${options}"
               "SOFTALIGN_SANITIZE=${SOFTALIGN_SANITIZE}")
  set_property(TEST ${tests} APPEND PROPERTY FIXTURES_REQUIRED reports)
endfunction()
