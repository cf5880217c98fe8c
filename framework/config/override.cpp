#include "framework/config/override.hpp"

#include <algorithm>
#include <map>

#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/config/merge.hpp"
#include "framework/config/value.hpp"
#include "framework/config/yaml.hpp"

namespace softalign {
namespace {

std::vector<std::string> parts(const std::string& path, const Position& where) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t dot = std::min(path.find('.', at), path.size());
    names.push_back(path.substr(at, dot - at));
    at = dot + 1;
  }
  const auto bad = [](const std::string& name) {
    return name.empty() || name.find_first_not_of(
                               "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != std::string::npos;
  };
  if (std::any_of(names.begin(), names.end(), bad))
    throw SpecError("{}: '{}' is no option's path; write it as model.encoder.units=64",
                    where.str(),
                    printable(path));
  if (names.size() > usize(kDeepestYaml))
    throw SpecError("{}: nested deeper than {}; no option is", where.str(), kDeepestYaml);
  return names;
}

void remove(Value& root, const Override& change) {
  Value* block = &root;
  const std::vector<std::string> names = parts(change.path, change.where);
  for (std::size_t i = 0; i < names.size(); ++i) {
    Value::Entry* const entry = block->find(names[i]);
    if (!entry)
      throw SpecError("{}: there is no {} to remove: no '{}' is set there{}",
                      change.where.str(),
                      printable(change.path),
                      printable(names[i]),
                      suggestion(names[i], block->keys()));
    if (i + 1 == names.size())
      block->entries.erase(block->entries.begin() + (entry - block->entries.data()));
    else
      block = &entry->value;
  }
}

}  // namespace

Override parse_override(std::string_view text, const Position& where) {
  Override change;
  change.where = where;
  change.remove = text.starts_with('~');
  if (change.remove) text.remove_prefix(1);
  const std::size_t equals = text.find('=');
  change.path = std::string(trimmed(text.substr(0, equals)));
  parts(change.path, where);  // only to check
  if (change.remove) {
    if (equals != std::string_view::npos)
      throw SpecError("{}: a removal has no value; write ~{}", where.str(), printable(change.path));
    return change;
  }
  if (equals == std::string_view::npos && change.path.ends_with(".yaml"))
    throw SpecError("{}: is a spec; name it before what changes it", where.str());
  if (equals == std::string_view::npos)
    throw SpecError("{}: no '='; write {}=VALUE to set it, ~{} to remove it",
                    where.str(),
                    printable(change.path),
                    printable(change.path));
  change.value = parse_flow(text.substr(equals + 1), where);
  return change;
}

Override numbered_override(std::string_view text, int n) {
  return parse_override(text, {fmt::format("override {} ('{}')", n, printable(text, 80))});
}

std::vector<Override> numbered_overrides(const std::vector<std::string>& texts) {
  std::vector<Override> changes;
  for (const std::string& text : texts)
    changes.push_back(numbered_override(text, static_cast<int>(changes.size()) + 1));
  // Of two for one path the last would win without a word.
  std::map<std::string_view, const Override*> by_path;
  for (const Override& change : changes)
    if (const auto [first, is_new] = by_path.emplace(change.path, &change); !is_new)
      throw SpecError("{}: {} is changed by {} already; leave one of them out",
                      change.where.str(),
                      printable(change.path),
                      first->second->where.str());
  return changes;
}

void apply(Value& root, const Override& change, std::vector<std::string>& notes) {
  if (change.remove) return remove(root, change);
  const std::vector<std::string> names = parts(change.path, change.where);
  Value over = change.value;
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    Value block = Value::map(change.where);
    block.entries.push_back({*name, change.where, std::move(over)});
    over = std::move(block);
  }
  merge(root, std::move(over), "", notes);
}

}  // namespace softalign
