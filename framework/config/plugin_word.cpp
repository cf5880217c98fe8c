#include "framework/config/plugin_word.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/base/text.hpp"
#include "framework/config/reader.hpp"
#include "framework/config/registry.hpp"
#include "framework/config/writer.hpp"

namespace softalign {
namespace {

// "_13a"; nothing for an option that has its default or no word.
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

// Takes an option's word from the beginning of `rest`; empty where it does not begin so.
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
