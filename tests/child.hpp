// Work in a process of its own, which may be killed.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>

namespace softalign::test {

// Begins `work` in a process of its own, which ends with its status, or with 255 after an exception.
inline pid_t begin_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child != 0) return child;
  try {
    _exit(work());
  } catch (const std::exception& error) {
    fprintf(stderr, "%s\n", error.what());
  }
  _exit(255);
}

// Waits for the process; its exit status, -signal when it was killed.
inline int end_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

inline int in_child(const std::function<int()>& work) { return end_of(begin_child(work)); }

}  // namespace softalign::test
