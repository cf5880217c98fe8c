// Which diagnostics look at a run, and with which options: spec.diagnostics. Every one that is registered is an
// option here, absent unless it is given: `diagnostics: {gradient_flow: {}}`.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "framework/config/registry.hpp"
#include "framework/eval/diagnostic.hpp"

namespace softalign {

struct DiagnosticsOptions {
  std::map<std::string, OptionalPlugin> chosen;

  DiagnosticsOptions() {
    for (const PluginEntry* entry : Registry::instance().entries(DiagnosticKind::name))
      chosen[entry->name].fresh = entry->options;
  }
  bool any() const {
    return std::ranges::any_of(chosen,
                               [](const auto& one) { return one.second.options != nullptr; });
  }
  template <class V>
  void describe(V& v) {
    for (auto& [name, plugin] : chosen)
      v(name, plugin, Registry::instance().find(DiagnosticKind::name, name).summary);
  }
};

}  // namespace softalign
