// The origin of a run: machine, build, source state, environment. Gathering it never throws:
// unknown facts are empty or absent.
#pragma once

#include <map>
#include <string>

#include "framework/record/hdf5/values.hpp"

namespace softalign {

// Facts of the build; the generated build_info.cpp defines them (cmake/SoftalignBuildInfo.cmake).
struct BuildInfo {
  std::string version;                           // of softalign
  std::string compiler;                          // "GNU 12.2.0"
  std::string flags;                             // as given to the compiler
  std::string git_commit;                        // "unknown" when built outside a repository
  bool git_dirty = false;                        // sources differed from the commit
  std::string git_diff;                          // the differences
  std::map<std::string, std::string> libraries;  // name to version, at build time
};
const BuildInfo& build_info();

// The version of the arithmetic, raised by every change of the bits of results; CHANGELOG.md gives the
// reason. Runs of version 1 do not record it.
inline constexpr int kArithmetic = 3;

// Returns single values (host, cpu_model, isa, kernel, arithmetic, compiler, flags, git_commit, git_dirty,
// slurm_*, ...) and objects (libraries; environment, only variables that may affect results: no secrets).
JsonObject gather_provenance() noexcept;

// Returns whether a text has the form of gather_provenance, of any version: an object of named values in which the
// host is text.
bool is_environment(const std::string& text);

}  // namespace softalign
