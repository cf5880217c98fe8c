// Stand-ins for Slurm's programs, and a sweep that is handed to them.
#pragma once

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "framework/config/yaml.hpp"
#include "framework/sweep/slurm_script.hpp"

namespace softalign::test {

// A folder whose programs come first on PATH for the length of a test.
class StandIns {
 public:
  StandIns() {
    std::string name = (std::filesystem::temp_directory_path() / "softalign-slurm-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    setenv("PATH", (folder_.string() + ":" + path_).c_str(), 1);
  }
  ~StandIns() {
    setenv("PATH", path_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }
  StandIns(const StandIns&) = delete;
  StandIns& operator=(const StandIns&) = delete;

  void add(const std::string& name, const std::string& body) const {
    std::ofstream(folder_ / name) << "#!/bin/sh\necho \"$*\" >>" << (folder_ / name).string()
                                  << ".calls\n"
                                  << body << "\n";
    std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
  }
  int calls(const std::string& name) const {
    std::ifstream file(folder_ / (name + ".calls"));
    return static_cast<int>(
        std::count(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>(), '\n'));
  }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::string path_ = getenv("PATH");
  std::filesystem::path folder_;
};

inline SlurmConfig cluster(Index max_array_size) {
  SlurmConfig config;
  config.cluster = "oak";
  config.max_array_size = max_array_size;
  return config;
}

inline ScriptSetting setting(const std::filesystem::path& folder,
                             const std::string& resources = "{cpus: 2}") {
  const Value block = parse_yaml(resources, "sweep.yaml");
  return {"scores", folder, {"/opt/bin/softalign"}, cluster(1001), read_resources(&block, {})};
}

}  // namespace softalign::test
