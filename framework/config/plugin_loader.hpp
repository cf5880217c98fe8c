// Loads plugins from shared objects: the ABI tag is compared first, then the file is opened and
// never closed again.
#pragma once

#include <string>
#include <vector>

namespace softalign {

struct LoadedPlugin {
  std::string path;
  std::string sha256;
  std::vector<std::string> added;  // "score cosine", ...
};

// Throws SpecError when the file is missing, no plugin, built for another ABI (field by field), or
// registers nothing or a name that is taken. Loading a file twice is no error.
const LoadedPlugin& load_plugin(const std::string& path);
const std::vector<LoadedPlugin>& loaded_plugins();

}  // namespace softalign
