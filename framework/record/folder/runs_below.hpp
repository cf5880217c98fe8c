// Every run on disk below a folder.
#pragma once

#include <filesystem>
#include <vector>

#include "framework/record/run_folder.hpp"

namespace softalign {

// Throws as is_there.
bool is_run_folder(const std::filesystem::path& path);

// By path, folder for folder, and among them each folder that cannot be opened, since it may hold runs.
// Throws SpecError when there is no such folder, and as is_there.
std::vector<RunFolder> runs_below(const std::filesystem::path& folder);

// Throws MachineError for a folder in that list that is not a run folder: it could not be opened for the list.
void demand_run_folder(const std::filesystem::path& listed);

}  // namespace softalign
