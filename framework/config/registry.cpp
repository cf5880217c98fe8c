#include "framework/config/registry.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "framework/base/text.hpp"
#include "framework/config/reader.hpp"
#include "framework/config/writer.hpp"

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
  } catch (...) {  // out of memory before main, where no error can be reported;
                   // the plugin will be reported as unknown when a spec names it
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
  throw SpecError("{}{}unknown {} '{}'{}; one of your own comes with --plugin FILE.so",
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

namespace {

// Returns the word of an option, "_13a"; empty for a default. Throws SpecError if the option has no word.
std::string word_of(const OptionNode& option, const OptionNode& normal, const Choice& choice) {
  if (leaf_text(option.value) == leaf_text(normal.value)) return "";
  if (const auto* text = std::get_if<std::string>(&option.value)) return "_" + *text;
  if (const auto* number = std::get_if<Index>(&option.value))
    return fmt::format("_{}{}", option.name, *number);
  if (std::holds_alternative<bool>(option.value)) return "_" + option.name;
  throw SpecError(
      "{}: {}.{} cannot be set here: names of columns hold no such value; choose a whole number, a "
      "word or a flag",
      choice.where.str(),
      choice.type,
      option.name);
}

bool take(std::string_view& rest, std::string_view word) {
  if (!rest.starts_with(word) || (rest.size() > word.size() && rest[word.size()] != '_'))
    return false;
  rest.remove_prefix(word.size());
  return true;
}

// Takes an option's word from the beginning of `rest` and returns the value; empty if there is no such word.
std::string value_from(std::string_view& rest, const OptionNode& option) {
  if (std::holds_alternative<std::string>(option.value)) {
    std::vector<std::string> names = option.limits.names;
    std::ranges::stable_sort(names, std::greater(), &std::string::size);  // the longest first
    for (const std::string& name : names)
      if (take(rest, "_" + name)) return name;
  }
  if (const auto* flag = std::get_if<bool>(&option.value); flag && take(rest, "_" + option.name))
    return *flag ? "false" : "true";
  const std::string before = "_" + option.name;
  if (!std::holds_alternative<Index>(option.value) || !rest.starts_with(before)) return "";
  const std::string_view number = rest.substr(before.size());
  const std::string digits(number.substr(0, number.find_first_not_of("0123456789")));
  return !digits.empty() && take(rest, before + digits) ? digits : "";
}

OptionNode options_of(const AnyOptions& options) { return values_of(options); }

}  // namespace

std::optional<Choice> plugin_of_word(std::string_view kind, std::string_view word) {
  for (const PluginEntry* plugin : Registry::instance().entries(kind)) {
    std::string_view rest = word;
    if (!take(rest, plugin->name)) continue;
    Choice choice{.kind = plugin->kind, .type = plugin->name, .options = plugin->options()};
    if (rest.empty()) return choice;
    Value block = Value::map({});
    for (const OptionNode& option : options_of(*choice.options).children)
      if (std::string value = value_from(rest, option); !value.empty()) {
        Value::Entry& entry = block.entries.emplace_back();
        entry.key = option.name;
        entry.value = Value::scalar(std::move(value), {});
      }
    if (!rest.empty()) continue;
    try {
      read_options(
          block, [&](OptionVisitor& visitor) { choice.options->describe(visitor); }, choice.type);
    } catch (const SpecError&) {  // a number out of its limits
      continue;
    }
    if (plugin_word(choice) == word) return choice;
  }
  return std::nullopt;
}

std::string plugin_word(const Choice& choice) {
  const PluginEntry& plugin = Registry::instance().find(choice.kind, choice.type, choice.where);
  std::string word = choice.type;
  if (!choice.options) return word;
  const OptionNode normal = options_of(*plugin.options()), now = options_of(*choice.options);
  for (std::size_t i = 0; i < now.children.size(); ++i)
    word += word_of(now.children[i], normal.children[i], choice);
  return word;
}

std::string hint_for_other_kind(const Choice& choice, const std::string& path) {
  const Registry& registry = Registry::instance();
  for (const std::string& kind : registry.kinds()) {
    if (!registry.find_if_present(kind, choice.type)) continue;
    const std::string hint = fmt::format("; '{}' is {}", choice.type, with_article(kind));
    for (const PluginEntry* entry : registry.entries(choice.kind))
      for (const OptionNode& option :
           snapshot(describe_copy(*entry->options()), SnapshotOf::schema).children)
        if (const auto* inner = std::get_if<Choice>(&option.value); inner && inner->kind == kind)
          return fmt::format("{}: write {}.{}={}", hint, path, option.name, choice.type);
    return hint;
  }
  return "";
}

}  // namespace softalign
