// What the commands of sweeps share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "framework/app/command.hpp"
#include "framework/app/json.hpp"
#include "framework/app/load.hpp"
#include "framework/sweep/sweep_status.hpp"

namespace softalign::app {

struct SweepArguments {
  std::string file;        // the sweep's YAML, its folder, or its plan
  Word word = Word::user;  // whose `file` is: a folder names its sweep's file itself
  std::string out = "results";
  std::vector<std::string> plugins;

  std::vector<std::string> out_words() const;  // --out, where it is needed
};
// "softalign sweep NAME OPTIONS.. SWEEP", as a shell takes it.
std::string sweep_command(const char* name,
                          const std::vector<std::string>& options,
                          const std::filesystem::path& sweep);

// A command of `softalign sweep`, with an example.
CLI::App* add_sweep_command(CLI::App& sweep, const char* name, const char* summary);
void add_plan_options(CLI::App& command, SweepArguments& arguments);

// Reads the specs that the sweep's file names, with the plugins that they, and the command line, name.
LoadSpec loader(const SweepArguments& arguments);
// The same of the specs in a sweep's folder, which may come from anywhere.
LoadSpec frozen_loader(const SweepArguments& arguments);

// `--plugin FILE` for each plugin that the user named, on the command line or in the sweep's file: workers
// see a folder alone. Throws SpecError when the plan needs a plugin that is neither named nor trusted.
std::vector<std::string> plugin_words(const SweepPlan& plan, const SweepArguments& arguments);

// The plan on disk. Throws SpecError when there is none.
SweepPlan planned(const SweepArguments& arguments);
// The same; it is made first when there is none. `write`: and kept.
SweepPlan planned_or_plan(const SweepArguments& arguments, bool write = true);

// How its rows stand, on standard output; `all`: each of them.
SweepStatus print_sweep(const SweepPlan& plan, bool all);

// {"k", "run_id", "folder", "seed", "set"}.
Json row_json(const SweepPlan& plan, const SweepRow& row);

void add_sweep_work(CLI::App& sweep);                   // work and propose
void add_sweep_run(CLI::App& sweep, Outcome& outcome);  // run and retry
void add_sweep_submit(CLI::App& sweep);

}  // namespace softalign::app
