// Paths made shorter as the system reads them.
#pragma once

#include <filesystem>

namespace softalign {

// The same place without ".", doubled slashes and "..". A ".." behind a symbolic link stays: it leads
// to the parent of the folder that is linked to, which std::filesystem's lexically_normal misses.
std::filesystem::path normal_path(const std::filesystem::path& path);

// The same from the root on.
std::filesystem::path whole_path(const std::filesystem::path& path);

}  // namespace softalign
