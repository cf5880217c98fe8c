// Arguments that many commands take: RUN (record/folder/runs_below.hpp), and numbers.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "framework/config/options.hpp"
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
  CLI::Option* add_to(CLI::App& command);  // returns the option
};

// `--results`, where runs are found by their IDs.
void add_results_option(CLI::App& command, std::string& results);

// The path of a folder or of a record, to give to Record. Throws SpecError when nothing has that
// name, or several have.
inline std::filesystem::path find_run(const RunArgument& argument) {
  return softalign::find_run(argument.run, argument.results);
}

// Checks of options that are numbers, for `CLI::Option::check`; also of each item of a list. Numbers are read
// as specs read theirs (config/value.hpp), so that 010, 0x10, nan and what fits in no 64 bits are refused.
// CLI11 alone would read them as C does.
CLI::Validator integer(const Limits& limits = at_least(0));
CLI::Validator number(const Limits& limits);

}  // namespace softalign::app
