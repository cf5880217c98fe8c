// Finding runs on disk: what RUN may be on a command line, and every run below a folder.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "framework/record/run_folder.hpp"

namespace softalign::app {

// RUN: a run's folder or one with a single run below it, a record (run.h5, which may lie anywhere),
// or the first characters of the id of a run below the results folder.
struct RunArgument {
  std::string run;
  std::string results = "results";
  void add_to(CLI::App& command);
};

// The path of a folder or of a record, to give to Record. Throws SpecError when nothing has that
// name, or several have.
std::filesystem::path find_run(const RunArgument& argument);
// The same for commands that need more than the record.
RunFolder find_run_folder(const RunArgument& argument);

bool is_run_folder(const std::filesystem::path& path);
// Every run below a folder, by path. Throws SpecError when there is no such folder.
std::vector<RunFolder> runs_below(const std::filesystem::path& folder);

// A path as people want to read it: relative to the working directory where that is shorter.
std::string short_path(const std::filesystem::path& path);

}  // namespace softalign::app
