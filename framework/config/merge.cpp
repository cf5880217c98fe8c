#include "framework/config/merge.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <map>

#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/config/registry.hpp"
#include "framework/config/value.hpp"
#include "framework/config/writer.hpp"
#include "framework/config/yaml.hpp"

namespace softalign {
namespace {

Value from_shorthand(const Value& name, const Position& where) {
  Value block = Value::map(where);
  block.entries.push_back({"type", name.where, name});
  return block;
}

// Marks the options of a block before `over` sets its type: they were written for another type, or
// for the same, which the reader determines.
void mark_when_type_is_set(Value& base, const Value& over) {
  if (!over.find("type")) return;
  const Value::Entry* const before = base.find("type");
  for (Value::Entry& entry : base.entries)
    if (!entry.from_type) entry.from_type = before ? before->value.text : "";
}

// Lists the options of a block with the positions where they were written.
std::string options_of(const Value& block) {
  std::string text;
  for (const Value::Entry& entry : block.entries)
    if (entry.key != "type")
      text += fmt::format(
          "{}{} ({})", text.empty() ? "" : ", ", printable(entry.key), entry.where.file_and_line());
  return text;
}

// Returns whether a value removes a block without replacing it.
bool removes(const Value& over) {
  return over.is_null() || (over.is_scalar() && over.text == "none");
}

}  // namespace

void merge(Value& base, Value over, const std::string& path, std::vector<std::string>& notes) {
  if (over.is_map() && base.is_scalar() && !over.find("type"))
    base = from_shorthand(base, over.where);
  if (!over.is_map() || !base.is_map()) {
    if (const std::string left = options_of(base); !left.empty() && !removes(over))
      notes.push_back(fmt::format(
          "{}: {} has the defaults of {}; not taken over from the block it replaces: {}",
          over.where.str(),
          printable(path),
          over.describe(),
          left));
    base = std::move(over);
    return;
  }
  mark_when_type_is_set(base, over);
  for (Value::Entry& entry : over.entries) {
    Value::Entry* const old = base.find(entry.key);
    if (!old) {
      base.entries.push_back(std::move(entry));
      continue;
    }
    merge(old->value,
          std::move(entry.value),
          path.empty() ? entry.key : path + "." + entry.key,
          notes);
    old->where = entry.where;
    old->from_type.reset();
  }
}

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
  if (equals == std::string_view::npos && change.path.ends_with(".yaml"))
    throw SpecError("{}: is a second spec; this takes one", where.str());
  parts(change.path, where);  // only as a check
  if (change.remove) {
    if (equals != std::string_view::npos)
      throw SpecError("{}: a removal has no value; write ~{}", where.str(), printable(change.path));
    return change;
  }
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
  // Detects two overrides of one path, of which the last would win silently.
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
