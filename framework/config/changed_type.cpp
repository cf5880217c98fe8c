#include "framework/config/changed_type.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "framework/config/registry.hpp"
#include "framework/config/snapshot.hpp"

namespace softalign {
namespace {

std::string type_before(const Value::Entry& entry, const std::string& fallback) {
  return entry.from_type->empty() ? fallback : *entry.from_type;
}

bool has_option(std::string_view kind, std::string_view type, const std::string& name) {
  const PluginEntry* const plugin = Registry::instance().find_if_present(kind, type);
  if (!plugin) return false;
  const OptionNode options = snapshot(describe_copy(*plugin->options()), SnapshotOf::schema);
  return std::any_of(options.children.begin(),
                     options.children.end(),
                     [&](const OptionNode& option) { return option.name == name; });
}

}  // namespace

bool was_legal(const Value::Entry& entry, const std::string& kind, const std::string& fallback) {
  return entry.from_type && has_option(kind, type_before(entry, fallback), entry.key);
}

std::string changed_type_note(const Value& block,
                              const std::string& path,
                              const Choice& choice,
                              const std::string& fallback,
                              const std::vector<std::string>& legal) {
  std::vector<std::string> kept, dropped;
  std::string old;
  for (const Value::Entry& entry : block.entries) {
    if (!entry.from_type || entry.key == "type") continue;
    const bool keeps = std::find(legal.begin(), legal.end(), entry.key) != legal.end();
    if (!keeps && !was_legal(entry, choice.kind, fallback)) continue;
    if (type_before(entry, fallback) == choice.type) continue;
    old = type_before(entry, fallback);
    (keeps ? kept : dropped)
        .push_back(fmt::format("{} ({})", entry.key, entry.value.where.file_and_line()));
  }
  if (kept.empty() && dropped.empty()) return "";
  std::string note = fmt::format(
      "{}: {}: '{}' became '{}'", choice.where.str(), path, printable(old), choice.type);
  if (!kept.empty()) note += fmt::format("; kept {}", fmt::join(kept, ", "));
  if (!dropped.empty()) note += fmt::format("; dropped {}", fmt::join(dropped, ", "));
  return note;
}

}  // namespace softalign
