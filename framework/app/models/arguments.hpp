// The options of commands that ask trained models.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "framework/app/terminal/runs.hpp"
#include "framework/inference/trained.hpp"

namespace softalign::app {

struct TrainedArguments {
  RunArgument run;
  std::vector<std::string> more;  // further runs, and overrides: what holds a '='
  std::string search;
  bool ensemble = false;
  std::string average = "probabilities";
  std::vector<std::string>
      measures;  // overrides that the command has a use for (trained_overrides)
  TrainedOptions options;

  void add_to(CLI::App& command, std::vector<std::string> used);
  // Throws as the library's open_trained, and SpecError for several runs without `ensemble`. Names the members.
  TrainedRuns open() const;
};

// `--plugin` of commands that read a record.
void add_record_plugin_option(CLI::App& command, std::vector<std::string>& plugins);

// "note: ..." on standard error.
void print_note(const std::string& note);

}  // namespace softalign::app
