#include "framework/config/merge.hpp"

#include <fmt/ranges.h>
#include <algorithm>

#include "framework/config/registry.hpp"
#include "framework/config/writer.hpp"

namespace softalign {
namespace {

Value from_shorthand(const Value& name, const Position& where) {
  Value block = Value::map(where);
  block.entries.push_back({"type", name.where, name});
  return block;
}

// Before `over` sets the type of the block: its options so far were written for another one, or for
// the same, which the reader sees.
void mark_when_type_is_set(Value& base, const Value& over) {
  if (!over.find("type")) return;
  const Value::Entry* const before = base.find("type");
  for (Value::Entry& entry : base.entries)
    if (!entry.from_type) entry.from_type = before ? before->value.text : "";
}

// The options that go with a block, and where they were written.
std::string options_of(const Value& block) {
  std::string text;
  for (const Value::Entry& entry : block.entries)
    if (entry.key != "type")
      text += fmt::format(
          "{}{} ({})", text.empty() ? "" : ", ", printable(entry.key), entry.where.file_and_line());
  return text;
}

// Whether a value takes a block away and puts nothing in its place.
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

}  // namespace softalign
