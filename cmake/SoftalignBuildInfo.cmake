# Facts of the build as C++: run at every build as a script, it rewrites its output only when something changed.
# softalign_build_info(OUT) makes the target softalign_build_info and names the generated source.
if(CMAKE_SCRIPT_MODE_FILE)
  set(commit unknown)
  set(diff "")
  find_program(GIT git)
  if(GIT)
    execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse HEAD OUTPUT_VARIABLE found RESULT_VARIABLE failed
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT failed)
      set(commit ${found})
      execute_process(COMMAND ${GIT} -C ${SOURCE} diff HEAD --no-color --no-ext-diff -- framework cmake CMakeLists.txt
                      OUTPUT_VARIABLE diff ERROR_QUIET)
      execute_process(COMMAND ${GIT} -C ${SOURCE} ls-files --others --exclude-standard -- framework cmake
                      OUTPUT_VARIABLE untracked ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
      string(REPLACE "\n" ";" untracked "${untracked}")
      foreach(file ${untracked})  # which the build takes, too: a new plugin
        execute_process(COMMAND ${GIT} -C ${SOURCE} diff --no-index --no-color --no-ext-diff -- /dev/null ${file}
                        OUTPUT_VARIABLE added ERROR_QUIET)
        string(APPEND diff "${added}")
      endforeach()
    endif()
  endif()
  if(diff STREQUAL "")
    set(dirty false)
  else()
    set(dirty true)
  endif()
  string(SHA256 delimiter "${diff}")
  string(SUBSTRING ${delimiter} 0 14 delimiter)  # cannot stand in a text whose hash it is
  file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [=[
#include "framework/record/provenance/provenance.hpp"

namespace softalign {
const BuildInfo& build_info() {
  static const BuildInfo info{"@VERSION@", "@COMPILER@", "@FLAGS@", "@commit@", @dirty@,
                              R"@delimiter@(@diff@)@delimiter@",
                              {@LIBRARIES@}};
  return info;
}
}  // namespace softalign
]=])
  return()
endif()

function(softalign_build_info out)
  set(output ${PROJECT_BINARY_DIR}/generated/build_info.cpp)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  get_target_property(options softalign_settings INTERFACE_COMPILE_OPTIONS)
  string(JOIN " " flags ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}} ${options})
  set(libraries "")
  foreach(library fmt yaml-cpp nlohmann_json xtensor xtensor-blas ZLIB OpenSSL sentencepiece)
    string(TOUPPER ${library} upper)
    set(version "${${library}_VERSION}")
    if(NOT version)
      set(version "${${upper}_VERSION}")
    endif()
    if(NOT version)
      set(version "${${upper}_VERSION_STRING}")
    endif()
    string(APPEND libraries "{\"${library}\", \"${version}\"}, ")
  endforeach()
  add_custom_target(softalign_build_info BYPRODUCTS ${output} VERBATIM
    COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR} -D OUTPUT=${output} -D VERSION=${PROJECT_VERSION}
            -D "COMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" -D "FLAGS=${flags}"
            -D "LIBRARIES=${libraries}" -P ${PROJECT_SOURCE_DIR}/cmake/SoftalignBuildInfo.cmake)
  set(${out} ${output} PARENT_SCOPE)
endfunction()
