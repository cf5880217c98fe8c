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

}  // namespace softalign
