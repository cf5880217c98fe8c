// One worker process: a program with its output in a log file.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace softalign {

// The exit status where the program or one of its libraries is not there, as while it is being built.
inline constexpr int kNotThere = 127;

// How a process ended: with an exit status, or killed by a signal.
struct ProcessEnd {
  int status = 0;
  int signal = 0;  // 0: it was not killed
};

class WorkerProcess {
 public:
  // Its output is appended to `log`, which is no link. It gets SIGTERM when this process dies. Throws
  // MachineError, and as check_place.
  WorkerProcess(const std::vector<std::string>& command, const std::filesystem::path& log);
  // Kills what still runs.
  ~WorkerProcess();
  WorkerProcess(WorkerProcess&& other) noexcept : pid_(other.pid_), began_(other.began_) {
    other.pid_ = -1;
  }
  WorkerProcess& operator=(WorkerProcess&&) = delete;

  std::optional<ProcessEnd> ended();  // empty while it runs
  void ask_to_stop();                 // SIGTERM
  double seconds() const;             // since it began

 private:
  pid_t pid_ = -1;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace softalign
