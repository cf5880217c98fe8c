# softalign_add_plugin(NAME SOURCES FILE...): a plugin to load with `softalign --plugin NAME.so`. Language, definitions and flags come
# from the framework's target, so that they cannot differ from it; everything but what the framework looks for is hidden.
function(softalign_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 plugin "" "" SOURCES)
  if(NOT plugin_SOURCES OR plugin_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "softalign_add_plugin(${name} SOURCES FILE...): needs its sources, and nothing else")
  endif()
  add_library(${name} MODULE ${plugin_SOURCES})
  target_link_libraries(${name} PRIVATE softalign::softalign)
  set_target_properties(${name} PROPERTIES PREFIX "" CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden
                                           VISIBILITY_INLINES_HIDDEN ON)
endfunction()
