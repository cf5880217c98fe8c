# Installs the build BUILT below WORK, builds tests/package/ against it as a project of its own, and runs its host with its plugin;
# builds experiments/analysis/ in the same way: its program and its script print the same of one record.
set(project ${CMAKE_CURRENT_LIST_DIR})
file(REMOVE_RECURSE ${WORK})
function(must)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE printed ERROR_VARIABLE printed)
endfunction()
must(${CMAKE_COMMAND} --install ${BUILT} --prefix ${WORK}/prefix)
function(build source folder)
  must(${CMAKE_COMMAND} -S ${source} -B ${folder} -G Ninja -D CMAKE_PREFIX_PATH=${WORK}/prefix
       -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_BUILD_TYPE=Release)
  must(${CMAKE_COMMAND} --build ${folder})
endfunction()
build(${project} ${WORK}/build)
execute_process(COMMAND ${WORK}/build/host ${WORK}/build/probe.so COMMAND_ERROR_IS_FATAL ANY)
# The installed program finds the script of its report.
must(${WORK}/prefix/bin/softalign run ${WORK}/prefix/share/softalign/configs/tiny.yaml --results ${WORK}/results)
must(${WORK}/prefix/bin/softalign report ${WORK}/results -o ${WORK}/report.html)
foreach(command "figures.py;all" "figures.py;lengths")
  must(${PYTHON} ${WORK}/prefix/share/softalign/scripts/${command} ${WORK}/results --output ${WORK}/figures)
endforeach()
# What a distribution expects.
foreach(file share/doc/softalign/copyright share/doc/softalign/changelog.gz share/bash-completion/completions/softalign
             share/zsh/vendor-completions/_softalign share/fish/vendor_completions.d/softalign.fish
             share/softalign/configs/bible.yaml share/softalign/experiments/bible_en_es/data/train.en.gz share/softalign/experiments/links.py)
  if(NOT EXISTS ${WORK}/prefix/${file})
    message(FATAL_ERROR "${file} is not installed")
  endif()
endforeach()
must(${WORK}/prefix/bin/softalign validate ${WORK}/prefix/share/softalign/configs/bible.yaml)
must(${WORK}/prefix/bin/softalign sweep submit ${WORK}/prefix/share/softalign/configs/sweeps/scores.yaml --scheduler lsf --dry-run
     --results ${WORK}/sweeps)
must(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${WORK}/prefix/lib/pkgconfig pkg-config --exists --print-errors softalign)
if(EXISTS ${WORK}/prefix/lib/python3/dist-packages/softalign_lab)
  must(${CMAKE_COMMAND} -E env PYTHONPATH=${WORK}/prefix/lib/python3/dist-packages ${PYTHON} -c
       "import softalign_lab as sa; assert len(sa.runs('${WORK}/results')) == 1 and sa.lengths('${WORK}/results').notes")
endif()

set(analysis ${project}/../../experiments/analysis)
build(${analysis} ${WORK}/analysis)
file(GLOB record ${WORK}/results/tiny/*/run.h5)
execute_process(COMMAND ${WORK}/analysis/entropy ${record} COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE compiled)
execute_process(COMMAND ${PYTHON} ${analysis}/entropy.py ${record} COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE script)
if(NOT compiled STREQUAL script OR NOT script MATCHES "\n1-5 .*\n6\\+ ")
  message(FATAL_ERROR "entropy prints\n${compiled}and entropy.py\n${script}")
endif()
