// Turns the arguments of a command line into a resolved spec, after loading the plugins that both name.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "framework/config/spec.hpp"
#include "framework/train/check_sizes.hpp"
#include "framework/train/load_spec.hpp"
#include "framework/train/spec.hpp"

namespace softalign::app {

// A spec with its overrides and plugins, as `run`, `resolve` and others take it.
struct SpecArguments {
  std::string file;
  std::vector<std::string> overrides;
  std::vector<std::string> plugins;
  void add_to(CLI::App& command);
};

// Adds `--plugin FILE`, which may be repeated.
void add_plugin_option(CLI::App& command,
                       std::vector<std::string>& plugins,
                       const char* help = "load this plugin (.so); may be repeated");
inline constexpr const char* kMetricsOfPlugins =
    "load a plugin (.so) with a metric of the runs, to compute its tests, intervals and tables by "
    "length; may be repeated";

// Adds `--threads N`, with the same range in all commands.
void add_threads_option(CLI::App& command,
                        int& threads,
                        const char* help = "number of threads (default: all cores)");

// Adds `--no-size-check`.
void add_size_option(CLI::App& command, SizeCheck& sizes);

// Returns whether an argument that may also be a name is an override: KEY=VALUE or ~KEY.
bool is_override(std::string_view argument);

// Prints notes on replaced and ineffective options on standard error, one line each.
void print_notes(const std::vector<std::string>& notes);

// Resolves a spec and prints its notes. Throws SpecError. results: the folder in which runs are found by ID.
ResolvedSpec<Spec> load(const SpecArguments& arguments, const std::string& results = "results");

}  // namespace softalign::app
