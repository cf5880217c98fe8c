// What RUN may be on a command line (record/folder/runs_below.hpp).
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "framework/record/folder/runs_below.hpp"

namespace softalign::app {

// RUN: a run's folder or one with a single run below it, a record (run.h5, which may lie anywhere),
// or the first characters of the id of a run below the results folder.
struct RunArgument {
  std::string run;
  std::string results = "results";
  void add_to(CLI::App& command);
};

// RUN.. or folders above some.
struct RunsArgument {
  std::vector<std::string> places;
  std::string results = "results";
  CLI::Option* add_to(CLI::App& command);  // returns that of the places
};

// `--out`, where runs are found by their IDs.
void add_results_option(CLI::App& command, std::string& results);

// The path of a folder or of a record, to give to Record. Throws SpecError when nothing has that
// name, or several have.
inline std::filesystem::path find_run(const RunArgument& argument) {
  return softalign::find_run(argument.run, argument.results);
}

}  // namespace softalign::app
