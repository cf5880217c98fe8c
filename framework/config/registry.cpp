#include "framework/config/registry.hpp"

#include <algorithm>

#include "framework/base/suggest.hpp"

namespace softalign {

Registry& Registry::instance() {
  static Registry registry;
  return registry;
}

bool is_plugin_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

void Registry::add(PluginEntry entry) noexcept {
  try {
    if (!is_plugin_name(entry.name)) {
      errors_.push_back(
          fmt::format("{} '{}' (of {}): a name is of letters, digits, '_' and '-'; rename it",
                      entry.kind,
                      printable(entry.name),
                      entry.source));
      return;
    }
    auto& kind = entries_[entry.kind];
    const auto found = kind.find(entry.name);
    if (found != kind.end()) {
      errors_.push_back(
          fmt::format("{} '{}' is registered twice: in {} and in {}; rename one of them",
                      entry.kind,
                      entry.name,
                      found->second.source,
                      entry.source));
      return;
    }
    if (!kind.empty() && kind.begin()->second.factory.type() != entry.factory.type()) {
      errors_.push_back(made_otherwise(entry));
      return;
    }
    kind.emplace(entry.name, std::move(entry));
  } catch (...) {  // out of memory before main: nothing can be said here, the plugin will be
                   // reported as unknown
  }
}

const PluginEntry* Registry::find_if_present(std::string_view kind, std::string_view name) const {
  const auto of_kind = entries_.find(kind);
  if (of_kind == entries_.end()) return nullptr;
  const auto found = of_kind->second.find(std::string(name));
  return found == of_kind->second.end() ? nullptr : &found->second;
}

const PluginEntry& Registry::find(std::string_view kind,
                                  std::string_view name,
                                  const Position& where) const {
  if (const PluginEntry* entry = find_if_present(kind, name)) return *entry;
  std::vector<std::string> names;
  for (const PluginEntry* entry : entries(kind)) names.push_back(entry->name);
  throw SpecError("{}{}unknown {} '{}'{}",
                  where.str(),
                  where.file.empty() ? "" : ": ",
                  kind,
                  printable(name),
                  suggestion(name, names));
}

std::string made_otherwise(const PluginEntry& entry) {
  return fmt::format(
      "{} '{}' (of {}) does not fit the kind of that name in this program, so it was built with "
      "the headers of another softalign; build it again with this one's",
      entry.kind,
      entry.name,
      entry.source);
}

namespace {

Position place_of(const Choice& choice, std::string_view message) {
  if (!choice.places) return choice.where;
  std::string_view option = message.substr(0, message.find(": "));
  for (;;) {  // "decoder.units", then "units"
    const auto given = choice.places->find(option);
    if (given != choice.places->end()) return given->second;
    const std::size_t dot = option.find('.');
    if (dot == option.npos) return choice.where;
    option.remove_prefix(dot + 1);
  }
}

}  // namespace

void rethrow_at(const Choice& choice, const SpecError& error) {
  const std::string_view message = error.what();
  const std::string place = place_of(choice, message).str();
  if (place.empty() || message.starts_with(place) || begins_with_position(message)) throw error;
  throw SpecError("{}: {}", place, error);
}

std::vector<std::string> Registry::kinds() const {
  std::vector<std::string> names;
  for (const auto& [name, entries] : entries_) names.push_back(name);
  return names;
}

std::vector<const PluginEntry*> Registry::entries(std::string_view kind) const {
  std::vector<const PluginEntry*> list;
  const auto of_kind = entries_.find(kind);
  if (of_kind != entries_.end())
    for (const auto& [name, entry] : of_kind->second) list.push_back(&entry);
  return list;
}

}  // namespace softalign
