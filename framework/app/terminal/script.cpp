#include "framework/app/terminal/script.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"

namespace softalign::app {
namespace {

fs::path find_script(const std::string& name) {
  std::error_code error;
  const fs::path bin = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path installed = bin / "../share/softalign/scripts" / name;
  for (const fs::path& place : {installed, bin / "../../../scripts" / name})
    if (fs::exists(place, error)) return normal_path(place);
  throw MachineError(
      "{} is not there: it comes with 'cmake --install', and with the source tree, where '{} "
      "scripts/{}' does the same",
      normal_path(installed).string(),
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

void become_script(const std::string& name,
                   const std::vector<std::string>& arguments,
                   const std::string& packages) {
  std::vector<std::string> words = {python(), find_script(name).string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::fflush(stdout);
  std::error_code error;
  if (const fs::path self = fs::read_symlink("/proc/self/exe", error); !error)
    setenv("SOFTALIGN_PROGRAM", self.c_str(), 1);  // which scripts ask for what they draw
  execvp(argv.front(), argv.data());
  throw MachineError(
      "{}: cannot be started: {}; apt-get install python3 {}, or set SOFTALIGN_PYTHON",
      words.front(),
      std::strerror(errno),
      packages);
}

}  // namespace softalign::app
