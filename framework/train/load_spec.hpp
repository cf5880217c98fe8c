// Turns a spec tree into a resolved spec: loads its plugins first, finds runs that it names by ID, and checks
// combinations of options.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "framework/config/spec.hpp"
#include "framework/data/dataset.hpp"
#include "framework/data/task.hpp"
#include "framework/train/spec.hpp"

namespace softalign {

// The treatment of plugins that a tree names. load: for a spec, sweep or study on the command line, which is the
// user's own. refuse: for a record or a plan, which may come from anyone; `--plugin` replaces its list.
enum class NamedPlugins { load, refuse };

// Loads the plugins of a tree, then `more`, and reads the tree. In the resulting spec, plugins and the
// runs of init and of the vocabularies have absolute paths, so that a record names what it needs.
ResolvedSpec<Spec> load_with_plugins(SpecTree tree,
                                     const std::vector<std::string>& more,
                                     const std::string& results = "results",
                                     NamedPlugins named = NamedPlugins::load);

// Loads the plugins of a tree, then `more`. Paths in the tree are relative to the file that names them;
// those of `more`, to the working directory.
void load_plugins(Value& root,
                  const std::vector<std::string>& more,
                  NamedPlugins named = NamedPlugins::load);

// Returns the files of the loaded plugins.
std::vector<std::string> named_plugins();

// Checks a spec beyond types and ranges, before the first file is written. Throws SpecError with one line per
// error, each with its position. Builds every plugin, with placeholders for vocabularies: a constructor refuses
// options or combinations by SpecError. Reads no data. compared: "dev/" and the name of a metric that must be
// measured because runs are compared by it; may be empty.
void check_spec(const ResolvedSpec<Spec>& resolved, const std::string& compared = {});

// Throws SpecError for a registered metric that fails a conformance test, because runs measure all by default.
void check_metrics();

// Return the outline of data that has been read, instead of the task's own.
DataOutline outline_of(const Dataset& data);
DataOutline outline_of(const Dataset& data, const Spec& spec);  // with the cells of its baselines
DataOutline::SplitOutline outline_of(const Split& split);

// Calls `check`. A SpecError that begins with an option, "train.loss: ...", gets the position of the option, or
// of the block around it, unless it has one.
void check_options(const ResolvedSpec<Spec>& resolved, const std::function<void()>& check);

// Like check_spec, for facts that are known once the data has been read; prunes: dev metrics are compared
// during training. Returns notes for the user.
std::vector<std::string> check_data(const ResolvedSpec<Spec>& resolved,
                                    const Dataset& data,
                                    const Model& model,
                                    bool prunes);

}  // namespace softalign
