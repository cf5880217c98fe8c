// What the commands of sweeps share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "framework/app/command.hpp"
#include "framework/app/sweeps/sweep_list.hpp"
#include "framework/runs/local_run.hpp"

namespace softalign::app {

// "softalign sweep NAME OPTIONS.. SWEEP", as a shell takes it.
std::string sweep_command(const char* name,
                          const std::vector<std::string>& options,
                          const std::filesystem::path& sweep);

// A command of `softalign sweep`, with an example.
CLI::App* add_sweep_command(CLI::App& sweep, const char* name, const char* summary);
void add_plan_options(CLI::App& command, SweepArguments& arguments);

// How worker processes on this machine go through a list.
struct LocalArguments {
  int workers = 0;  // 0: as many as the cores have room for
  int threads = 1;  // of each run; 0: what the workers leave
  SizeCheck sizes;
  std::vector<Index> rows;  // only these; empty: all
};
LocalRunOptions local_options(const RunList& list,
                              const SweepArguments& arguments,
                              const LocalArguments& local);
// Whether rows failed, and then what to do about it, on standard error.
bool say_failed(const RunList& list, const std::vector<RowStatus>& rows);

void add_sweep_work(CLI::App& sweep);                   // work and propose
void add_sweep_run(CLI::App& sweep, Outcome& outcome);  // run and retry
void add_sweep_submit(CLI::App& sweep);

}  // namespace softalign::app
