// Finds runs on disk: all runs below a folder, and the run that an argument names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/record/file.hpp"

namespace softalign {

// Throws the errors of is_there.
bool is_run_folder(const std::filesystem::path& path);

// Returns the runs sorted by path, with each folder that cannot be opened, since it may contain runs. Throws
// SpecError if there is no such folder, and the errors of is_there.
std::vector<RunFolder> runs_below(const std::filesystem::path& folder);

// Throws MachineError for a folder in that list that is not a run folder, because it could not be opened.
void demand_run_folder(const std::filesystem::path& listed);

// Returns the path of a folder or of a record, for Record. `run`: a run's folder or one with a single run below it,
// a record (run.h5, in any folder), or the first characters of the ID of a run below `results`. Throws SpecError if
// no run matches, or several do.
std::filesystem::path find_run(const std::string& run, const std::filesystem::path& results);
// Returns the runs named by several arguments, each a run as for find_run or a folder above runs (sorted by
// path): each run once, at its first mention.
std::vector<std::vector<std::filesystem::path>> find_runs(const std::vector<std::string>& arguments,
                                                          const std::filesystem::path& results);
// Like find_run, for commands that need more than the record.
RunFolder find_run_folder(const std::string& run, const std::filesystem::path& results);

// Returns a path for messages, relative to the working directory if that is shorter.
std::string short_path(const std::filesystem::path& path);

}  // namespace softalign
