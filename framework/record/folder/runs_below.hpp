// Finding runs on disk: every one below a folder, and the one that a word names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/record/file.hpp"

namespace softalign {

// Throws as is_there.
bool is_run_folder(const std::filesystem::path& path);

// By path, folder for folder, and among them each folder that cannot be opened, since it may hold runs.
// Throws SpecError when there is no such folder, and as is_there.
std::vector<RunFolder> runs_below(const std::filesystem::path& folder);

// Throws MachineError for a folder in that list that is not a run folder: it could not be opened for the list.
void demand_run_folder(const std::filesystem::path& listed);

// The path of a folder or of a record, to give to Record. `run`: a run's folder or one with a single run below it, a
// record (run.h5, which may lie anywhere), or the first characters of the ID of a run below `results`. Throws
// SpecError where no run is called so, or several are.
std::filesystem::path find_run(const std::string& run, const std::filesystem::path& results);
// The runs that each of several arguments names, a run as for find_run or a folder above some, those by path:
// each run once, where it is named first.
std::vector<std::vector<std::filesystem::path>> find_runs(const std::vector<std::string>& arguments,
                                                          const std::filesystem::path& results);
// As find_run, for those who need more than the record.
RunFolder find_run_folder(const std::string& run, const std::filesystem::path& results);

// A path as people want to read it: relative to the working directory where that is shorter.
std::string short_path(const std::filesystem::path& path);

}  // namespace softalign
