// What the commands of sweeps share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "framework/app/command.hpp"
#include "framework/app/sweeps/sweep_list.hpp"

namespace softalign::app {

// "softalign sweep NAME OPTIONS.. SWEEP", as a shell takes it.
std::string sweep_command(const char* name,
                          const std::vector<std::string>& options,
                          const std::filesystem::path& sweep);

// A command of `softalign sweep`, with an example.
CLI::App* add_sweep_command(CLI::App& sweep, const char* name, const char* summary);
void add_plan_options(CLI::App& command, SweepArguments& arguments);

void add_sweep_work(CLI::App& sweep);                   // work and propose
void add_sweep_run(CLI::App& sweep, Outcome& outcome);  // run and retry
void add_sweep_submit(CLI::App& sweep);

}  // namespace softalign::app
