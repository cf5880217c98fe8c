// Kinds, names and notes of plugins, as commands take and print them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "framework/config/registry.hpp"

namespace softalign::app {

std::string plural(const std::string& kind);
// Returns a kind from its singular or plural. Throws SpecError with the nearest kind.
std::string kind_named(const std::string& given);

// The arguments of the commands about plugins: KIND [NAME] [--plugin FILE] [--json].
struct PluginArguments {
  std::string kind;
  std::string name;
  std::vector<std::string> plugins;
  bool json = false;

  // kind_help, name_help: the help texts of kind and name; a null name_help: the command takes no name.
  void add_to(CLI::App& command, const char* kind_help, const char* name_help = nullptr);
  // Loads the plugins that were given. Throws SpecError.
  void load() const;
};

// Returns the file that registered a plugin; for our own plugins, a path that begins with framework/plugins/.
std::string source_of(const PluginEntry& entry);

// Returns the first lines of the file of one of our own plugins: formula, paper, equation; empty for other
// plugins. source: from source_of.
std::string_view plugin_note(std::string_view source);

}  // namespace softalign::app
