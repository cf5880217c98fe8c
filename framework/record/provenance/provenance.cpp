#include "framework/record/provenance/provenance.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <thread>

#include "framework/base/json.hpp"
#include "framework/base/process.hpp"
#include "framework/base/text.hpp"
#include "framework/record/hdf5/hdf5.hpp"

namespace softalign {
namespace {

// Variables that libraries, the loader or a batch system read. An allow-list, because environments may
// contain passwords.
constexpr std::array<std::string_view, 12> kVariables{"SOFTALIGN_",
                                                      "OMP_",
                                                      "OPENBLAS_",
                                                      "BLIS_",
                                                      "MKL_",
                                                      "GOMP_",
                                                      "HDF5_",
                                                      "GLIBC_TUNABLES",
                                                      "LD_",
                                                      "LC_",
                                                      "LANG",
                                                      "MALLOC_"};
constexpr std::array<std::string_view, 8> kSlurm{"SLURM_JOB_ID",
                                                 "SLURM_ARRAY_JOB_ID",
                                                 "SLURM_ARRAY_TASK_ID",
                                                 "SLURM_JOB_PARTITION",
                                                 "SLURM_JOB_NODELIST",
                                                 "SLURM_CPUS_PER_TASK",
                                                 "SLURM_NTASKS",
                                                 "SLURM_RESTART_COUNT"};
// Limits of names and texts: an attribute cannot hold much more.
constexpr std::size_t kLongestName = 255, kLongestText = 32 << 10;  // bytes

constexpr std::array<std::string_view, 9> kInstructionSets{"sse4_2",
                                                           "avx",
                                                           "avx2",
                                                           "fma",
                                                           "avx512f",
                                                           "avx512bw",
                                                           "avx512_vnni",
                                                           "avx512_bf16",
                                                           "amx_bf16"};

// Returns the value of the first line "key : value" of /proc/cpuinfo.
std::string cpu_fact(std::string_view key) {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with(key) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

std::string instruction_sets() {
  std::istringstream flags(cpu_fact("flags"));
  std::string found;
  for (std::string flag; flags >> flag;)
    if (std::find(kInstructionSets.begin(), kInstructionSets.end(), flag) != kInstructionSets.end())
      found += (found.empty() ? "" : " ") + flag;
  return found;
}

JsonObject environment() {
  JsonObject variables = JsonObject::object();
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view line = *entry;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    if (std::any_of(kVariables.begin(), kVariables.end(), [&](std::string_view prefix) {
          return line.starts_with(prefix);
        }))
      variables[std::string(line.substr(0, equals))] = std::string(line.substr(equals + 1));
  }
  return variables;
}

std::string kernel() {
  utsname name{};
  if (uname(&name) != 0) return {};
  return fmt::format("{} {} {}", name.sysname, name.release, name.machine);
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

JsonObject gather() {
  const BuildInfo& build = build_info();
  JsonObject json = {{"host", host_name()},
                     {"cpu_model", cpu_fact("model name")},
                     {"isa", instruction_sets()},
                     {"cpus", std::thread::hardware_concurrency()},
                     {"kernel", kernel()},
                     {"version", build.version},
                     {"arithmetic", kArithmetic},
                     {"compiler", build.compiler},
                     {"flags", build.flags},
                     {"git_commit", build.git_commit},
                     {"git_dirty", build.git_dirty},
                     {"started", utc_time(unix_time())}};
  for (const std::string_view variable : kSlurm)
    if (const std::string value = environment_variable(std::string(variable).c_str());
        !value.empty())
      json[lower(variable)] = value;
  JsonObject libraries = JsonObject::object();
  for (const auto& [name, version] : build.libraries) libraries[name] = version;
  libraries["hdf5"] = hdf5_version();
  std::string list;
  for (const auto& [name, version] : libraries.items())
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", name, version.get<std::string>());
  json["libs"] = list;
  json["libraries"] = libraries;
  json["environment"] = environment();
  return json;
}

}  // namespace

JsonObject gather_provenance() noexcept {
  try {
    return gather();
  } catch (...) {
    return JsonObject::object();
  }
}

bool is_environment(const std::string& text) {
  const JsonObject json = read_json<JsonObject>(text);
  if (!json.is_object()) return false;
  for (const auto& [name, value] : json.items())
    if (name.empty() || name.size() > kLongestName || !is_text(name) ||
        (value.is_string() && value.get_ref<const std::string&>().size() > kLongestText))
      return false;
  const auto host = json.find("host");
  return host == json.end() || host->is_string();
}

}  // namespace softalign
