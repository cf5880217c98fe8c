#include "framework/runs/worker_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "framework/base/error.hpp"
#include "framework/base/retry.hpp"
#include "framework/record/folder/tidy.hpp"

namespace softalign {

WorkerProcess::WorkerProcess(const std::vector<std::string>& command,
                             const std::filesystem::path& log) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  check_place(log, std::filesystem::file_type::regular);
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const int output = open(log.c_str(), flags, 0666);
  if (output < 0)
    throw MachineError("{}: cannot be written: {}", log.string(), std::strerror(errno));
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {  // only what may follow a fork: system calls
    setpgid(0, 0);  // a terminal's Ctrl-C is for the parent, which passes it on once
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1);
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    execv(arguments[0], arguments.data());
    _exit(kNotThere);
  }
  const int reason = errno;
  close(output);
  if (pid_ < 0) throw MachineError("no worker can be started: {}", std::strerror(reason));
}

WorkerProcess::~WorkerProcess() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  retry([&] { return waitpid(pid_, nullptr, 0); });
}

std::optional<ProcessEnd> WorkerProcess::ended() {
  int status = 0;
  if (pid_ <= 0 || retry([&] { return waitpid(pid_, &status, WNOHANG); }) == 0) return std::nullopt;
  pid_ = -1;
  if (WIFSIGNALED(status)) return ProcessEnd{0, WTERMSIG(status)};
  return ProcessEnd{WEXITSTATUS(status), 0};
}

void WorkerProcess::ask_to_stop() {
  if (pid_ <= 0) return;
  kill(pid_, SIGTERM);
  kill(pid_, SIGCONT);  // one that was halted could not save
}

double WorkerProcess::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

}  // namespace softalign
