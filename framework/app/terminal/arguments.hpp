// Arguments of many commands: RUN (record/folder/runs_below.hpp), and numbers.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "framework/config/options.hpp"
#include "framework/record/folder/runs_below.hpp"

namespace softalign::app {

// RUN: a run's folder or one with a single run below it, a record (run.h5, in any folder), or the first
// characters of the ID of a run below the results folder.
struct RunArgument {
  std::string run;
  std::string results = "results";
  void add_to(CLI::App& command);
};

// RUN.., each of which may also be a folder that contains runs.
struct RunsArgument {
  std::vector<std::string> places;
  std::string results = "results";
  CLI::Option* add_to(CLI::App& command);
};

// Adds `--results`, the folder in which runs are found by ID.
void add_results_option(CLI::App& command, std::string& results);

// Returns the path of a folder or of a record, for Record. Throws SpecError if no run matches, or
// several do.
inline std::filesystem::path find_run(const RunArgument& argument) {
  return softalign::find_run(argument.run, argument.results);
}

// Validators for numbers and for each item of a list, for `CLI::Option::check`. Numbers are read as in specs
// (config/value.hpp), so that 010, 0x10, nan and numbers that do not fit in 64 bits are refused. CLI11 alone
// would read them as C does.
CLI::Validator integer(const Limits& limits = at_least(0));
CLI::Validator number(const Limits& limits);

}  // namespace softalign::app
