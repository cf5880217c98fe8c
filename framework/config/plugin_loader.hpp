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
  bool from_bytes = false;         // loaded as a PluginFile
};

// A plugin's file in memory. Nothing of it has run.
struct PluginFile {
  std::string path;
  std::string bytes;
  std::string sha256;  // of the bytes
};

// Throws SpecError when the file is missing, cut short, no plugin, or built for another ABI (field by
// field).
PluginFile read_plugin(const std::string& path);

// Throws SpecError as above and when the plugin registers nothing, a name that is taken, or a kind that
// is another one here. Loading a file twice is no error.
const LoadedPlugin& load_plugin(const std::string& path);

// Loads these bytes, whatever has become of the file since they were read: for those who decide by its
// digest. Libraries that the plugin looks for beside its own file ($ORIGIN) are not found.
const LoadedPlugin& load_plugin(const PluginFile& file);

const std::vector<LoadedPlugin>& loaded_plugins();
// nullptr when no plugin was loaded from there.
const LoadedPlugin* find_loaded_plugin(const std::string& path);

}  // namespace softalign
