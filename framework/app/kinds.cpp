#include "framework/app/kinds.hpp"

#include <algorithm>

#include "framework/base/suggest.hpp"

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

std::string source_of(const PluginEntry& entry) {
  const std::size_t ours = entry.source.rfind("framework/plugins/");
  return ours == std::string::npos ? entry.source : entry.source.substr(ours);
}

}  // namespace softalign::app
