// Kinds, names and notes of plugins, as commands take and print them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "framework/config/registry.hpp"

namespace softalign::app {

std::string plural(const std::string& kind);
// A kind from its singular or plural. Throws SpecError with the nearest one.
std::string kind_named(const std::string& given);

// KIND [NAME] [--plugin FILE] [--json], of the commands about plugins.
struct PluginArguments {
  std::string kind;
  std::string name;
  std::vector<std::string> plugins;
  bool json = false;

  // kind_help, name_help: what the help says of kind and name; null: the command takes no name.
  void add_to(CLI::App& command, const char* kind_help, const char* name_help = nullptr);
  // Loads the plugins that were given. Throws SpecError.
  void load() const;
};

// The file that registered a plugin, below framework/ for one of ours.
std::string source_of(const PluginEntry& entry);

// The first lines of the file of one of our own plugins: formula, paper, equation. source: as source_of gives
// it; empty for a plugin from elsewhere.
std::string_view plugin_note(std::string_view source);

}  // namespace softalign::app
