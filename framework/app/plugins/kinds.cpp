#include "framework/app/plugins/kinds.hpp"

#include <algorithm>

#include "framework/app/experiments/load.hpp"
#include "framework/base/text.hpp"
#include "framework/config/plugin_loader.hpp"

namespace softalign::app {

std::string plural(const std::string& kind) {
  return kind + (kind.ends_with("ch") || kind.ends_with('s') ? "es" : "s");
}

std::string kind_named(const std::string& given) {
  const std::vector<std::string> kinds = Registry::instance().kinds();
  for (const std::string& kind : kinds)
    if (given == kind || given == plural(kind)) return kind;
  throw SpecError("unknown kind '{}'{}", given, suggestion(given, kinds));
}

void PluginArguments::add_to(CLI::App& command, const char* kind_help, const char* name_help) {
  command.add_option("kind", kind, kind_help);
  if (name_help != nullptr) command.add_option("name", name, name_help);
  add_plugin_option(command, plugins);
  command.add_flag("--json", json, "print it as JSON");
}

void PluginArguments::load() const {
  for (const std::string& plugin : plugins) load_plugin(plugin);
}

std::string source_of(const PluginEntry& entry) {
  const std::size_t ours = entry.source.rfind("framework/plugins/");
  return ours == std::string::npos ? entry.source : entry.source.substr(ours);
}

}  // namespace softalign::app
