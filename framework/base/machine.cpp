#include "framework/base/machine.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "framework/base/hash.hpp"
#include "framework/base/regular_file.hpp"
#include "framework/base/retry.hpp"
#include "framework/base/types.hpp"

namespace softalign {

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
  const std::string line = first_line(fmt::format("/proc/{}/stat", pid).c_str());
  const std::size_t name_end = line.rfind(')');  // the name may hold anything, also ") "
  if (name_end == std::string::npos) return {};
  std::istringstream fields(line.substr(name_end + 1));
  std::string field;
  fields >> field;
  if (field == "Z" || field == "X") return {};                   // dead, only not yet waited for
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
  if (!(unix_seconds > 0 && unix_seconds < kYear10000)) return {};  // or it is no time at all
  const auto seconds = static_cast<std::time_t>(unix_seconds);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32] = {};
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace softalign
