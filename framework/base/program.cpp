#include "framework/base/program.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/types.hpp"

extern char** environ;

namespace softalign {
namespace {

// A file in memory as a standard stream: nobody waits for anybody to read.
class Stream {
 public:
  explicit Stream(const char* name) : file_(memfd_create(name, MFD_CLOEXEC)) {
    if (file_ == -1) throw MachineError("no memory for a program's {}", name);
  }
  ~Stream() { close(file_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int file() const { return file_; }

  void fill(const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
      const auto n = retry([&] { return write(file_, text.data() + done, text.size() - done); });
      if (n <= 0) throw MachineError("no memory for a program's input");
      done += usize(n);
    }
    lseek(file_, 0, SEEK_SET);
  }

  std::string content() const {
    std::string text;
    char part[4096];
    for (;;) {
      const auto n =
          retry([&] { return pread(file_, part, sizeof part, static_cast<off_t>(text.size())); });
      if (n <= 0) return text;
      text.append(part, usize(n));
    }
  }

 private:
  int file_;
};

// posix_spawnp's two objects, released on every way out.
struct Setting {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;

  Setting() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    sigset_t defaults;  // what we ignore is no business of other programs
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  }
  ~Setting() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
};

// Waits until the process ends; kills it at the limit. The status as waitpid gives it.
int wait_for(pid_t process, std::chrono::seconds limit, bool& timed_out) {
  const auto end = std::chrono::steady_clock::now() + limit;
  for (;;) {
    int status = 0;
    const bool last = std::chrono::steady_clock::now() >= end;
    if (last) {
      timed_out = true;
      kill(process, SIGKILL);
    }
    if (retry([&] { return waitpid(process, &status, last ? 0 : WNOHANG); }) != 0) return status;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace

ProgramOutcome run_program(const std::vector<std::string>& arguments,
                           const std::string& input,
                           std::chrono::seconds limit) {
  std::vector<char*> words;
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.data()));
  words.push_back(nullptr);
  Stream in("input"), out("output"), error("error");
  in.fill(input);
  Setting setting;
  posix_spawn_file_actions_adddup2(&setting.files, in.file(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&setting.files, out.file(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&setting.files, error.file(), STDERR_FILENO);
  pid_t process = 0;
  const int fault =
      posix_spawnp(&process, words[0], &setting.files, &setting.attributes, words.data(), environ);
  ProgramOutcome outcome;
  if (fault == ENOENT || fault == EACCES) {
    outcome.status = 127;
    return outcome;
  }
  if (fault != 0) throw MachineError("{}: {}", arguments[0], std::strerror(fault));
  const int status = wait_for(process, limit, outcome.timed_out);
  outcome.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  outcome.output = out.content();
  outcome.error = error.content();
  return outcome;
}

}  // namespace softalign
