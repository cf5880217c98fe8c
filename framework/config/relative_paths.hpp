// Paths as a spec names them that lies in a folder: they tell little of the machine, and hold for a copy of the
// whole.
#pragma once

#include <filesystem>
#include <string>

#include "framework/config/reader.hpp"
#include "framework/config/snapshot.hpp"

namespace softalign {

// An absolute path relative to a folder, which need not exist yet; a relative one as it is.
std::string relative_path(const std::string& path, const std::filesystem::path& folder);

// The same for input files and for the files that options come from.
void make_relative(OptionNode& root, Origins& origins, const std::filesystem::path& folder);

}  // namespace softalign
