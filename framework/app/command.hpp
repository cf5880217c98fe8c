// What every command of the program has in common: one function that adds it to the command line,
// and the options that several share. A command lives in the file of its name.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "framework/base/error.hpp"

namespace softalign::app {

// The exit status of the command that ran.
struct Outcome {
  ExitCode code = ExitCode::done;
};

void add_run(CLI::App& app, Outcome& outcome);
void add_study(CLI::App& app, Outcome& outcome);

// A spec with its overrides and plugins, as `run`, `validate` and others take it.
struct SpecArguments {
  std::string file;
  std::vector<std::string> overrides;
  std::vector<std::string> plugins;
  void add_to(CLI::App& command);
};

}  // namespace softalign::app
