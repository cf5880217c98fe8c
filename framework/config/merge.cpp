#include "framework/config/merge.hpp"

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
std::string dropped_with(const Value& block) {
  std::string text;
  for (const Value::Entry& entry : block.entries)
    if (entry.key != "type")
      text += fmt::format("{}{} ({})",
                          text.empty() ? "; dropped " : ", ",
                          printable(entry.key),
                          entry.where.file_and_line());
  return text;
}

}  // namespace

void merge(Value& base, Value over, const std::string& path, std::vector<std::string>& notes) {
  if (over.is_map() && base.is_scalar() && !over.find("type"))
    base = from_shorthand(base, over.where);
  if (!over.is_map() || !base.is_map()) {
    if (base.is_map() && !base.entries.empty() && !over.is_null())
      notes.push_back(fmt::format("{}: replaces the whole block {} of {}{}",
                                  over.where.str(),
                                  printable(path),
                                  base.where.str(),
                                  dropped_with(base)));
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

}  // namespace softalign
