// From a command line's arguments to a resolved spec, the plugins that it names loaded first.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "framework/config/spec.hpp"
#include "framework/train/check_sizes.hpp"
#include "framework/train/spec.hpp"

namespace softalign::app {

// A spec with its overrides and plugins, as `run`, `resolve` and others take it.
struct SpecArguments {
  std::string file;
  std::vector<std::string> overrides;
  std::vector<std::string> plugins;
  void add_to(CLI::App& command);
};

// `--plugin FILE`, which may be repeated.
void add_plugin_option(CLI::App& command,
                       std::vector<std::string>& plugins,
                       const char* help = "shared object with further plugins; may be repeated");
inline constexpr const char* kMetricsOfPlugins =
    "shared object with a metric that the program does not have: for its tests, intervals and "
    "table by length; may be repeated";

// `--threads N`, the same range everywhere.
void add_threads_option(CLI::App& command,
                        int& threads,
                        const char* help = "threads (default: all cores)");

// `--no-size-check`, likewise.
void add_size_option(CLI::App& command, SizeCheck& sizes);

// Of an argument that may be an override or a name: KEY=VALUE or ~KEY.
bool is_override(std::string_view argument);

// What was replaced or has no effect, a line each on standard error.
void print_notes(const std::vector<std::string>& notes);

// Prints the spec's notes. Throws SpecError. results: where runs are found by their IDs.
ResolvedSpec<Spec> load(const SpecArguments& arguments, const std::string& results = "results");

// What becomes of the plugins that a tree names. load: a spec, sweep or study that the command line names is
// the user's. refuse: a record, or the plan in a folder, may come from anyone; `--plugin` takes the place of its list.
enum class NamedPlugins { load, refuse };

// Loads the plugins of a tree, then `more`, and reads the tree. Plugins and the runs of init and of the
// vocabularies stand in the spec with their whole paths, so that a record names what it needs.
ResolvedSpec<Spec> load(SpecTree tree,
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

}  // namespace softalign::app
