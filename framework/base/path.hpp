// Paths, and made shorter as the system reads them.
#pragma once

#include <filesystem>

namespace softalign {

namespace fs = std::filesystem;

// The same place without ".", doubled slashes and "..". A ".." behind a symbolic link stays: it leads
// to the parent of the folder that is linked to, which std::filesystem's lexically_normal misses.
fs::path normal_path(const fs::path& path);

// The same from the root on.
fs::path whole_path(const fs::path& path);

}  // namespace softalign
