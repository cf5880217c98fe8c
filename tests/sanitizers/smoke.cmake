# A few tests with sanitizers, in a build of their own: cmake -D SOURCE=.. -D WORK=FOLDER -D COMPILER=.. -P smoke.cmake. For all of
# them: scripts/test.sh --preset asan.
set(targets softalign test_base test_config test_data test_record)
set(tests base config data record pytest_app)  # of which pytest_app in part:
set(part "not_run_again or threads_and_the_folder or SIGTERM or recover_makes or evaluate_gives or translate_gives")

function(must)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
# Not optimised: that would take longer than it saves.
must(${CMAKE_COMMAND} --preset asan -S ${SOURCE} -B ${WORK} -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_FLAGS_RELWITHDEBINFO=-g1)
must(${CMAKE_COMMAND} --build ${WORK} --target ${targets})
list(JOIN tests | tests)
must(${CMAKE_COMMAND} -E env "PYTEST_ADDOPTS=-k '${part}'"
     ${CMAKE_CTEST_COMMAND} --test-dir ${WORK} --output-on-failure -R "^(${tests})$")
