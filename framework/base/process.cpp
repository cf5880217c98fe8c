#include "framework/base/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/types.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __linux__
#include <sys/prctl.h>
#elif defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

extern char** environ;

namespace softalign {

void prepare_process() {
  set_usual_arithmetic();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 1);  // training steps do not call malloc, so no thread waits
#endif
}

fs::path program_file() {
#ifdef __APPLE__
  std::string name(4096, '\0');
  auto size = static_cast<std::uint32_t>(name.size());
  return _NSGetExecutablePath(name.data(), &size) == 0 ? fs::path(name.c_str()) : fs::path();
#else
  std::error_code error;
  for (const char* link : {"/proc/self/exe", "/proc/curproc/file"})  // Linux, the BSDs
    if (const fs::path file = fs::read_symlink(link, error); !error) return file;
  return {};
#endif
}

void end_with_parent() {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
}

int file_in_memory([[maybe_unused]] const char* name) {
#ifdef __linux__
  return memfd_create(name, MFD_CLOEXEC);
#else
  std::FILE* const file = std::tmpfile();
  const int copy = file == nullptr ? -1 : fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
  if (file != nullptr) std::fclose(file);
  return copy;
#endif
}

bool has_usual_arithmetic() {
  volatile float smallest = std::numeric_limits<float>::denorm_min(), least = 0x1p-126F, one = 1,
                 half_of_last = 0x1p-24F;
  const bool takes = smallest * 2 != 0, gives = least / 2 != 0;
  const bool even = one + half_of_last == one && one + 3 * half_of_last == one + 4 * half_of_last;
  return takes && gives && even && -one - half_of_last == -one;
}

void set_usual_arithmetic() { std::fesetenv(FE_DFL_ENV); }

namespace {

// A file in memory as a standard stream, so that no process waits for a reader.
class Stream {
 public:
  explicit Stream(const char* name) : file_(file_in_memory(name)) {
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

// The two objects that posix_spawnp takes, released in every case.
struct Setting {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;

  Setting() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    sigset_t defaults;  // signals that we ignore are restored for other programs
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

// Waits until the process ends; kills it at the limit. Returns the status from waitpid.
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

std::filesystem::path shipped_file(const std::filesystem::path& name) {
  std::error_code error;
  const std::filesystem::path bin = program_file().parent_path();
  for (const std::filesystem::path& root : {bin / "../share/softalign", bin / "../../.."})
    if (std::filesystem::exists(root / name, error)) return normal_path(root / name);
  return {};
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::string first_line(const char* file) {
  const int opened = retry([&] { return open(file, O_RDONLY | O_CLOEXEC); });
  std::array<char, 4096> piece{};
  const ssize_t size =
      opened < 0 ? -1 : retry([&] { return read(opened, piece.data(), piece.size()); });
  const int reason = errno;
  if (opened >= 0) close(opened);
  if (size < 0 && reason != ENOENT && reason != ESRCH) throw_unreadable(file, reason);
  const std::string_view text(piece.data(), size < 0 ? 0 : usize(size));
  return std::string(text.substr(0, text.find('\n')));
}

std::string process_start_time(std::int64_t pid) {
#ifndef __linux__
  return kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM ? "?" : "";
#endif
  const std::string line = first_line(fmt::format("/proc/{}/stat", pid).c_str());
  const std::size_t name_end = line.rfind(')');  // the name may contain anything, also ") "
  if (name_end == std::string::npos) return {};
  std::istringstream fields(line.substr(name_end + 1));
  std::string field;
  fields >> field;
  if (field == "Z" || field == "X") return {};                   // dead, but not yet reaped
  for (int number = 4; number <= 22; ++number) fields >> field;  // proc(5): starttime is field 22
  return field;
}

std::string pid_namespace() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
}

std::string process_space() {
  static const std::string space =
      sha256_hex(first_line("/proc/sys/kernel/random/boot_id") + pid_namespace()).substr(0, 8);
  return space;
}

std::string environment_variable(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

double unix_time() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

std::string utc_time(double unix_seconds) {
  constexpr double kYear10000 = 253402300800;
  if (!(unix_seconds > 0 && unix_seconds < kYear10000)) return {};  // also NaN
  const auto seconds = static_cast<std::time_t>(unix_seconds);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32] = {};
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

namespace {

// Reads the number in a file; empty for "max", which means no limit.
std::optional<double> number_in(const fs::path& file) {
  std::ifstream in(file);
  double number = 0;
  if (in >> number) return number;
  return std::nullopt;
}

// Bytes of a line "MemTotal: 24684084 kB" of /proc/meminfo; 0 if missing.
double meminfo(const fs::path& root, const std::string& name) {
  std::ifstream in(root / "proc/meminfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(name + ":")) return 1024 * std::strtod(line.c_str() + name.size() + 1, {});
  return 0;
}

// Memory of this process: its whole address space, and the resident part.
struct Pages {
  double all = 0, resident = 0;  // bytes
};

Pages pages() {
  std::ifstream in("/proc/self/statm");
  Pages found;
  in >> found.all >> found.resident;
  const auto size = static_cast<double>(sysconf(_SC_PAGESIZE));
  return {found.all * size, found.resident * size};
}

void lower(MachineMemory& memory, double limit, const std::string& by) {
  if (limit >= memory.limit) return;
  memory.limit = limit;
  memory.limited_by = by;
}

// Applies the limits of the group and of all its parent groups. In a container, the path may name groups outside
// the container, which are invisible and skipped.
void lower_by_groups(MachineMemory& memory,
                     const fs::path& root,
                     const fs::path& mount,
                     const fs::path& group,
                     const char* file) {
  for (fs::path at = group.relative_path();; at = at.parent_path()) {
    if (const auto limit = number_in(root / mount / at / file))
      lower(memory, *limit, ("/" / mount / at / file).lexically_normal().string());
    if (at.empty()) return;
  }
}

}  // namespace

MachineMemory machine_memory(const fs::path& root) {
  MachineMemory memory;
  memory.physical = meminfo(root, "MemTotal");
  memory.limit = memory.physical > 0 ? memory.physical : std::numeric_limits<double>::infinity();
  memory.available = meminfo(root, "MemAvailable");
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "0::/a/b", "4:cpu,memory:/a"
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const std::string group = line.substr(second + 1);
    if (controllers == ",,")
      lower_by_groups(memory, root, "sys/fs/cgroup", group, "memory.max");
    else if (controllers.find(",memory,") != controllers.npos)
      lower_by_groups(memory, root, "sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
  }
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    const Pages now = pages();  // libraries and stacks take address space without being resident
    lower(memory, static_cast<double>(space.rlim_cur) - (now.all - now.resident), "ulimit -v");
  }
  return memory;
}

double resident_bytes() { return pages().resident; }

std::string bytes_text(double bytes) {
  if (bytes < 1e6) return fmt::format("{:.0f} kB", bytes / 1e3);
  if (bytes < 1e9) return fmt::format("{:.0f} MB", bytes / 1e6);
  const auto large = [](double value, const char* unit) {
    return fmt::format("{:.{}f} {}", value, value < 100 ? 1 : 0, unit);
  };
  return bytes < 1e12 ? large(bytes / 1e9, "GB") : large(bytes / 1e12, "TB");
}

}  // namespace softalign
