# Installs the build BUILT below WORK, builds tests/package/ against it as a project of its own, and runs its host with its plugin.
set(project ${CMAKE_CURRENT_LIST_DIR})
file(REMOVE_RECURSE ${WORK})
function(must)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE printed ERROR_VARIABLE printed)
endfunction()
must(${CMAKE_COMMAND} --install ${BUILT} --prefix ${WORK}/prefix)
must(${CMAKE_COMMAND} -S ${project} -B ${WORK}/build -G Ninja -D CMAKE_PREFIX_PATH=${WORK}/prefix
     -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_BUILD_TYPE=Release)
must(${CMAKE_COMMAND} --build ${WORK}/build)
execute_process(COMMAND ${WORK}/build/host ${WORK}/build/probe.so COMMAND_ERROR_IS_FATAL ANY)
