// Stand-ins for a scheduler's programs, and a sweep that is submitted to them.
#pragma once

#include <stdlib.h>

#include <algorithm>
#include <string>

#include "framework/config/yaml.hpp"
#include "framework/runs/submit.hpp"
#include "tests/message.hpp"
#include "tests/scratch.hpp"

namespace softalign::test {

// A folder whose programs come first on PATH for the duration of a test.
class StandIns {
 public:
  StandIns() { setenv("PATH", (folder().string() + ":" + path_).c_str(), 1); }
  ~StandIns() { setenv("PATH", path_.c_str(), 1); }
  StandIns(const StandIns&) = delete;
  StandIns& operator=(const StandIns&) = delete;

  void add(const std::string& name, const std::string& body) const {
    const std::string program = folder() / name;
    write_file(program, "#!/bin/sh\necho \"$*\" >>" + program + ".calls\n" + body + "\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }
  int calls(const std::string& name) const {
    const std::string lines = bytes_of(folder() / (name + ".calls"));
    return static_cast<int>(std::count(lines.begin(), lines.end(), '\n'));
  }
  const std::filesystem::path& folder() const { return scratch_.path(); }

 private:
  std::string path_ = getenv("PATH");
  Scratch scratch_;
};

inline SubmitSetting setting(const std::filesystem::path& folder,
                             const std::string& resources = "{cpus: 2}",
                             const std::string& scheduler = "slurm") {
  const Value block = parse_yaml(resources, "sweep.yaml");
  return {.sweep = "scores",
          .folder = folder,
          .command = {"/opt/bin/softalign"},
          .scheduler = Scheduler::read(scheduler),
          .resources = read_resources(&block, {})};
}

}  // namespace softalign::test
