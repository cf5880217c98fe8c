// Loads plugins from shared objects: file and ABI tag are looked through first, then the file is opened
// and never closed again. Who may have a plugin loaded is not decided here.
#pragma once

#include <string>
#include <vector>

namespace softalign {

struct LoadedPlugin {
  std::string path;
  std::string sha256;
  std::vector<std::string> added;  // "score cosine", ...
};

// Throws SpecError when the file is missing, cut short, no plugin, or built for another ABI (field by field), all
// before any code of it runs; and when it registers nothing, a name that is taken, or a kind that is another one
// here. Loading a file twice is no error.
const LoadedPlugin& load_plugin(const std::string& path);

const std::vector<LoadedPlugin>& loaded_plugins();
// nullptr when no plugin was loaded from there.
const LoadedPlugin* find_loaded_plugin(const std::string& path);

}  // namespace softalign
