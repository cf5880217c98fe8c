#include "framework/config/fields.hpp"

#include <algorithm>

#include "framework/base/text.hpp"
#include "framework/config/value.hpp"
#include "framework/config/yaml.hpp"

namespace softalign {

Fields::Fields(const Value& map, std::string what) : map_(map), what_(std::move(what)) {
  entries_of(map, what_);
}

const Value* Fields::find(std::string_view key) {
  legal_.emplace_back(key);
  const Value::Entry* const entry = map_.find(key);
  if (!entry) return nullptr;
  if (entry->value.is_null())
    throw SpecError("{}: '{}' has no value; give one or remove the key", entry->where.str(), key);
  return &entry->value;
}

const Value& Fields::get(std::string_view key) {
  const Value* const value = find(key);
  if (!value) throw SpecError("{}: missing '{}' in {}", map_.where.str(), key, what_);
  return *value;
}

std::string Fields::text(std::string_view key, std::string_view otherwise) {
  const Value* const value = find(key);
  return value ? text_of(*value, std::string(key)) : std::string(otherwise);
}

void Fields::finish() const {
  for (const Value::Entry& entry : map_.entries)
    if (std::find(legal_.begin(), legal_.end(), entry.key) == legal_.end())
      throw SpecError("{}: unknown key '{}'{} in {}{}",
                      entry.where.str(),
                      printable(entry.key),
                      slip_in(entry.key),
                      what_,
                      suggestion(entry.key, legal_));
}

bool can_name_folder(const std::string& name) {
  const auto legal = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= 100 && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), legal);
}

std::string legal_name(const std::string& name, const Position& where) {
  if (!can_name_folder(name))
    throw SpecError("{}: '{}' cannot name a folder; use at most 100 letters, digits and . _ -",
                    where.str(),
                    printable(name));
  return name;
}

namespace {

// Adds the position and the name of the value to a fault.
template <class Read>
auto read_scalar(const Value& value, std::string_view what, const Read& read) {
  try {
    return read();
  } catch (const ScalarFault& fault) {
    throw SpecError("{}: {}: {}", value.where.str(), what, fault.what());
  }
}

}  // namespace

Index integer_of(const Value& value, std::string_view what, const Limits& limits) {
  return read_scalar(value, what, [&] { return to_integer(value, limits); });
}

double number_of(const Value& value, std::string_view what) {
  return read_scalar(value, what, [&] { return to_number(value); });
}

std::string text_of(const Value& value, std::string_view what) {
  return read_scalar(value, what, [&] { return to_text(value); });
}

const std::vector<Value>& items_of(const Value& value, std::string_view what) {
  if (!value.is_list())
    throw SpecError("{}: {} must be a list, not {}", value.where.str(), what, value.describe());
  return value.items;
}

const std::vector<Value::Entry>& entries_of(const Value& value, std::string_view what) {
  if (!value.is_map())
    throw SpecError("{}: {} must be a map, not {}", value.where.str(), what, value.describe());
  return value.entries;
}

}  // namespace softalign
