// A spec tree to a resolved spec: its plugins are loaded first, and runs that it names by their IDs are found.
#pragma once

#include <string>
#include <vector>

#include "framework/config/spec.hpp"
#include "framework/train/spec.hpp"

namespace softalign {

// What becomes of the plugins that a tree names. load: a spec, sweep or study that the command line names is
// the user's. refuse: a record, or the plan in a folder, may come from anyone; `--plugin` takes the place of its list.
enum class NamedPlugins { load, refuse };

// Loads the plugins of a tree, then `more`, and reads the tree. Plugins and the runs of init and of the
// vocabularies stand in the spec with their whole paths, so that a record names what it needs.
ResolvedSpec<Spec> load_with_plugins(SpecTree tree,
                                     const std::vector<std::string>& more,
                                     const std::string& results = "results",
                                     NamedPlugins named = NamedPlugins::load);

// A member of the spec's `plugins` is relative to the file that names it; `more` to the working
// directory.
void load_plugins(Value& root,
                  const std::vector<std::string>& more,
                  NamedPlugins named = NamedPlugins::load);

// The files of the plugins that were loaded.
std::vector<std::string> named_plugins();

}  // namespace softalign
