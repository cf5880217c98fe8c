#include "framework/app/terminal/terminal.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/process.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/record/file.hpp"

namespace softalign::app {

void write_error(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void write_text(std::string_view text) {
  std::string safe;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\n\t", at), text.size());
    safe += printable(text.substr(at, end - at), kWhole);
    if (end < text.size()) safe += text[end];
    at = end + 1;
  }
  fmt::print("{}", safe);
}

std::string coloured(std::string_view text, std::string_view sgr) {
  return sgr.empty() ? std::string(text) : fmt::format("\x1b[{}m{}\x1b[0m", sgr, text);
}

void write_table(std::string_view table,
                 const std::function<std::string(std::string_view cell)>& colour_of) {
  if (!has_colours(STDOUT_FILENO)) return write_text(table);
  std::string text;
  for (std::size_t at = 0; at < table.size();) {
    if (table[at] == ' ' || table[at] == '\n') {
      text += table[at++];
      continue;
    }
    const std::size_t end =
        std::min({table.find("  ", at), table.find(" \n", at), table.find('\n', at), table.size()});
    const std::string cell = printable(table.substr(at, end - at), kWhole);
    text += coloured(cell, colour_of(cell));
    at = end;
  }
  fmt::print("{}", text);
}

namespace {

std::string colours = "auto";

}  // namespace

void set_colours(const std::string& when) { colours = when; }

bool has_colours(int descriptor) {
  if (colours != "auto") return colours == "always";
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  return isatty(descriptor) != 0 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

void write_data(std::string_view text) {
  if (isatty(STDOUT_FILENO) != 0)
    write_text(text);
  else
    fmt::print("{}", text);
}

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  const auto inside = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  std::size_t head = most / 2, tail = text.size() - most / 2;
  while (head > 0 && inside(text[head])) --head;
  while (tail < text.size() && inside(text[tail])) ++tail;
  return fmt::format("{} … {}", text.substr(0, head), text.substr(tail));
}

bool confirmed(const std::string& question) {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0) return false;
  std::fflush(stdout);
  write_error(question + " [y/N] ");
  std::string answer;
  for (int c = std::getchar(); c != EOF && c != '\n'; c = std::getchar())
    answer += static_cast<char>(c);
  return answer == "y" || answer == "Y" || answer == "yes";
}

bool output_is_closed() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return poll(&output, 1, 0) > 0 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

std::size_t terminal_lines(int descriptor) {
  struct winsize size = {};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

std::string clock_time(double seconds) {
  const auto s = static_cast<long long>(std::llround(std::clamp(seconds, 0.0, 3.6e6)));
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

std::string rough_time(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 100 * 60) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{:.0f} h", seconds / 3600);
  return fmt::format("{:.0f} d", seconds / 86400);
}

std::string rough_count(double count) {
  if (count < 999.5) return fmt::format("{:.0f}", count);
  if (count < 99950) return fmt::format("{:.1f}k", count / 1e3);
  if (count < 999500) return fmt::format("{:.0f}k", count / 1e3);
  return fmt::format("{:.1f}M", count / 1e6);
}

std::size_t output_columns() {
  constexpr std::size_t kElsewhere = 100;
  const std::size_t terminal = terminal_columns(STDOUT_FILENO);
  return terminal == 0 ? kElsewhere : terminal;
}

void OutputFile::add_to(CLI::App& command, const char* option, const char* help) {
  command.add_option(option, path, help)->check([](const std::string& name) {
    return name.empty() ? "empty file name" : "";
  });
  command.add_flag("--force", force, "replace an existing file");
}

void OutputFile::check(bool (*ours)(const fs::path&)) const {
  if (path.empty()) return;
  const fs::path folder = fs::path(path).parent_path();
  std::error_code error;
  if (!folder.empty() && !fs::is_directory(folder, error))
    throw SpecError("{}: no such folder; create it first", folder.string());
  const fs::file_status there = fs::symlink_status(path, error);
  if (!fs::exists(there)) return;
  if (fs::is_symlink(there))
    throw SpecError(
        "{}: is a symbolic link, and no file is written through one; name its file, or remove the "
        "link",
        path);
  if (!fs::is_regular_file(there))
    throw SpecError("{}: is {}; choose another name",
                    path,
                    fs::is_directory(there) ? "a folder" : "no regular file");
  if (!force && !(ours && ours(path)))
    throw SpecError("{}: already exists{}; --force replaces it, or choose another name",
                    path,
                    ours ? " and was not written by this command" : "");
}

void OutputFile::write(std::string_view text) const {
  if (force)
    FileSystem::real().write_atomically(path, text);
  else if (!FileSystem::real().create_once(path, text))
    check();
}

namespace {

fs::path find_script(const std::string& name) {
  if (fs::path script = shipped_file("scripts/" + name); !script.empty()) return script;
  throw MachineError(
      "{} is missing: 'cmake --install' installs it; in the source tree '{} scripts/{}' does the "
      "same",
      name,
      python(),
      name);
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string python() {
  if (std::string given = variable("SOFTALIGN_PYTHON"); !given.empty()) return given;
  for (const char* environment : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string folder = variable(environment); !folder.empty())
      if (std::string found = folder + "/bin/python3"; access(found.c_str(), X_OK) == 0)
        return found;
  return "/usr/bin/python3";
}

std::vector<std::string> script_command(const std::string& name) {
  return {python(), find_script(name).string()};
}

void become_script(const std::string& name,
                   const std::vector<std::string>& arguments,
                   const std::string& packages) {
  std::vector<std::string> words = script_command(name);
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::fflush(stdout);
  if (const fs::path self = program_file(); !self.empty())
    setenv("SOFTALIGN_PROGRAM", self.c_str(), 1);  // scripts call it for the data that they draw
  execvp(argv.front(), argv.data());
  throw MachineError(
      "{}: cannot be started: {}; apt-get install python3 {}, or set SOFTALIGN_PYTHON",
      words.front(),
      std::strerror(errno),
      packages);
}

}  // namespace softalign::app
