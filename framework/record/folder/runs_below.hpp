// Every run on disk below a folder.
#pragma once

#include <filesystem>
#include <vector>

#include "framework/record/folder/run_folder.hpp"

namespace softalign {

bool is_run_folder(const std::filesystem::path& path);

// By path, folder for folder. Throws SpecError when there is no such folder, MachineError when too
// many files are open to look.
std::vector<RunFolder> runs_below(const std::filesystem::path& folder);

}  // namespace softalign
