// Loads plugins from shared objects: checks the file and its ABI tag, then opens the file and never closes it.
// Whether a plugin is trusted is decided elsewhere.
#pragma once

#include <string>
#include <vector>

namespace softalign {

struct LoadedPlugin {
  std::string path;
  std::string sha256;
  std::vector<std::string> added;  // "score cosine", ...
};

// Throws SpecError if the file is missing, truncated, not a plugin, or built for another ABI (with the fields that
// differ), before any of its code runs; also if it registers nothing, a name that is taken, or a kind that differs
// from the program's. A file may be loaded twice.
const LoadedPlugin& load_plugin(const std::string& path);

const std::vector<LoadedPlugin>& loaded_plugins();
// Returns nullptr if no plugin was loaded from this path.
const LoadedPlugin* find_loaded_plugin(const std::string& path);

}  // namespace softalign
