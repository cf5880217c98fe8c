// The plugins whose code this user lets records and folders load, wherever they come from: a list in the
// user's configuration folder, a line a plugin: the SHA-256 of its file, and the path that it had.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/record/file.hpp"

namespace softalign {

struct TrustedPlugin {
  std::string sha256;
  std::string path;  // for people; on one line
};

// $XDG_CONFIG_HOME/softalign/trusted_plugins, or else ~/.config/softalign/trusted_plugins. Empty when
// neither variable names a folder.
std::filesystem::path trusted_plugins_file();

// In the order in which they came; empty when there is no list. Throws DataError for a list with other
// lines than such, and for one that others could have written.
std::vector<TrustedPlugin> read_trusted_plugins(const std::filesystem::path& file);

// Whole or not at all, for this user alone.
void write_trusted_plugins(FileSystem& system,
                           const std::filesystem::path& file,
                           const std::vector<TrustedPlugin>& plugins);

// Whether the list of this user has the digest.
bool is_trusted(const std::string& sha256);

}  // namespace softalign
