# Compiler settings and libraries that every target shares.
include(GNUInstallDirs)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache looks into precompiled headers only when told what may differ in them, and shares between checkouts what
  # differs in their folder's name alone.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(xtensor REQUIRED)
find_package(xtensor-blas REQUIRED)
find_package(BLAS REQUIRED)
find_package(Boost REQUIRED)  # headers: Student's t
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(HDF5 REQUIRED COMPONENTS C HL)
find_package(PkgConfig REQUIRED)
set(SOFTALIGN_SENTENCEPIECE AUTO CACHE STRING "Subword vocabularies: ON, OFF, or AUTO where the library is found")
if(SOFTALIGN_SENTENCEPIECE STREQUAL "AUTO")
  pkg_check_modules(sentencepiece QUIET IMPORTED_TARGET sentencepiece)
elseif(SOFTALIGN_SENTENCEPIECE)
  pkg_check_modules(sentencepiece REQUIRED IMPORTED_TARGET sentencepiece)
else()  # what an earlier configuration found
  unset(sentencepiece_FOUND CACHE)
  unset(sentencepiece_VERSION CACHE)
endif()
if(NOT sentencepiece_FOUND)
  message(STATUS "Without sentencepiece: vocabularies of subwords are refused")
endif()
# Header-only; its CMake target changed its name between versions 3 and 4.
find_path(UTF8CPP_INCLUDE_DIR utf8.h PATH_SUFFIXES utf8cpp REQUIRED)
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

# Bits: no contraction into fused multiply-adds and no fast-math, so that a kernel's bits do not depend on the vector width.
# A root that may set errno, or a comparison that may trap, would not be computed by vectors at all; neither changes a number.
add_library(softalign_settings INTERFACE)
target_compile_options(softalign_settings INTERFACE -ffp-contract=off -fno-math-errno -fno-trapping-math)
target_compile_features(softalign_settings INTERFACE cxx_std_20)

# By a newer rule of the language, which clang 19 can leave out, a class of xtensor 0.24 is ambiguous.
add_library(softalign_blas INTERFACE)
target_link_libraries(softalign_blas INTERFACE xtensor-blas BLAS::BLAS)
target_compile_options(softalign_blas INTERFACE "$<$<CXX_COMPILER_ID:Clang>:-fno-relaxed-template-template-args;-Wno-deprecated>")

# The files of a folder are one to the compiler, which then parses what they include once: a third of the time from nothing.
option(SOFTALIGN_UNITY "Compile the files of a folder together; OFF is faster where one file changes again and again" ON)
function(softalign_compile_by_folder target)
  if(NOT SOFTALIGN_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER "${folder}" group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

add_library(softalign_warnings INTERFACE)
target_compile_options(softalign_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # sees overflows, inlined from std::string and xtensor, that cannot happen
  target_compile_options(softalign_warnings INTERFACE -Wno-stringop-overflow -Wno-array-bounds)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL Clang)  # sees that libstdc++'s stable_sort calls a function of its own that users should not
  target_compile_options(softalign_warnings INTERFACE -Wno-deprecated-declarations)
endif()
if(SOFTALIGN_WERROR)
  target_compile_options(softalign_warnings INTERFACE -Werror)
endif()
if(SOFTALIGN_SANITIZE)
  set(sanitize -fsanitize=${SOFTALIGN_SANITIZE} -fno-sanitize-recover=all)
  target_compile_options(softalign_settings INTERFACE ${sanitize} -fno-omit-frame-pointer -D_GLIBCXX_ASSERTIONS)
  target_compile_definitions(softalign_settings INTERFACE SOFTALIGN_SANITIZE)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(softalign_settings INTERFACE -Wno-maybe-uninitialized)  # false ones, then
  endif()
  target_link_options(softalign_settings INTERFACE ${sanitize})
endif()
