// Every run on disk below a folder.
#pragma once

#include <filesystem>
#include <vector>

#include "framework/record/folder/run_folder.hpp"

namespace softalign {

// Throws as is_there.
bool is_run_folder(const std::filesystem::path& path);

// By path, folder for folder, and among them each folder that cannot be looked into: it may hold runs.
// Throws SpecError when there is no such folder, and as is_there.
std::vector<RunFolder> runs_below(const std::filesystem::path& folder);

// Throws MachineError for one of those that is no run's: it could not be looked into when they were listed.
void demand_run_folder(const std::filesystem::path& listed);

}  // namespace softalign
