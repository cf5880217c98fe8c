# A few tests with sanitizers, in a build of their own: cmake -D SOURCE=.. -D WORK=FOLDER -D COMPILER=.. -P smoke.cmake. For all of
# them: scripts/test.sh --preset asan. Here are tests of the layers that read untrusted files and of the kernels, and only these layers are compiled:
# the whole library and the program would take ten minutes without ccache.
set(parts "base|config|data|kernels|record|plugins/tasks")
set(tests base config data kernels record)
set(without !plugins !what_was_read_is_what_is_loaded  # they load plugins that need other layers
            !image_captions !date_format)              # they take a minute

function(must)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
# Not optimised, because that takes longer than it saves.
must(${CMAKE_COMMAND} --preset asan -S ${SOURCE} -B ${WORK} -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_FLAGS_RELWITHDEBINFO=-g1
     "-DSOFTALIGN_PARTS=${parts}")
list(TRANSFORM tests PREPEND test_ OUTPUT_VARIABLE targets)
must(${CMAKE_COMMAND} --build ${WORK} --target ${targets})
list(JOIN tests | tests)
list(JOIN without : without)
must(${CMAKE_COMMAND} -E env "BOOST_TEST_RUN_FILTERS=${without}"
     ${CMAKE_CTEST_COMMAND} --test-dir ${WORK} --output-on-failure -R "^(${tests})$")
