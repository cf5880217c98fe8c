# A few tests with sanitizers, in a build of their own below WORK; all of them: scripts/test.sh --preset asan.
set(targets softalign test_base test_config test_data test_record)
set(tests base config data record pytest_app)
set(of_pytest_app "complete_run_is_not_run_again or threads_and_the_folder or (goes_on and SIGTERM) or translate_takes or evaluate")
function(must)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
# Not optimised: that would cost more time than it saves here.
must(${CMAKE_COMMAND} --preset asan -S ${SOURCE} -B ${WORK} -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_FLAGS_RELWITHDEBINFO=-g1)
must(${CMAKE_COMMAND} --build ${WORK} --target ${targets})
list(JOIN tests | tests)
must(${CMAKE_COMMAND} -E env "PYTEST_ADDOPTS=-k '${of_pytest_app}'"
     ${CMAKE_CTEST_COMMAND} --test-dir ${WORK} --output-on-failure -R "^(${tests})$")
